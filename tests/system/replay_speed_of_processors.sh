#!/usr/bin/env bash
# What the costs of a machine do to a computation-bound trace: twice the speed halves it, no costs at all
# leave nothing, and the JSON holds the exact parts of every process.
set -euo pipefail
PATH=$SIMREPLAY_BIN:$PATH
predicted() { "$PYTHON" -c 'import json, sys; print(json.load(open(sys.argv[1]))["predicted_ps"])' "$1"; }

simtrace generate halo2d --processes 16 --steps 50 --compute 1ms -o t.h5
simreplay t.h5 --machine edr --json slow.json >/dev/null
simreplay t.h5 --machine edr --cpu.speedup 2 --json fast.json >/dev/null
simreplay t.h5 --cpu.speedup 1e9 --json free.json >/dev/null
"$PYTHON" - <<'CHECK'
import json
slow, fast, free = (json.load(open(n + ".json")) for n in ("slow", "fast", "free"))
ratio = slow["predicted_ps"] / fast["predicted_ps"]
assert 1.98 < ratio <= 2, ratio
assert free["predicted_ps"] < 10_000_000, free["predicted_ps"]  # 10 us of 50 ms: what rounding up leaves
for s in slow, fast, free:
    assert s["processes"] == 16 and len(s["per_process"]) == 16
    for p in s["per_process"]:
        assert p["computation_ps"] + p["communication_ps"] + p["waiting_ps"] == p["end_ps"]
    assert s["predicted_ps"] == max(p["end_ps"] for p in s["per_process"])
    work = sum(p["computation_ps"] for p in s["per_process"])
    assert abs(s["efficiency"] - work / (16 * s["predicted_ps"])) < 1e-9
    assert all(isinstance(v, int) for p in s["per_process"] for v in p.values())
print("speed-up", ratio)
CHECK
