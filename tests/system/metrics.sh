# Regions, counters and timers of programs: recorded from C and Fortran, whatever code their compiler makes, and in
# parts of a run; listed, checked, and the same in the replay for any number of ranks.
#
#   metrics.sh [COMPILER]      see use_mpi
source "$SIMREPLAY_TESTS/support/capture.sh"
use_mpi "$@"
include=$SIMREPLAY_BIN/../include
numbers() { grep -v -e '"ranks"' -e '"replay_seconds"' -e '"calls_per_second"' "$1"; }

echo "== info and verify"
"$simcapture" -o metrics.h5 -- "$MPIRUN" -np 2 "$programs/metrics" >/dev/null 2>messages.txt
"$simtrace" info metrics.h5 >info.txt
expect_text info.txt "region                                 entries"
grep -qx "solver  *8" info.txt || fail "solver is not entered 8 times: $(cat info.txt)"
grep -qx "in f  *16" info.txt || fail "in f does not change 16 times: $(cat info.txt)"
grep -qx "sends  *10" info.txt || fail "sends is not started 10 times: $(cat info.txt)"
"$simtrace" info metrics.h5 --json | "$PYTHON" -c '
import json, sys
j = json.load(sys.stdin)
assert j["regions"] == {"all": 2, "solver": 8, "output": 8, "never ended": 1}, j["regions"]
assert j["counters"] == {"in f": 16, "queue": 8}, j["counters"]
assert j["timers"] == {"sends": 10, "MPI_Send": 0}, j["timers"]'
"$simtrace" info metrics.h5 --calls 0 >calls.txt
expect_text calls.txt "simcapture_timer_while, 'MPI_Send' while 'in f' is above 0"
expect_status 0 "$simtrace" verify metrics.h5
expect_text err "process 1, call"
expect_text err "(simcapture_region_begin): region 'never ended' is still open where a region around it ends"
"$simtrace" diff metrics.h5 metrics.h5 | grep -q "same calls and times" || fail "a trace differs from itself"

echo "== replay"
for ranks in 1 2 4; do
  "$MPIRUN" -np "$ranks" "$simreplay" metrics.h5 --machine gigabit-ethernet --json "$ranks.json" >"$ranks.txt"
  diff <(numbers 1.json) <(numbers "$ranks.json") || fail "$ranks ranks predict something else"
done
expect_text 1.txt "region 'never ended' is still open where a region around it ends"
printf 'region solver 2\n' >speeds.txt
"$simreplay" metrics.h5 --machine gigabit-ethernet --cpu.speedups speeds.txt --json fast.json >fast.txt
"$PYTHON" - <<'CHECK' || fail "the numbers do not fit together: $(cat 1.txt)"
import json
slow, fast = json.load(open("1.json")), json.load(open("fast.json"))
def named(j, kind, name, condition=None):
    return next(m for m in j[kind] if m["name"] == name and m.get("while") == condition)
for j in slow, fast:
    for r in j["regions"]:
        for p in [r] + r["per_process"]:
            assert p["computation_ps"] + p["communication_ps"] + p["waiting_ps"] == p["time_ps"]
        for key in "entries", "time_ps", "computation_ps", "recorded_ps":
            assert r[key] == sum(p[key] for p in r["per_process"])
        assert r["longest_ps"] == max(p["time_ps"] for p in r["per_process"])
    everything = named(j, "regions", "all")
    assert everything["longest_ps"] <= j["predicted_ps"]
    sends, in_f = named(j, "timers", "sends"), named(j, "timers", "sends", "in f")
    mpi_sends = named(j, "timers", "MPI_Send")
    assert mpi_sends["starts"] == 8 and sends["starts"] == 10
    assert 0 < mpi_sends["time_ps"] <= in_f["time_ps"] < sends["time_ps"]
    assert named(j, "timers", "MPI_Send", "in f")["time_ps"] == mpi_sends["time_ps"]
    queue = named(j, "counters", "queue")
    assert (queue["least"], queue["most"], queue["last"], queue["changes"]) == (0, 6, 9, 8)
    assert 0 < queue["mean"] < 6
solver = [named(j, "regions", "solver") for j in (slow, fast)]
output = [named(j, "regions", "output") for j in (slow, fast)]
assert solver[0]["recorded_ps"] == solver[1]["recorded_ps"] >= 2 * 4 * 2e9
# Each gap and call is rounded up for itself.
assert abs(solver[0]["computation_ps"] - 2 * solver[1]["computation_ps"]) < 1000
assert output[0]["computation_ps"] == output[1]["computation_ps"]
CHECK
echo "region nothing 2" >speeds.txt
expect_status 1 "$simreplay" metrics.h5 --cpu.speedups speeds.txt
expect_text err "speeds.txt:1: expected a region of the trace (all, solver, output, never ended), found 'nothing'"

echo "== packed by several ranks"
"$simcapture" --no-pack --spool-dir spools -o none.h5 -- "$MPIRUN" -np 2 "$programs/metrics" >/dev/null 2>messages.txt
"$MPIRUN" -np 2 "$simtrace" pack spools -o packed.h5 2>messages.txt
"$dump" packed.h5 | diff "$SIMREPLAY_TESTS/golden/capture_metrics.txt" - || fail "two ranks pack another trace"

