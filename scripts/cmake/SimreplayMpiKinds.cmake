# Kinds of MPI libraries, by their binary interface: `openmpi`, or `mpich` with what is derived from it.
#
# The simulator is built with one MPI. Programs that use another kind are recorded too, where that one's
# compiler is found: the recorder is built once more, against its mpi.h.
#
#   mpi_kind                   of the MPI that the simulator is built with
#   second_mpi_kind            empty if there is none
#   second_mpi_include_dirs

include_guard(GLOBAL)

function(kind_of_mpi out)  # include directories...
  list(TRANSFORM ARGN PREPEND "-I" OUTPUT_VARIABLE flags)
  execute_process(COMMAND "${CMAKE_C_COMPILER}" ${flags} -E -dM -include mpi.h -x c /dev/null
                  OUTPUT_VARIABLE macros ERROR_VARIABLE error RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    set(${out} "" PARENT_SCOPE)
  elseif(macros MATCHES "#define OPEN_MPI ")
    set(${out} openmpi PARENT_SCOPE)
  else()
    set(${out} mpich PARENT_SCOPE)
  endif()
endfunction()

# From the command line that an MPI compiler says it would use.
function(include_dirs_of_mpi_compiler out compiler)
  execute_process(COMMAND "${compiler}" -show OUTPUT_VARIABLE command ERROR_QUIET)
  string(REPLACE "\"" "" command "${command}")
  string(REGEX MATCHALL "-I[^ \n]+" flags "${command}")
  list(TRANSFORM flags REPLACE "^-I" "")
  list(REMOVE_DUPLICATES flags)
  set(${out} "${flags}" PARENT_SCOPE)
endfunction()

kind_of_mpi(mpi_kind ${MPI_C_INCLUDE_DIRS})
set(usual_compiler_of_other_openmpi mpicc.mpich)  # as Debian and Ubuntu call them
set(usual_compiler_of_other_mpich mpicc.openmpi)
find_program(SIMREPLAY_SECOND_MPI_COMPILER NAMES ${usual_compiler_of_other_${mpi_kind}}
             DOC "C compiler of another MPI library whose programs are to be recorded too; OFF for none")

set(second_mpi_kind "")
if(SIMREPLAY_SECOND_MPI_COMPILER)
  include_dirs_of_mpi_compiler(second_mpi_include_dirs "${SIMREPLAY_SECOND_MPI_COMPILER}")
  kind_of_mpi(second_mpi_kind ${second_mpi_include_dirs})
  if(second_mpi_kind STREQUAL "")
    message(WARNING "${SIMREPLAY_SECOND_MPI_COMPILER} finds no mpi.h; its programs cannot be recorded")
  elseif(second_mpi_kind STREQUAL mpi_kind)
    set(second_mpi_kind "")  # one recorder does for both
  else()
    message(STATUS "Recording programs of ${mpi_kind} and, by ${SIMREPLAY_SECOND_MPI_COMPILER}, ${second_mpi_kind}")
  endif()
endif()
