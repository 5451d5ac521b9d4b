# Killed at any moment: every trace packs, verifies as cut short and nothing worse, and replays.
#
#   capture_kills.sh [TIMES]
source "$SIMREPLAY_TESTS/support/capture.sh"
times=${1:-8}

RANDOM=20
for ((i = 1; i <= times; i++)); do
  "$simcapture" -o "t$i.h5" -- "$MPIRUN" -np 3 "$programs/heat2d" --size 100 --steps 1000000 >/dev/null 2>messages.txt &
  capture=$!
  until victims=($(pgrep -f "^$programs/heat2d --size 100" || true)) && [ "${#victims[@]}" -eq 3 ]; do sleep 0.01; done
  sleep "0.$((RANDOM % 900 + 100))"
  case $((i % 3)) in
    0) kill -KILL "${victims[@]}" ;;
    *) kill -KILL "${victims[RANDOM % 3]}" ;;
  esac 2>/dev/null
  wait $capture && fail "run $i: killed, but status 0"
  [ -f "t$i.h5" ] || { grep -q "no MPI call" messages.txt && continue || fail "run $i: no trace: $(cat messages.txt)"; }
  expect_status 1 "$simtrace" verify "t$i.h5"
  grep -v -e "expected MPI_Finalize, found the end of the trace" -e "faults" err >worse.txt &&
    fail "run $i: $(head -5 worse.txt)"
  "$MPIRUN" -np 2 "$simreplay" "t$i.h5" >replay.txt 2>&1 || fail "run $i does not replay: $(cat replay.txt)"
  grep -qF "up to their last common point" replay.txt || fail "run $i: not marked: $(cat replay.txt)"
done
