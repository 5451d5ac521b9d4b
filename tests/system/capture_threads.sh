# Several threads of a process call MPI at the same time.
source "$SIMREPLAY_TESTS/support/capture.sh"

"$MPIRUN" -np 2 "$programs/threads" | sort >bare.txt
"$simcapture" -o trace.h5 -- "$MPIRUN" -np 2 "$programs/threads" 2>messages.txt | sort >recorded.txt
diff bare.txt recorded.txt || fail "recording changes the results"
expect_text messages.txt "12,0"  # 2 processes, 4 threads, 500 messages, 3 calls each; Init, Finalize and others
