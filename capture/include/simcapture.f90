! Regions, counters and timers of a program, for the recorder of simreplay (docs/metrics.md): what simcapture.h
! is for C. Compile it with the program:
!
!   mpifort -c simcapture.f90 && mpifort app.f90 simcapture.o -o app
!
! (-ldl too, where the C library is glibc before 2.34.) Trailing blanks of names do not count.
module simcapture
  use, intrinsic :: iso_c_binding, only : c_int, c_int32_t, c_int64_t, c_char, c_ptr, c_funptr, c_null_ptr, c_null_char, &
                                          c_associated, c_f_procpointer
  implicit none
  private

  ! By name.
  public :: simcapture_region_begin, simcapture_region_end
  public :: simcapture_counter_set, simcapture_counter_add, simcapture_counter_sub
  public :: simcapture_timer_start, simcapture_timer_stop, simcapture_timer_while
  ! By handle, which is -1 where the program is not recorded.
  public :: simcapture_region, simcapture_counter, simcapture_timer
  public :: simcapture_begin, simcapture_end
  public :: simcapture_set, simcapture_add, simcapture_sub
  public :: simcapture_start, simcapture_stop, simcapture_while

  ! Values have 4 or 8 bytes.
  interface simcapture_counter_set
    module procedure counter_set, counter_set_long
  end interface
  interface simcapture_counter_add
    module procedure counter_add, counter_add_long
  end interface
  interface simcapture_counter_sub
    module procedure counter_sub, counter_sub_long
  end interface
  interface simcapture_set
    module procedure set, set_long
  end interface
  interface simcapture_add
    module procedure add, add_long
  end interface
  interface simcapture_sub
    module procedure sub, sub_long
  end interface

  ! As in simcapture.h.
  enum, bind(c)
    enumerator :: a_region, a_counter, a_timer
  end enum
  enum, bind(c)
    enumerator :: region_begins, region_ends, counter_is, counter_grows, timer_starts, timer_stops, timer_runs_while
  end enum

  abstract interface
    integer(c_int) function metric_function(kind, name) bind(c)
      import :: c_int, c_char
      integer(c_int), value :: kind
      character(kind=c_char), intent(in) :: name(*)
    end function
    subroutine mark_function(what, metric, amount) bind(c)
      import :: c_int, c_int64_t
      integer(c_int), value :: what, metric
      integer(c_int64_t), value :: amount
    end subroutine
  end interface

  interface
    type(c_funptr) function look_up(everywhere, name) bind(c, name='dlsym')
      import :: c_funptr, c_ptr, c_char
      type(c_ptr), value :: everywhere
      character(kind=c_char), intent(in) :: name(*)
    end function
  end interface

  logical, save :: is_sought = .false.
  procedure(metric_function), pointer, save :: metric_of => null()
  procedure(mark_function), pointer, save :: mark => null()

