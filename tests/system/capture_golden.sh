# A bundled program prints the same when it is recorded, and its trace says what it did.
#
#   capture_golden.sh PROGRAM PROCESSES [ARGUMENT...]
#
# To renew a golden file after a change that is meant: copy trace.txt from the test's folder.
source "$SIMREPLAY_TESTS/support/capture.sh"
program=$1 processes=$2
shift 2

expect_golden "$program" "$MPIRUN" -np "$processes" "$programs/$program" "$@"
expect_text messages.txt "simcapture: trace.h5: $processes processes"