echo "== C, in code of every kind; linked with the recorder"
cat >app.c <<'C'
#include <simcapture.h>
#include <mpi.h>
#include <stdio.h>
static void combine(void *in, void *out, int *n, MPI_Datatype *type) {
  simcapture_region_begin("in a callback");
  *(int *)out += *(int *)in;
  simcapture_region_end("in a callback");
  (void)n, (void)type;
}
int main(int argc, char **argv) {
  int one = 1, sum = 0, region = -1;
  MPI_Op op;
  simcapture_region_begin("all");
  MPI_Init(&argc, &argv);
  MPI_Op_create(combine, 1, &op);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
  MPI_Pcontrol(0);
  simcapture_region_begin("passed over");
  simcapture_region_begin("entered while paused");
  simcapture_counter_set("n", 5);
  simcapture_counter_add("n", 2);
  MPI_Barrier(MPI_COMM_WORLD);
  simcapture_region_begin("passed over");
  simcapture_region_end("passed over");
  MPI_Pcontrol(1);
  region = simcapture_region("entered while paused");
  simcapture_end(region);
  simcapture_begin(-1);
  simcapture_start(region); /* no timer */
  MPI_Op_free(&op);
  printf("sum %d\n", sum);
  MPI_Finalize();
  simcapture_region_end("all");
  return 0;
}
C
cat >expected.txt <<'T'
metric 0: region all
metric 1: region passed over
metric 2: region entered while paused
metric 3: counter n

process 0
simcapture_region_begin of metric 0
MPI_Init
MPI_Allreduce bytes 4
simcapture_region_begin of metric 1
simcapture_region_begin of metric 2
simcapture_counter_set of metric 3 7
simcapture_region_end of metric 2
MPI_Finalize
simcapture_region_end of metric 0
(exit)
T
recorder_linked=(-L"$SIMREPLAY_LIB" -Wl,-rpath,"$SIMREPLAY_LIB" -Wl,--no-as-needed "-l$recorder")
for flags in "-O2" "-O0 -fPIE -pie" "-O2 -fno-pie -no-pie" "-O0 -fno-pie -no-pie" "linked"; do
  if [ "$flags" = linked ]; then
    "$mpicc" -std=c99 -Wall -Wextra -Wpedantic -Werror -I"$include" app.c -o app "${recorder_linked[@]}"
  else
    "$mpicc" -std=c99 -Wall -Wextra -Wpedantic -Werror -I"$include" $flags app.c -o app
  fi
  [ "$("$launcher" -n 1 ./app 2>&1)" = "sum 1" ] || fail "$flags: the program does something else"
  "$simcapture" --force -o c.h5 -- "$launcher" -n 1 ./app >out 2>messages.txt || fail "$flags: $(cat messages.txt)"
  "$dump" c.h5 | diff expected.txt - || fail "$flags: the trace is not as expected"
done
"$MPIRUN" -np 2 "$simreplay" c.h5 >c.txt
expect_text c.txt "region 'passed over' is still open where a region around it ends"

echo "== Fortran"
if ! echo end | "$mpifort" -x f95 -fsyntax-only - 2>/dev/null; then
  echo "no Fortran compiler for MPI"
  exit 0
fi
cat >app.f90 <<'F90'
program app
  use simcapture
  use mpi
  implicit none
  integer :: error, solver
  call simcapture_region_begin('all ')
  call MPI_Init(error)
  solver = simcapture_region('solver')
  call simcapture_timer_while('timer', 'counter')
  call simcapture_begin(solver)
  call simcapture_counter_set('counter', 3)
  call simcapture_counter_sub('counter', 1)
  call simcapture_add(simcapture_counter('counter'), 10000000000_8)
  call simcapture_timer_start('timer')
  call simcapture_timer_stop('timer')
  call simcapture_end(solver)
  print *, 'done'
  call MPI_Finalize(error)
  call simcapture_region_end('all')
end program
F90
cat >expected.txt <<'T'
metric 0: region all
metric 1: region solver
metric 2: timer timer
metric 3: counter counter

process 0
simcapture_region_begin of metric 0
MPI_Init
simcapture_timer_while of metric 2 while metric 3
simcapture_region_begin of metric 1
simcapture_counter_set of metric 3 3
simcapture_counter_add of metric 3 -1
simcapture_counter_add of metric 3 10000000000
simcapture_timer_start of metric 2
simcapture_timer_stop of metric 2
simcapture_region_end of metric 1
MPI_Finalize
simcapture_region_end of metric 0
(exit)
T
"$mpifort" -c "$include/simcapture.f90"
"$mpifort" app.f90 simcapture.o -o fortran -ldl
"$launcher" -n 1 ./fortran 2>&1 | grep -qx " done" || fail "the program does something else"
"$simcapture" -o f.h5 -- "$launcher" -n 1 ./fortran >out 2>messages.txt
"$dump" f.h5 | diff expected.txt - || fail "the trace of the Fortran program is not as expected"
