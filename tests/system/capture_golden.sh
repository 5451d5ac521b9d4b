# A bundled program prints the same when it is recorded, and its trace says what it did.
#
#   capture_golden.sh PROGRAM PROCESSES [ARGUMENT...]
#
# To renew a golden file after a change that is meant: copy trace.txt from the test's folder.
source "$SIMREPLAY_TESTS/support/capture.sh"
program=$1 processes=$2
shift 2

"$MPIRUN" -np "$processes" "$programs/$program" "$@" | sort >bare.txt
"$simcapture" -o trace.h5 -- "$MPIRUN" -np "$processes" "$programs/$program" "$@" 2>messages.txt | sort >recorded.txt
diff bare.txt recorded.txt || fail "recording changes what $program prints"
expect_text messages.txt "simcapture: trace.h5: $processes processes"
expect_no_spools

"$simtrace" verify trace.h5 >/dev/null
"$MPIRUN" -np 2 "$simreplay" trace.h5 >/dev/null
"$dump" trace.h5 >trace.txt
diff "$SIMREPLAY_TESTS/golden/capture_$program.txt" trace.txt || fail "the trace of $program is not as expected"
