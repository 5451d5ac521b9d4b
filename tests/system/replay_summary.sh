#!/usr/bin/env bash
# The text that people read, word for word: tests/golden/summary.txt. Times are simulated, so it is exact.
set -euo pipefail
PATH=$SIMREPLAY_BIN:$PATH
simtrace generate halo2d --processes 6 --steps 3 --bytes 4096 --seed 2 -o halo2d.h5
for ranks in 1 2; do
  "$MPIRUN" -np $ranks simreplay halo2d.h5 --machine gigabit-ethernet --cpu.speedup 2 | grep -vE '^(replayed in|program)' >summary.$ranks.txt
  diff -u "$SIMREPLAY_TESTS/golden/summary.txt" summary.$ranks.txt
done
# Many processes: only those that end last and first have a row.
simtrace generate ring --processes 100 --steps 2 -o ring.h5
simreplay ring.h5 | grep -q '^(of 100 processes the 16 that end last and first)$'
# In a pipe there is no trace of progress.
! simreplay ring.h5 2>&1 | grep -q $'\r'
