#!/usr/bin/env bash
# Bad input: one message that names file, place, expected and found; exit status not 0; nothing written in
# place of a good file; no rank left hanging. Every case on one rank; what ranks find out for themselves (each
# opens the trace, each reads the machine) and what they must agree on also on three: expect_together.
set -uo pipefail
PATH=$SIMREPLAY_BIN:$PATH
source "$SIMREPLAY_TESTS/support/failures.sh"

# check "part of the message" command...
check() {
  local wanted=$1 status out
  shift
  out=$(timeout 60 "$@" 2>&1)
  status=$?
  if [ $status = 0 ] || [ $status = 124 ]; then fail "$*: exit status $status" "$out"; fi
  grep -qF -- "$wanted" <<<"$out" || fail "$*: expected '$wanted'" "$out"
  if [ "$(grep -c '^simreplay: ' <<<"$out")" != 1 ] || grep -q 'HDF5-DIAG' <<<"$out"; then
    fail "$*: expected one message" "$out"
  fi
}

# "part of the message" arguments of simreplay...
expect() { check "$1" simreplay "${@:2}"; }
expect_together() {
  expect "$@"
  check "$1" "$MPIRUN" -np 3 simreplay "${@:2}"
}

simtrace generate ring --processes 4 --steps 20 -o good.h5 || exit 1

# files
expect_together "missing.h5: expected a trace file, found no such file" missing.h5
: >empty.h5
expect "empty.h5: expected a trace file, found an empty file" empty.h5
echo "some text that is longer than a signature" >foreign.h5
expect "foreign.h5: expected a trace file (HDF5), found another kind of file" foreign.h5
head -c 3000 good.h5 >cut.h5
expect_together "cut.h5" cut.h5
expect ".: expected a trace file, found a directory" .
expect "expected one trace file, found none"
expect "expected one trace file, found good.h5 cut.h5" good.h5 cut.h5

# machines
expect "nowhere.ini: expected a machine file or one of the presets 10-gigabit-ethernet edr fdr gigabit-ethernet hdr ideal ndr omni-path patent shared-memory, found neither" good.h5 --machine nowhere.ini
printf '[send]\nprolog = 1us\n\n[network]\nlatencyy = 2us\n' >key.ini
expect_together "key.ini:5: network.latencyy: unknown key; did you mean network.latency?" good.h5 --machine key.ini
printf '[send]\n# a comment\nprolog = 12\n' >unit.ini
expect "unit.ini:3: send.prolog: expected a time such as 1.2us (units: ps ns us ms s min h), found '12'" good.h5 --machine unit.ini
printf '[send]\nprolog 1us\n' >form.ini
expect "form.ini:2: expected [section] or key = value" good.h5 --machine form.ini
expect "command line: network.latency: expected a time such as 1.2us" good.h5 --network.latency 3parsec
expect "command line: send.per-byte: expected a cost per byte such as 0.08ns/B" good.h5 --send.per-byte 4GHz
expect "command line: cpu.speedup: expected a plain number above 0" good.h5 --cpu.speedup 0
expect "command line: cpu.speedup: expected a plain number above 0" good.h5 --cpu.speedup -2
expect "unknown option; did you mean --network.latency?" good.h5 --network.latncy 1us
expect_together "collectives.barrier: expected an algorithm of MPI_Barrier (patent, " good.h5 --collectives.barrier oak

# outputs
echo precious >kept.json
expect_together "kept.json: exists already; --force overwrites it" good.h5 --json kept.json
expect "good.h5: expected another file than the trace, found the trace itself" good.h5 -o good.h5 --force
expect_together "no/folder/out.h5: cannot be written: there is no folder no/folder" good.h5 -o no/folder/out.h5
expect ".: expected a file name, found a directory" good.h5 --json .

[ "$(cat kept.json)" = precious ] || { echo "FAILED: kept.json was changed"; failures=$((failures + 1)); }
if ls ./*.part >/dev/null 2>&1; then
  echo "FAILED: unfinished files are left: $(ls ./*.part)"
  failures=$((failures + 1))
fi
simreplay good.h5 --json kept.json --force >/dev/null && grep -q predicted_ps kept.json || failures=$((failures + 1))
echo "$failures failures"
[ $failures = 0 ]
