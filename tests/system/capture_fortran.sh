# The three Fortran bindings: all calls are seen, MPI_IN_PLACE, MPI_BOTTOM and index lists stay what they are.
#
#   capture_fortran.sh [COMPILER]      see use_mpi
source "$SIMREPLAY_TESTS/support/capture.sh"
use_mpi "$@"
skip_unless "$mpifort"
if ! echo end | "$mpifort" -x f95 -fsyntax-only - 2>/dev/null; then
  echo "no Fortran compiler for MPI"
  exit 77
fi

# $1: what stands before IMPLICIT NONE, $2: and after it
write_program() {
  cat <<F90
program fortran
  $1
  implicit none
  $2
  integer :: rank, other, error, outcount, indices(3), values(3), total, i, in
  integer(kind=MPI_ADDRESS_KIND) :: address
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  other = 1 - rank
  total = rank + 1
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  print *, 'rank', rank, 'total', total
  do i = 1, 3
    call MPI_Irecv(values(i), 1, MPI_INTEGER, other, i, MPI_COMM_WORLD, requests(i), error)
  end do
  call MPI_Send(rank, 1, MPI_INTEGER, other, 2, MPI_COMM_WORLD, error)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_Waitsome(3, requests, outcount, indices, MPI_STATUSES_IGNORE, error)
  print *, 'rank', rank, 'completed', outcount, indices(1)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_Get_address(total, address, error)
  call MPI_Type_create_hindexed(1, (/ 1 /), (/ address /), MPI_INTEGER, absolute, error)
  call MPI_Type_commit(absolute, error)
  call MPI_Send(MPI_BOTTOM, 1, absolute, other, 1, MPI_COMM_WORLD, error)
  call MPI_Send(rank, 1, MPI_INTEGER, other, 3, MPI_COMM_WORLD, error)
  call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE, error)
  print *, 'rank', rank, 'values', values
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, other, 4, in, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  print *, 'rank', rank, 'got', in
  call MPI_Finalize(error)
end program
F90
}

integers="integer :: requests(3), absolute"
types="type(MPI_Request) :: requests(3); type(MPI_Datatype) :: absolute"
write_program "" "include 'mpif.h'
  $integers" >mpif.f90
write_program "use mpi" "$integers" >mpi.f90
write_program "use mpi_f08" "$types" >mpi_f08.f90

for binding in mpif mpi mpi_f08; do
  echo "== $binding"
  "$mpifort" "$binding.f90" -o "$binding"
  expect_golden fortran "$launcher" -n 2 "./$binding"
done
