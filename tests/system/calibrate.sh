#!/usr/bin/env bash
# simcalibrate on two ranks: a sane machine that simreplay takes, and refusals that destroy nothing.
source "$SIMREPLAY_TESTS/support/capture.sh"
simcalibrate=$SIMREPLAY_BIN/simcalibrate

begin=$SECONDS
expect_status 0 "$MPIRUN" -np 2 "$simcalibrate" --quick -o here.ini --json residuals.json
[ $((SECONDS - begin)) -lt 60 ] || fail "--quick took $((SECONDS - begin)) s"
expect_text out "half round trip within"
expect_text here.ini "Low-Overhead LogGP"
"${PYTHON:-python3}" - <<'PY'
import json
j = json.load(open("residuals.json"))
way = j["within"]
assert j["ranks"] == 2 and j["nodes"] == 1 and len(way["points"]) > 4, j
assert 0 < j["barrier"]["measured_ns"] < 1e9
sizes = [p["bytes"] for p in way["points"]]
assert sizes == sorted(set(sizes)), sizes
for p in way["points"]:
    assert 0 < p["half_round_trip"]["measured_ns"] < 1e9, p
    # However noisy the measurement was: the file says what was measured.
    assert abs(p["half_round_trip"]["fitted_ns"] / p["half_round_trip"]["measured_ns"] - 1) < 0.031, p
PY

# A recorded ping-pong on this machine: two processes, nothing but messages of 64 bytes.
expect_status 0 "$simcapture" -o pingpong.h5 -- "$MPIRUN" -np 2 "$programs/exchange_patterns" pingpong --bytes 64 --repetitions 1000
expect_status 0 "$SIMREPLAY_BIN/simreplay" pingpong.h5 --machine here.ini --cpu.speedup 1e9 --json summary.json
"${PYTHON:-python3}" - <<'PY'
import json
point = next(p for p in json.load(open("residuals.json"))["within"]["points"] if p["bytes"] == 64)
predicted = json.load(open("summary.json"))["predicted_ps"] / 1e3
halves = 2 * 1000
fitted = point["half_round_trip"]["fitted_ns"] * halves
barriers = 2 * json.load(open("residuals.json"))["barrier"]["measured_ns"]
# Where the measurement was noisy, the gap may be longer than what a process does between two messages: the
# adapter, which is one for both ways here, is then waited for, at most that long each time.
gaps = point["gap"]["fitted_ns"] * halves
assert -0.01 * predicted < predicted - fitted - barriers < 0.01 * predicted + gaps, (predicted, fitted, barriers)
PY

expect_status 1 "$MPIRUN" -np 2 "$simcalibrate" --quick -o here.ini
expect_text err "here.ini: exists already"
expect_status 1 "$MPIRUN" -np 1 "$simcalibrate" --quick -o new.ini
expect_text err "two ranks are needed"
[ ! -e new.ini ] || fail "a file of a failed measurement"

# Noise: a profile that simreplay takes.
expect_status 0 "$MPIRUN" -np 2 "$simcalibrate" --noise here.noise --noise-seconds 0.5
expect_text out "rank 1 on "
expect_text here.noise "unit ns length 1"  # of two ranks together: a second and a little
expect_status 0 "$SIMREPLAY_BIN/simreplay" pingpong.h5 --noise.profile here.noise
expect_status 1 "$MPIRUN" -np 2 "$simcalibrate" --noise here.noise
expect_text err "here.noise: exists already"
expect_status 1 "$simcalibrate" --noise new.noise --noise-seconds 0
expect_text err "expected more than 0 and at most 3600, found 0"
