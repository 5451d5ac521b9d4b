#!/usr/bin/env bash
# Networks in which messages disturb each other, and messages in the order of simulated time: the same
# prediction to the last bit for any number of ranks, of a real program too; what cannot be is refused.
set -euo pipefail
PATH=$SIMREPLAY_BIN:$PATH

software=(--send.prolog 0.4us --send.epilog 30ns --receive.prolog 70ns --receive.epilog 0.3us --network.eager-limit 4KiB)
replay() { # ranks trace options...
  "$MPIRUN" -np "$1" simreplay "$2" "${@:3}" --output "out.$1.h5" --json "out.$1.json" --force >"out.$1.txt" </dev/null
}
without_speed() { grep -vE '"(ranks|replay_seconds|calls_per_second)"' "$1"; }
same_bits() { # trace options...
  replay 1 "$@"
  for ranks in 2 3 4; do
    replay "$ranks" "$@"
    cmp out.1.h5 "out.$ranks.h5"
    diff <(without_speed out.1.json) <(without_speed "out.$ranks.json")
  done
}

simtrace generate alltoall --processes 12 --steps 2 --bytes 6000 -o alltoall.h5
simtrace generate molecular --processes 12 --steps 8 --bytes 3000 -o molecular.h5
simtrace generate random --processes 10 --steps 25 --bytes 3000 --seed 7 -o random.h5
simtrace generate master-worker --processes 6 --steps 10 --bytes 3000 -o workers.h5
if command -v lmp >/dev/null; then
  simcapture -o melt.h5 -- "$MPIRUN" -np 4 lmp -log none -in "$SIMREPLAY_TESTS/programs/melt.in" >/dev/null
else
  echo "LAMMPS is not installed: a generated trace takes its place"
  cp molecular.h5 melt.h5
fi

while read -r trace options; do
  echo "$trace $options"
  # shellcheck disable=SC2086
  same_bits "$trace.h5" "${software[@]}" $options
done <<'RUNS'
melt --network.model infiniband --infiniband.topology fat-tree:levels=2,leaves=2,spines=2,hosts=2 --infiniband.routing ftree
melt --network.model ethernet --ethernet.rate 1Gb/s
alltoall --network.model infiniband --infiniband.topology torus:3x2x2 --infiniband.routing lash
alltoall --network.model infiniband --infiniband.topology fat-tree:levels=2,leaves=3,spines=2,hosts=4 --infiniband.congestion-control on
alltoall --network.model infiniband --infiniband.topology mesh:2x2,hosts=2 --infiniband.routing dor --placement.scheme cyclic --placement.processes-per-node 2
alltoall --network.model shared-ethernet --shared-ethernet.start 20us --shared-ethernet.domains 3
alltoall --network.model ethernet
molecular --network.model infiniband --infiniband.topology dragonfly+:groups=3,leaves=2,spines=2,hosts=2,global=1 --infiniband.routing lash
molecular --network.model shared-ethernet --shared-ethernet.start 0us --shared-ethernet.per-byte 1Gb/s
random --network.model infiniband --infiniband.topology single:10 --infiniband.trains 0
random --network.model ethernet --placement.scheme block --placement.processes-per-node 3
random --network.model loggops --network.latency 2us --network.gap 3us --network.receive-gap arrival
workers --network.model loggops --network.latency 2us --matching simulated
workers --network.model infiniband --infiniband.topology single:6 --matching simulated
RUNS

# The busiest links are named, in the summary and as JSON.
replay 2 alltoall.h5 --network.model infiniband --infiniband.topology fat-tree:levels=2,leaves=3,spines=2,hosts=4
grep -q "^link leaf.* to .* busy" out.2.txt
grep -q '"hot_links"' out.2.json

refused() { # message options...
  for ranks in 1 3; do
    if "$MPIRUN" -np "$ranks" simreplay alltoall.h5 "${@:2}" >text 2>&1 </dev/null; then
      echo "not refused: ${*:2}"
      exit 1
    fi
    grep -qF -- "$1" text || { echo "expected '$1', found:"; cat text; exit 1; }
  done
}
fabric=(--network.model infiniband --infiniband.topology)
refused "expected base, loggops, ethernet, infiniband, shared-ethernet, found 'token-ring'" --network.model token-ring
refused "expected a fabric of 12 hosts, one for each node in use, found 8" "${fabric[@]}" single:8
refused "set infiniband.topology" --network.model infiniband
refused "infiniband.mtu" "${fabric[@]}" single:12 --infiniband.mtu 1000
refused "infiniband.unsafe" "${fabric[@]}" torus:4x3 --infiniband.routing minhop
refused "ethernet.rate" --network.model ethernet --ethernet.rate 0
refused "did you mean --infiniband.routing?" "${fabric[@]}" single:12 --infiniband.routin minhop
echo "same bits on every network for 1, 2, 3 and 4 ranks"