contains

  ! The recorder's functions, if the program is recorded.
  subroutine seek
    type(c_funptr) :: to_metric, to_mark
    to_metric = look_up(c_null_ptr, 'simcapture_metric_' // c_null_char)
    to_mark = look_up(c_null_ptr, 'simcapture_mark_' // c_null_char)
    if (c_associated(to_metric) .and. c_associated(to_mark)) then
      call c_f_procpointer(to_metric, metric_of)
      call c_f_procpointer(to_mark, mark)
    end if
    is_sought = .true.
  end subroutine

  integer function find(kind, name)
    integer(c_int), intent(in) :: kind
    character(len=*), intent(in) :: name
    if (.not. is_sought) call seek
    find = -1
    if (associated(metric_of)) find = int(metric_of(kind, trim(name) // c_null_char))
  end function

  subroutine say(what, metric, amount)
    integer(c_int), intent(in) :: what
    integer, intent(in) :: metric
    integer(c_int64_t), intent(in) :: amount
    if (.not. is_sought) call seek
    if (associated(mark)) call mark(what, int(metric, c_int), amount)
  end subroutine

  ! ---- handles ----

  integer function simcapture_region(name)
    character(len=*), intent(in) :: name
    simcapture_region = find(a_region, name)
  end function

  integer function simcapture_counter(name)
    character(len=*), intent(in) :: name
    simcapture_counter = find(a_counter, name)
  end function

  integer function simcapture_timer(name)
    character(len=*), intent(in) :: name
    simcapture_timer = find(a_timer, name)
  end function

  ! ---- regions ----

  subroutine simcapture_begin(region)
    integer, intent(in) :: region
    call say(region_begins, region, 0_c_int64_t)
  end subroutine

  subroutine simcapture_end(region)
    integer, intent(in) :: region
    call say(region_ends, region, 0_c_int64_t)
  end subroutine

  subroutine simcapture_region_begin(name)
    character(len=*), intent(in) :: name
    call simcapture_begin(find(a_region, name))
  end subroutine

  subroutine simcapture_region_end(name)
    character(len=*), intent(in) :: name
    call simcapture_end(find(a_region, name))
  end subroutine

  ! ---- counters ----

  subroutine set_long(counter, amount)
    integer, intent(in) :: counter
    integer(c_int64_t), intent(in) :: amount
    call say(counter_is, counter, amount)
  end subroutine

  subroutine add_long(counter, amount)
    integer, intent(in) :: counter
    integer(c_int64_t), intent(in) :: amount
    call say(counter_grows, counter, amount)
  end subroutine

  subroutine sub_long(counter, amount)
    integer, intent(in) :: counter
    integer(c_int64_t), intent(in) :: amount
    call say(counter_grows, counter, -amount)
  end subroutine

  subroutine set(counter, amount)
    integer, intent(in) :: counter
    integer(c_int32_t), intent(in) :: amount
    call set_long(counter, int(amount, c_int64_t))
  end subroutine

  subroutine add(counter, amount)
    integer, intent(in) :: counter
    integer(c_int32_t), intent(in) :: amount
    call add_long(counter, int(amount, c_int64_t))
  end subroutine

  subroutine sub(counter, amount)
    integer, intent(in) :: counter
    integer(c_int32_t), intent(in) :: amount
    call sub_long(counter, int(amount, c_int64_t))
  end subroutine

  subroutine counter_set_long(name, amount)
    character(len=*), intent(in) :: name
    integer(c_int64_t), intent(in) :: amount
    call set_long(find(a_counter, name), amount)
  end subroutine

  subroutine counter_add_long(name, amount)
    character(len=*), intent(in) :: name
    integer(c_int64_t), intent(in) :: amount
    call add_long(find(a_counter, name), amount)
  end subroutine

  subroutine counter_sub_long(name, amount)
    character(len=*), intent(in) :: name
    integer(c_int64_t), intent(in) :: amount
    call sub_long(find(a_counter, name), amount)
  end subroutine

  subroutine counter_set(name, amount)
    character(len=*), intent(in) :: name
    integer(c_int32_t), intent(in) :: amount
    call counter_set_long(name, int(amount, c_int64_t))
  end subroutine

  subroutine counter_add(name, amount)
    character(len=*), intent(in) :: name
    integer(c_int32_t), intent(in) :: amount
    call counter_add_long(name, int(amount, c_int64_t))
  end subroutine

  subroutine counter_sub(name, amount)
    character(len=*), intent(in) :: name
    integer(c_int32_t), intent(in) :: amount
    call counter_sub_long(name, int(amount, c_int64_t))
  end subroutine

  ! ---- timers ----

  subroutine simcapture_start(timer)
    integer, intent(in) :: timer
    call say(timer_starts, timer, 0_c_int64_t)
  end subroutine

  subroutine simcapture_stop(timer)
    integer, intent(in) :: timer
    call say(timer_stops, timer, 0_c_int64_t)
  end subroutine

  subroutine simcapture_timer_start(name)
    character(len=*), intent(in) :: name
    call simcapture_start(find(a_timer, name))
  end subroutine

  subroutine simcapture_timer_stop(name)
    character(len=*), intent(in) :: name
    call simcapture_stop(find(a_timer, name))
  end subroutine

  subroutine simcapture_while(timer, counter)
    integer, intent(in) :: timer, counter
    call say(timer_runs_while, timer, int(counter, c_int64_t))
  end subroutine

  subroutine simcapture_timer_while(timer, counter)
    character(len=*), intent(in) :: timer, counter
    integer :: of_timer
    of_timer = find(a_timer, timer)
    call simcapture_while(of_timer, find(a_counter, counter))
  end subroutine

end module
