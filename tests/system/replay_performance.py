#!/usr/bin/env python3
"""Metrics, queries and diagnosis of predictions: parts that add up to the picosecond, the same for any number of
ranks, of real programs too; programs with one bottleneck each, recorded here and diagnosed."""

import json
import os
import shutil
import subprocess

ENV = dict(os.environ, PATH=os.environ["SIMREPLAY_BIN"] + ":" + os.environ["PATH"])
PROGRAMS = os.environ["SIMREPLAY_BIN"] + "/programs"
MPIRUN = os.environ["MPIRUN"]
QUERIES = ["task", "task:system", "processor:node", "channel", "channel:processor", "channel:system:*:queue-max"]
CAUSES = ["late-sender", "late-receiver", "wait-at-barrier", "wait-at-collective", "transfer", "contention",
          "one-sided", "after-end"]
FEW_LINES = ["simulated", "replay_seconds", "calls_per_second", "ranks"]


def run(*command, **more):
    return subprocess.run([str(c) for c in command], env=ENV, check=True, text=True, stdin=subprocess.DEVNULL,
                          capture_output=True, **more).stdout


def replay(trace, *options, ranks=1):
    text = run(MPIRUN, "-np", ranks, "simreplay", trace, *options, "--json", "out.json", "--force")
    with open("out.json") as f:
        summary = json.load(f)
    for key in FEW_LINES:
        summary.pop(key, None)
    return summary, text


def check_sums(summary):
    time = summary["predicted_ps"]
    values = {}
    for row in summary["queries"][0]["values"]:
        values.setdefault(row["object"], {})[row["metric"]] = row["value"]
    assert len(values) == summary["processes"]
    for process, of in zip(summary["per_process"], values.values()):
        threads = of["time"] // time
        assert of["time"] == threads * time and threads >= 1
        assert of["computation"] + of["communication"] + of["idle"] == of["time"]
        assert sum(of[cause] for cause in CAUSES) == of["idle"]
        for part in "computation", "communication", "idle":
            assert process[part + "_ps"] == of[part]
    system = {row["metric"]: row["value"] for row in summary["queries"][1]["values"]}
    for metric in "time", "computation", "idle", "sends", "bytes-received":
        assert system[metric] == sum(of[metric] for of in values.values()), metric


def check(trace, *options):
    asked = [o for q in QUERIES for o in ("--query", q)]
    first, _ = replay(trace, *options, *asked, "--diagnose")
    check_sums(first)
    for ranks in 2, 4:
        other, _ = replay(trace, *options, *asked, "--diagnose", ranks=ranks)
        assert other == first, f"{trace} on {ranks} ranks"
    plain, _ = replay(trace, *options, "--efficient", "0.000001", ranks=2)
    for key, value in plain.items():
        assert first[key] == value, f"{trace}: {key} with and without observer"
    print(f"{trace} {' '.join(options)}: adds up, the same on 1, 2 and 4 ranks")


def check_traces():
    software = ["--send.prolog", "0.4us", "--receive.epilog", "0.3us", "--network.latency", "2us",
                "--network.eager-limit", "4KiB"]
    for pattern in "halo3d", "molecular", "random", "master-worker":
        run("simtrace", "generate", pattern, "--processes", 12, "--steps", 12, "--bytes", 6000, "--seed", 3, "-o",
            f"{pattern}.h5")
        check(f"{pattern}.h5", *software)
    check("random.h5", *software, "--network.model", "infiniband", "--infiniband.topology", "single:12")
    check("molecular.h5", *software, "--network.model", "shared-ethernet", "--shared-ethernet.start", "20us")
    check("random.h5", *software, "--placement.scheme", "block", "--placement.processes-per-node", "4")
    if shutil.which("lmp"):
        run("simcapture", "-o", "lammps.h5", "--", MPIRUN, "-np", 4, "lmp", "-log", "none", "-in",
            os.environ["SIMREPLAY_TESTS"] + "/programs/melt.in")
        check("lammps.h5", *software)


EXPECTED = {"slow-consumer": ("consumer too slow", {1, 3}), "slow-producer": ("producer too slow", {0, 2}),
            "late-sender": ("late sender", {0, 1, 2, 3}), "slow-process": ("imbalance of computation", {3})}


def check_programs():
    for mode in ["balanced", *EXPECTED]:
        run("simcapture", "-o", f"{mode}.h5", "--", MPIRUN, "-np", 4, f"{PROGRAMS}/bottlenecks", mode)
        summary, text = replay(f"{mode}.h5", "--machine", "gigabit-ethernet", "--diagnose", ranks=2)
        diagnosis = summary["diagnosis"]
        if mode == "balanced":
            assert diagnosis["efficient"] and diagnosis["findings"] == [], text
            continue
        hypothesis, processes = EXPECTED[mode]
        first = diagnosis["findings"][0]
        assert not diagnosis["efficient"], text
        assert first["hypothesis"] == hypothesis and set(first["processes"]) == processes, text
        assert 0.2 < first["cost_ps"] / summary["predicted_ps"] < 0.6 and first["p"] < 0.001, text
        assert first["remaining_ps"] < 0.85 * summary["predicted_ps"], text
        # Without being asked, as it is not efficient.
        assert replay(f"{mode}.h5", "--machine", "gigabit-ethernet")[0]["diagnosis"] == diagnosis
        print(f"{mode}: {first['hypothesis']}, {first['where']}")


def check_speedup():
    summary, text = replay("halo3d.h5", "--serial-time", "1s")
    assert abs(summary["speedup"] - 1e12 / summary["predicted_ps"]) < 1e-9 * summary["speedup"]
    assert abs(summary["efficiency"] - summary["speedup"] / 12) < 1e-9 and "as given" in text
    summary, _ = replay("halo3d.h5")
    assert abs(summary["speedup"] * summary["predicted_ps"] - sum(p["computation_ps"] for p in summary["per_process"])) < 1e3
    assert "queue-max" in run("simreplay", "--metrics")


def check_refusals():
    for options, message in [(["--query", "task:task:*:lod"], "(time, computation"),
                             (["--query", "node"], "channel, task or processor"),
                             (["--query", "channel:node"], "(channel, processor, system)"),
                             (["--query", "task:task:12"], "(0 to 11), found '12'"),
                             (["--efficient", "1.5"], "a share above 0, up to 1"),
                             (["--diagnose", "--as-recorded"], "of which waiting is not known"),
                             (["--query", "task", "--sweep", "cpu.speedup=1,2"], "a single machine")]:
        for ranks in 1, 3:
            tried = subprocess.run([MPIRUN, "-np", str(ranks), "simreplay", "halo3d.h5", *options], env=ENV, text=True,
                                   stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
            assert tried.returncode != 0 and message in tried.stderr, (options, tried.stderr)


check_traces()
check_programs()
check_speedup()
check_refusals()
