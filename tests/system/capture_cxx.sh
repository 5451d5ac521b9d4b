# The C++ bindings that MPI 3 removed, where the library still has them.
#
#   capture_cxx.sh [COMPILER]          see use_mpi
source "$SIMREPLAY_TESTS/support/capture.sh"
use_mpi "$@"
skip_unless "$mpicxx"
if ! "$mpicxx" -DOMPI_WANT_MPI_CPP_BINDINGS -w "$SIMREPLAY_TESTS/programs/cxx_bindings.cpp" -o cxx_bindings; then
  echo "this MPI has no C++ bindings"
  exit 77
fi
expect_golden cxx_bindings "$launcher" -n 4 ./cxx_bindings
