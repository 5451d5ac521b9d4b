#!/usr/bin/env bash
# Bad input: one message that names file, place, expected and found; exit status not 0; nothing written in
# place of a good file; no rank left hanging. Every case on 1 and on 3 ranks.
set -uo pipefail
PATH=$SIMREPLAY_BIN:$PATH
failures=0

# expect "part of the message" arguments of simreplay...
expect() {
  local wanted=$1 ranks status out
  shift
  for ranks in 1 3; do
    out=$(timeout 30 "$MPIRUN" -np $ranks simreplay "$@" 2>&1)
    status=$?
    if [ $status = 0 ] || [ $status = 124 ]; then
      echo "FAILED: simreplay $* on $ranks ranks: exit status $status"
      failures=$((failures + 1))
    fi
    if ! grep -qF -- "$wanted" <<<"$out"; then
      echo "FAILED: simreplay $* on $ranks ranks: expected '$wanted' in:"
      echo "$out"
      failures=$((failures + 1))
    fi
    if [ "$(grep -c '^simreplay: ' <<<"$out")" != 1 ] || grep -q 'HDF5-DIAG' <<<"$out"; then
      echo "FAILED: simreplay $* on $ranks ranks: expected one message, found:"
      echo "$out"
      failures=$((failures + 1))
    fi
  done
}

simtrace generate ring --processes 4 --steps 20 -o good.h5 || exit 1

# files
expect "missing.h5: expected a trace file, found no such file" missing.h5
: >empty.h5
expect "empty.h5: expected a trace file, found an empty file" empty.h5
echo "some text that is longer than a signature" >foreign.h5
expect "foreign.h5: expected a trace file (HDF5), found another kind of file" foreign.h5
head -c 3000 good.h5 >cut.h5
expect "cut.h5" cut.h5
expect ".: expected a trace file, found a directory" .
expect "expected one trace file, found none"
expect "expected one trace file, found good.h5 cut.h5" good.h5 cut.h5

# machines
expect "nowhere.ini: expected a machine file or one of the presets gigabit-ethernet ideal infiniband-edr" good.h5 --machine nowhere.ini
printf '[send]\nprolog = 1us\n\n[network]\nlatencyy = 2us\n' >key.ini
expect "key.ini:5: network.latencyy: unknown key; did you mean network.latency?" good.h5 --machine key.ini
printf '[send]\n# a comment\nprolog = 12\n' >unit.ini
expect "unit.ini:3: send.prolog: expected a time such as 1.2us (units: ps ns us ms s min h), found '12'" good.h5 --machine unit.ini
printf '[send]\nprolog 1us\n' >form.ini
expect "form.ini:2: expected [section] or key = value" good.h5 --machine form.ini
expect "command line: network.latency: expected a time such as 1.2us" good.h5 --network.latency 3parsec
expect "command line: send.per-byte: expected a cost per byte such as 0.08ns/B" good.h5 --send.per-byte 4GHz
expect "command line: cpu.speedup: expected a plain number above 0" good.h5 --cpu.speedup 0
expect "command line: cpu.speedup: expected a plain number above 0" good.h5 --cpu.speedup -2
expect "unknown option; did you mean --network.latency?" good.h5 --network.latncy 1us
expect "collectives.barrier: expected an algorithm of MPI_Barrier (patent, " good.h5 --collectives.barrier oak

# outputs
echo precious >kept.json
expect "kept.json: exists already; --force overwrites it" good.h5 --json kept.json
expect "good.h5: expected another file than the trace, found the trace itself" good.h5 -o good.h5 --force
expect "no/folder/out.h5: cannot be written: there is no folder no/folder" good.h5 -o no/folder/out.h5
expect ".: expected a file name, found a directory" good.h5 --json .

[ "$(cat kept.json)" = precious ] || { echo "FAILED: kept.json was changed"; failures=$((failures + 1)); }
if ls ./*.part >/dev/null 2>&1; then
  echo "FAILED: unfinished files are left: $(ls ./*.part)"
  failures=$((failures + 1))
fi
simreplay good.h5 --json kept.json --force >/dev/null && grep -q predicted_ps kept.json || failures=$((failures + 1))
echo "$failures failures"
[ $failures = 0 ]
