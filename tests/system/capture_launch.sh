# simcapture as a launcher: exit status, standard streams, environment, outputs.
source "$SIMREPLAY_TESTS/support/capture.sh"

echo "== what cannot work is refused before anything runs"
touch old.h5
expect_status 1 "$simcapture" -o old.h5 -- touch ran
expect_text err "old.h5: exists already"
expect_status 1 "$simcapture" -o no/such/folder.h5 -- touch ran
expect_status 1 "$simcapture" -o new.h5 touch ran
expect_text err "must follow '--'"
expect_status 1 "$simcapture" -o new.h5 --
expect_status 1 "$simcapture" --nonsense -- touch ran
expect_status 1 env SIMCAPTURE_LIBRARY=missing.so "$simcapture" -o new.h5 -- touch ran
[ ! -e ran ] || fail "the command was run"
expect_status 1 "$simcapture" -o new.h5 -- no_such_program
expect_text err "no_such_program: cannot be started"
expect_no_spools

echo "== a program without MPI: said, and its status kept"
expect_status 1 "$simcapture" -o new.h5 -- true
expect_text err "no MPI call was seen"
expect_status 9 "$simcapture" -o new.h5 -- bash -c 'exit 9'
expect_status 143 "$simcapture" -o new.h5 -- bash -c 'kill -TERM $$'
[ ! -e new.h5 ] || fail "a trace of nothing"
expect_no_spools

echo "== standard streams and the exit status belong to the program"
expect_status 7 bash -c "echo input | '$simcapture' -o new.h5 -- '$MPIRUN' -np 2 bash -c 'cat; \"$programs/dies\" in-time'"
[ "$(cat out)" = input ] || fail "stdin or stdout changed: $(cat out)"
expect_status 0 "$simcapture" --force -o new.h5 -- "$MPIRUN" -np 2 "$programs/heat2d" --size 32 --steps 5
expect_text out "heat2d: 32 x 32 points on 2 x 1 processes, 5 steps"

echo "== libraries that are preloaded already stay, in either way"
other=$(ldd "$programs/heat2d" | awk '/libm\.so/ { print $3 }')
show='echo "$LD_PRELOAD"'
expect_status 0 env LD_PRELOAD="$other" "$simcapture" --force -o new.h5 -- \
  "$MPIRUN" -np 1 bash -c "$show; '$programs/heat2d' --size 8 --steps 1"
expect_text out "libsimcapture.so:$other"
expect_status 0 "$simcapture" --force -o new.h5 -- \
  "$MPIRUN" -x LD_PRELOAD="$other" -np 1 bash -c "$show; '$programs/heat2d' --size 8 --steps 1"
expect_text out "libsimcapture.so:$other"

echo "== several programs in one job, and several jobs in one command"
small=("$programs/heat2d" --size 8 --steps 1)
expect_status 0 "$simcapture" --force -o new.h5 -- "$MPIRUN" -np 1 "${small[@]}" : -np 2 "${small[@]}"
expect_text err "new.h5: 3 processes"
expect_status 0 "$simcapture" -o jobs.h5 -- \
  bash -c "'$MPIRUN' -np 2 '$programs/heat2d' --size 8 --steps 1 && '$MPIRUN' -np 3 '$programs/heat2d' --size 8 --steps 1"
expect_text err "2 MPI programs were run"
expect_text err "jobs.h5: 2 processes"
expect_text err "jobs.2.h5: 3 processes"

echo "== without a launcher"
expect_status 0 "$simcapture" --force -o new.h5 -- "${small[@]}"
expect_text err "new.h5: 1 process,"

echo "== spools on request, and where they cannot be written"
expect_status 0 "$simcapture" --force --keep-spool -o kept.h5 -- "$MPIRUN" -np 2 "${small[@]}"
[ "$(compgen -G 'kept.h5.spool-*/*.spool' | wc -l)" -eq 2 ] || fail "no spools kept"
rm -r kept.h5.spool-*
expect_status 1 "$simcapture" -o none.h5 -- env SIMCAPTURE_DIR=/no/such/folder "${small[@]}"
expect_text err "cannot make /no/such/folder"
expect_text out "residual"
expect_no_spools

echo "== a signal that ends simcapture ends the program, and what was recorded is packed"
"$simcapture" -o stopped.h5 -- "$MPIRUN" -np 2 "$programs/heat2d" --size 64 --steps 100000000 >out 2>err &
pid=$!
for ((i = 0; i < 100; i++)); do
  [ -s out ] && break
  sleep 0.1
done
sleep 0.5
kill -TERM "$pid"
status=0
wait "$pid" || status=$?
[ "$status" -ne 0 ] || fail "status 0 after SIGTERM"
expect_text err "stopped.h5: 2 processes"
expect_text err "did not reach the end of MPI_Finalize"
"$dump" stopped.h5 >stopped.txt
expect_text stopped.txt "MPI_Waitall request 0 1 2 3 4 5 6 7"
