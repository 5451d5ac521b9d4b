# Parts of a program: a span of time, chosen processes, what MPI_Pcontrol says, up to a size. Every trace verifies
# (save what a cut trace lacks) and replays with the same prediction on 1 and 2 ranks.
source "$SIMREPLAY_TESTS/support/capture.sh"

# record NAME OPTIONS... -- COMMAND...: the trace is NAME.h5, the messages are in NAME.txt.
record() {
  local name=$1
  shift
  "$simcapture" -o "$name.h5" "$@" >"$name.out" 2>"$name.txt" || fail "$name: $(cat "$name.txt")"
}
predict() {
  local n
  for n in 1 2; do
    "$MPIRUN" -np "$n" "$simreplay" "$1.h5" --machine gigabit-ethernet --json "$1.$n.json" --force >"$1.replay" ||
      fail "$1 does not replay: $(cat "$1.replay")"
  done
  diff <(grep -v -e seconds -e ranks "$1.1.json") <(grep -v -e seconds -e ranks "$1.2.json") | grep '_ps' &&
    fail "$1: the prediction depends on the number of ranks"
  return 0
}
heat2d=("$MPIRUN" -np 4 "$programs/heat2d" --size 200 --steps 4000)

# The messages that are under way when recording begins have one end only; the trace says which.
record from --from 100ms -- "${heat2d[@]}"
expect_status 0 "$simtrace" verify from.h5
predict from

record span --from 50ms --for 50ms -- "${heat2d[@]}"
expect_text span.txt "did not reach the end of MPI_Finalize"
expect_status 1 "$simtrace" verify span.h5
[ "$(grep -c "" err)" -eq 5 ] || fail "more than the four missing ends: $(cat err)"
predict span
expect_text span.replay "up to their last common point"

record chosen --processes 0-1,3 -- "${heat2d[@]}"
expect_status 0 "$simtrace" verify chosen.h5
predict chosen

record small --size 300KiB -- "${heat2d[@]}"
expect_text small.txt "has reached the size that was allowed; recording stops here"
predict small

"$dump" chosen.h5 >chosen.dump
expect_text chosen.dump "process 2, left out"

record controlled --paused -- "$MPIRUN" -np 2 "$programs/pcontrol"
expect_status 0 "$simtrace" verify controlled.h5
predict controlled
"$dump" controlled.h5 >controlled.dump
diff "$SIMREPLAY_TESTS/golden/capture_pcontrol.txt" controlled.dump || fail "MPI_Pcontrol does not choose what is recorded"

expect_status 1 "$simcapture" --processes x -o none.h5 -- true
expect_text err "expected --processes as 0-3,7, found 'x'"
expect_status 1 "$simcapture" --from yesterday -o none.h5 -- true
