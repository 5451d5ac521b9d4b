# A real program: LAMMPS, 4 processes. Its results and the counts of its calls are known to be the same in
# every run of this input.
source "$SIMREPLAY_TESTS/support/capture.sh"

input=/usr/share/lammps/examples/melt/in.melt
if ! command -v lmp >/dev/null || [ ! -e "$input" ]; then
  echo "LAMMPS is not installed"
  exit 77
fi

results() { grep -E '^ +[0-9]+ +[-0-9.]+ ' "$1"; }  # step, temperature, energies, pressure

"$MPIRUN" -np 4 lmp -in "$input" -log none >bare.txt
expect_status 0 "$simcapture" -o trace.h5 -- "$MPIRUN" -np 4 lmp -in "$input" -log none
diff <(results bare.txt) <(results out) || fail "recording changes the results"
[ "$(results out | wc -l)" -gt 5 ] || fail "no results"
expect_text err "trace.h5: 4 processes"

# What is sent is received: bytes by sender, receiver and tag.
"$dump" trace.h5 >trace.txt
! grep -q anybody trace.txt || fail "wildcards that are not resolved"
python=${PYTHON:-python3}
"$python" - trace.txt <<'PY'
import collections, re, sys
balance = collections.Counter()
process, repeat = None, 1
for line in open(sys.argv[1]):
    if m := re.match(r"process (\d+)", line):
        process = int(m[1])
    elif m := re.match(r"(\d+) times", line):
        repeat = int(m[1])
    else:
        n = repeat if line.startswith("  ") else 1
        if m := re.search(r" to (\d+) tag (\d+) bytes (\d+)", line):
            balance[process, int(m[1]), m[2]] += n * int(m[3])
        if m := re.search(r" from (\d+)(?: \(any\))? tag (\d+)(?: \(any\))? bytes (\d+)", line):
            balance[int(m[1]), process, m[2]] -= n * int(m[3])
wrong = {k: v for k, v in balance.items() if v}
sys.exit(f"sent and received differ: {wrong}" if wrong or not balance else 0)
PY

# The prediction is the same to the last bit for any number of ranks, and the trace is sound.
PATH=$SIMREPLAY_BIN:$PATH
simtrace verify trace.h5
for ranks in 1 2 3 4; do
  "$MPIRUN" -np $ranks simreplay trace.h5 --machine edr -o predicted.$ranks.h5 --json $ranks.json >/dev/null
  cmp predicted.1.h5 predicted.$ranks.h5
  diff <(grep predicted_ps 1.json) <(grep predicted_ps $ranks.json)
done
