# Functions that declare tests. Every test carries labels and a TIMEOUT, and says with PROCESSORS how
# many processors it takes, so that `ctest -j` does not start more ranks than the computer can carry.
#
#   add_unit_test(NAME n SOURCES s... [LIBRARIES l...] [LABELS l...] [TIMEOUT s])
#   add_mpi_test(NAME n PROGRAM target [RANKS r...] [ARGS a...] [LABELS l...] [TIMEOUT s])
#   add_system_test(NAME n SCRIPT file.sh|file.py [ARGS a...] [LABELS l...] [TIMEOUT s] [PROCESSORS p])

include_guard(GLOBAL)
find_package(Python3 COMPONENTS Interpreter)

# Open MPI: run as root in containers, with more ranks than processors, unbound, yielding when idle;
# no direct copies between processes, which containers forbid (and so no windows made of them). Other MPI
# libraries ignore these.
set(mpi_environment
  OMPI_ALLOW_RUN_AS_ROOT=1
  OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  OMPI_MCA_rmaps_base_oversubscribe=1
  OMPI_MCA_hwloc_base_binding_policy=none
  OMPI_MCA_mpi_yield_when_idle=1
  OMPI_MCA_btl_vader_single_copy_mechanism=none
  OMPI_MCA_osc=^rdma)

# mpirun ends a hanging job itself a little before CTest's TIMEOUT, so that no rank is left behind.
function(test_environment out timeout)
  math(EXPR mpi_timeout "${timeout} * 9 / 10")
  set(${out} ${mpi_environment} MPIEXEC_TIMEOUT=${mpi_timeout} PARENT_SCOPE)
endfunction()

# A serial Catch2 program that is one test.
function(add_unit_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;TIMEOUT" "SOURCES;LIBRARIES;LABELS")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  add_executable(${arg_NAME} ${arg_SOURCES})
  target_link_libraries(${arg_NAME} PRIVATE simreplay_catch_main ${arg_LIBRARIES} simreplay_warnings)
  set_target_properties(${arg_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin/tests")
  add_test(NAME ${arg_NAME} COMMAND ${arg_NAME})
  set_tests_properties(${arg_NAME} PROPERTIES LABELS "unit;${arg_LABELS}" TIMEOUT ${arg_TIMEOUT})
endfunction()

# A Catch2 program whose test cases are entered by all ranks together; add_mpi_test() runs it.
function(add_mpi_test_program)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "SOURCES;LIBRARIES")
  add_executable(${arg_NAME} ${arg_SOURCES})
  target_link_libraries(${arg_NAME} PRIVATE simreplay_catch_mpi_main ${arg_LIBRARIES} simreplay_warnings)
  set_target_properties(${arg_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin/tests")
endfunction()

# One test per number of ranks: name.np1, name.np2, ...
function(add_mpi_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;PROGRAM;TIMEOUT" "RANKS;ARGS;LABELS")
  if(NOT arg_RANKS)
    set(arg_RANKS 1 2 4)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  test_environment(environment ${arg_TIMEOUT})
  foreach(ranks IN LISTS arg_RANKS)
    set(test ${arg_NAME}.np${ranks})
    add_test(NAME ${test}
      COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${MPIEXEC_PREFLAGS}
              $<TARGET_FILE:${arg_PROGRAM}> ${MPIEXEC_POSTFLAGS} ${arg_ARGS})
    set_tests_properties(${test} PROPERTIES
      LABELS "mpi;size${ranks};${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} PROCESSORS ${ranks}
      ENVIRONMENT "${environment}")
  endforeach()
endfunction()

# A bash or Python script that runs in an empty folder of its own and finds in its environment
#   SIMREPLAY_BIN, SIMREPLAY_LIB   programs and libraries of this build
#   SIMREPLAY_PROGRAMS             bundled MPI programs to record
#   SIMREPLAY_TESTS                the source folder tests/ (golden files)
#   MPIRUN, PYTHON                 launcher and interpreter
# Exit status 77 means skipped.
function(add_system_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;SCRIPT;TIMEOUT;PROCESSORS" "ARGS;LABELS")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(NOT arg_PROCESSORS)
    set(arg_PROCESSORS 4)
  endif()
  get_filename_component(script "${arg_SCRIPT}" ABSOLUTE)
  if(script MATCHES "\\.py$")
    if(NOT Python3_Interpreter_FOUND)
      message(STATUS "Test ${arg_NAME} left out: no Python 3 found")
      return()
    endif()
    set(interpreter "${Python3_EXECUTABLE}")
  else()
    set(interpreter bash)
  endif()
  test_environment(environment ${arg_TIMEOUT})
  add_test(NAME ${arg_NAME}
    COMMAND bash -c [[rm -rf -- "$0" && mkdir -p -- "$0" && cd -- "$0" && exec "$@"]]
            "${PROJECT_BINARY_DIR}/scratch/${arg_NAME}" "${interpreter}" "${script}" ${arg_ARGS})
  set_tests_properties(${arg_NAME} PROPERTIES
    LABELS "system;${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} PROCESSORS ${arg_PROCESSORS} SKIP_RETURN_CODE 77
    ENVIRONMENT "${environment};SIMREPLAY_BIN=${PROJECT_BINARY_DIR}/bin;SIMREPLAY_LIB=${PROJECT_BINARY_DIR}/lib;\
SIMREPLAY_PROGRAMS=${PROJECT_BINARY_DIR}/bin/programs;SIMREPLAY_TESTS=${PROJECT_SOURCE_DIR}/tests;\
MPIRUN=${MPIEXEC_EXECUTABLE};PYTHON=${Python3_EXECUTABLE}")
endfunction()

# An MPI program to be recorded, in bin/programs: plain MPI in C or C++, without our libraries.
function(add_recorded_program source)
  get_filename_component(name "${source}" NAME_WE)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE MPI::MPI_C simreplay_warnings)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin/programs")
endfunction()
