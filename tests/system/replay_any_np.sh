#!/usr/bin/env bash
# The same prediction to the last bit for any number of ranks: predicted times, predicted trace, every
# pattern, with more ranks than processes too.
set -euo pipefail
PATH=$SIMREPLAY_BIN:$PATH

machine=(--cpu.speedup 1.7 --send.prolog 0.4us --send.per-byte 11GB/s --send.epilog 30ns --receive.prolog 70ns
         --receive.per-byte 0.013ns/B --receive.epilog 0.11us --barrier.overhead 1.3us --network.latency 0.9us)
replay() { # ranks trace
  "$MPIRUN" -np "$1" simreplay "$2" "${machine[@]}" --output "$2.$1.h5" --json "$2.$1.json" >"$2.$1.txt" </dev/null
}
without_speed() { grep -vE '"(ranks|replay_seconds|calls_per_second)"' "$1"; }

while read -r pattern processes steps; do
  trace=$pattern.h5
  simtrace generate "$pattern" --processes "$processes" --steps "$steps" --bytes 3000 --seed 7 -o "$trace"
  replay 1 "$trace"
  for ranks in 2 3 4; do
    replay "$ranks" "$trace"
    cmp "$trace.1.h5" "$trace.$ranks.h5"
    diff <(without_speed "$trace.1.json") <(without_speed "$trace.$ranks.json")
  done
done <<'PATTERNS'
pingpong 2 50
ring 13 20
halo2d 12 10
halo3d 27 10
halo3d-allreduce 12 10
molecular 18 20
alltoall 9 5
allreduce 11 10
master-worker 6 20
random 10 30
PATTERNS

# A prediction replayed on the same machine at speed 1 is a prediction of itself.
again=("${machine[@]}")
again[1]=1
"$MPIRUN" -np 2 simreplay halo3d.h5.1.h5 "${again[@]}" --json again.json >/dev/null
diff <(grep '"predicted_ps"' halo3d.h5.1.json) <(grep '"predicted_ps"' again.json)
diff <(grep '"predicted_ps"' again.json | sed 's/predicted/recorded/') <(grep -m1 '"recorded_ps"' again.json)
simtrace verify halo3d.h5.1.h5
echo "same bits for 1, 2, 3 and 4 ranks"
