# simtrace as a user meets it: results, messages, exit statuses.
set -eu
PATH=$SIMREPLAY_BIN:$PATH
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# expect STATUS TEXT COMMAND...: the exit status, and a text (a regular expression) on the output.
expect() {
  local wanted=$1 text=$2 status=0
  shift 2
  "$@" > output 2>&1 || status=$?
  [ "$status" = "$wanted" ] || fail "status $status instead of $wanted: $*: $(cat output)"
  grep -Eq -- "$text" output || fail "no '$text' from $*: $(cat output)"
  if grep -q HDF5-DIAG output; then fail "HDF5 complains: $*"; fi
}

# ---- the same bits for any number of ranks, at any time ----
for pattern in pingpong ring halo2d halo3d halo3d-allreduce molecular alltoall allreduce master-worker random; do
  simtrace generate $pattern --processes 10 --steps 5 --seed 3 -o $pattern.h5
  expect 0 '^verified: 10 processes, [0-9,]+ calls, [0-9,]+ messages$' simtrace verify $pattern.h5
done
for ranks in 1 2 3; do
  for pattern in halo3d random; do
    "$MPIRUN" -np $ranks simtrace generate $pattern --processes 10 --steps 5 --seed 3 -o $pattern.$ranks.h5
    cmp $pattern.h5 $pattern.$ranks.h5 || fail "$pattern differs with $ranks ranks"
  done
done
expect 0 'same calls and times' simtrace diff halo3d.h5 halo3d.2.h5

# ---- info ----
expect 0 '^MPI_Isend +300 ' simtrace info halo3d.h5
expect 0 '^processes +10, all complete$' simtrace info halo3d.h5
expect 0 '^messages +300, 2.3 MiB$' simtrace info halo3d.h5
expect 0 '^operation +calls +rows +total time +bytes$' simtrace info halo3d.h5
simtrace info --json halo3d.h5 > info.json
grep -q '"processes": 10' info.json || fail "no processes in the JSON"
grep -q '"rows": 670' info.json || fail "no rows in the JSON"
expect 0 '^ +13 .*MPI_Waitall, requests \[0 1 2 3 4 5 6 7 8 9 10 11\]$' simtrace info --calls 3:13:1 halo3d.h5
[ "$(simtrace info --calls 3 halo3d.h5 | wc -l)" = 68 ] || fail "not all calls were printed"
expect 2 'expected a process below 10, found 10' simtrace info --calls 10 halo3d.h5

# ---- diff ----
simtrace generate halo3d --processes 10 --steps 5 --seed 4 -o other.h5
expect 1 '^first difference +process 0, call 1 \(MPI_Irecv\)$' simtrace diff halo3d.h5 other.h5
expect 1 '^different: ' simtrace diff halo3d.h5 halo2d.h5
expect 2 'no such file' simtrace diff halo3d.h5 missing.h5

# ---- nothing is overwritten by accident ----
expect 1 'halo3d.h5: exists already; --force overwrites it' simtrace generate ring --processes 2 --steps 1 -o halo3d.h5
simtrace generate ring --processes 2 --steps 1 -o other.h5 --force || fail "--force does not overwrite"
expect 1 '/no/such/t.h5: cannot be written' simtrace generate ring --processes 2 --steps 1 -o /no/such/t.h5
[ -z "$(find . -name '*.part')" ] || fail "a half file is left"

# ---- wrong use ----
expect 0 'usage: simtrace COMMAND' simtrace --help
expect 0 '^simtrace [0-9]+\.[0-9]+' simtrace --version
for command in info verify diff generate; do
  expect 0 "usage: simtrace $command" simtrace $command --help
  expect 2 "$command: .*--sing.*; options: --help" simtrace $command --sing
done
expect 2 'no command given; commands: info' simtrace
expect 2 "unknown command 'sing'; commands: info, " simtrace sing
expect 2 'no FILE given; usage: simtrace info' simtrace info
expect 2 'expected 1 operand' simtrace verify a.h5 b.h5
expect 2 "unknown pattern 'chaos'; patterns: pingpong, ring, " simtrace generate chaos --processes 2 --steps 1 -o c.h5
expect 2 'pingpong needs at least 2 processes, found 1' simtrace generate pingpong --processes 1 --steps 1 -o c.h5
expect 2 '--processes: expected 1 to 2147483647, found 0' simtrace generate ring --processes 0 --steps 1 -o c.h5
expect 2 '--steps: expected 1 to [0-9]+, found 0' simtrace generate ring --processes 2 --steps 0 -o c.h5
expect 2 "--bytes: expected a size such as 4KiB" simtrace generate ring --processes 2 --steps 1 --bytes 4XB -o c.h5
expect 2 "--imbalance: expected at most 1, found 2" simtrace generate ring --processes 2 --steps 1 --imbalance 2 -o c.h5
expect 2 "the option '--steps' is required" simtrace generate ring --processes 2 -o c.h5
[ "$("$MPIRUN" -np 2 simtrace generate chaos --processes 2 --steps 1 -o c.h5 2>&1 | grep -c 'unknown pattern')" = 1 ] ||
  fail "a fault is not said once by two ranks"

# ---- files that are no traces ----
: > empty.h5
echo "some text that nobody recorded" > text.h5
head -c 5000 halo3d.h5 > cut.h5
for command in info verify; do
  expect 1 '^simtrace: missing.h5: expected a trace file, found no such file$' simtrace $command missing.h5
  expect 1 '^simtrace: empty.h5: expected a trace file, found an empty file$' simtrace $command empty.h5
  expect 1 '^simtrace: text.h5: expected a trace file \(HDF5\), found another kind of file$' simtrace $command text.h5
  expect 1 '^simtrace: cut.h5: ' simtrace $command cut.h5
  [ "$(wc -l < output)" = 1 ] || fail "more than one line about cut.h5: $(cat output)"
done

exit $((failures > 0))
