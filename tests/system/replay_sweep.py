#!/usr/bin/env python3
"""Sweeps: each row is what a replay of that machine alone gives, on any number of ranks; machines that decide
differently on eager messages, algorithms or nodes are told apart; tables say the same; wrong sweeps are refused."""

import csv
import json
import os
import subprocess
import sys

BIN = os.environ["SIMREPLAY_BIN"]
MPIRUN = os.environ["MPIRUN"]
SIMREPLAY = os.path.join(BIN, "simreplay")
faults = []


def run(ranks, *arguments):
    command = [MPIRUN, "-np", str(ranks)] if ranks > 1 else []
    return subprocess.run(command + [SIMREPLAY, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=120)


def replay(ranks, *arguments):
    """What it says as JSON."""
    done = run(ranks, *arguments, "--json", "out.json", "--force")
    if done.returncode != 0:
        sys.exit(f"{arguments}: {done.stdout}{done.stderr}")
    with open("out.json", encoding="utf-8") as file:
        return json.load(file)


def expect(what, found, wanted):
    if found != wanted:
        faults.append(f"{what}: expected {wanted}, found {found}")


def row_of(single):
    parts = {f"{part}_ps": sum(p[f"{part}_ps"] for p in single["per_process"])
             for part in ("computation", "communication", "idle")}
    return {"predicted_ps": single["predicted_ps"], "efficiency": single["efficiency"], **parts}


BASE = ["--network.model", "loggops", "--send.prolog", "300ns", "--receive.epilog", "0.2us", "--receive.prolog", "30ns"]
SWEEPS = [  # arguments, machines, passes
    (["--sweep", "network.latency=1us,9us", "--sweep", "cpu.speedup=1,1.7,3",
      "--sweep", "network.gap-per-byte=0,10ps/B"], 12, 1),
    (["--sweep", "network.eager-limit=512,64KiB", "--sweep", "network.gap=0,100ns,1us"], 6, 2),
    (["--sweep", "collectives.allreduce=linear,recursive-doubling", "--sweep", "placement.scheme=block,cyclic",
      "--placement.processes-per-node", "2", "--within.network.latency", "100ns"], 4, 4),
    (["--sweep", "noise.deviation=0,0.1", "--sweep", "network.latency=0.5us:50us:3:log"], 6, 4),
    (["--machines", "edr,gigabit-ethernet", "--machines", "patent"], 3, 1),
]


def check_rows(trace, arguments, machines, passes):
    what = f"{trace} {' '.join(arguments)}"
    sweep = replay(1, trace, *BASE, *arguments)
    expect(f"{what}: machines", len(sweep["rows"]), machines)
    expect(f"{what}: passes", sweep["passes"], passes)
    given = list(arguments)
    while "--sweep" in given or "--machines" in given:
        at = next(i for i, a in enumerate(given) if a in ("--sweep", "--machines"))
        del given[at:at + 2]
    for row in sweep["rows"]:
        setting = [word for key, value in row["values"].items() for word in (f"--{key}", value)]
        single = row_of(replay(1, trace, *BASE, *given, *setting))
        expect(f"{what}: {row['values']}", {key: row[key] for key in single}, single)
    best = min(range(machines), key=lambda i: sweep["rows"][i]["predicted_ps"])
    expect(f"{what}: best", sweep["best"], best)
    return sweep


def check_ranks(trace, arguments, sweep):
    found = replay(3, trace, *BASE, *arguments)
    expect(f"{trace} {arguments} on 3 ranks", found["rows"], sweep["rows"])


def check_tables(trace):
    arguments = [trace, "--sweep", "network.latency=4us,1us,1us"]
    text = run(1, *arguments, "--csv", "out.csv", "--force").stdout
    marked = [line.split()[1] for line in text.splitlines() if line.startswith("*")]
    expect("rows marked as best", marked, ["1us"])
    with open("out.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    expect("CSV values", [r["network.latency"] for r in rows], ["4us", "1us", "1us"])
    expect("CSV best", [r["best"] for r in rows], ["0", "1", "0"])
    sweep = replay(1, *arguments)
    expect("CSV times", [int(r["predicted_ps"]) for r in rows], [r["predicted_ps"] for r in sweep["rows"]])


REFUSED = [
    (["--sweep", "network.latncy=1us"], "did you mean network.latency?"),
    (["--sweep", "network.latency"], "expected KEY=V1,V2,... or KEY=FROM:TO:N[:log], found 'network.latency'"),
    (["--sweep", "network.latency=1us,,2us"], "found '1us,,2us'"),
    (["--sweep", "network.latency=1us,2parsec"], "expected a time such as 1.2us"),
    (["--sweep", "network.latency=1us:2ms:4"], "expected FROM and TO as numbers of the same unit"),
    (["--sweep", "network.latency=0us:2us:4:log"], "expected numbers above 0 for log"),
    (["--sweep", "network.latency=1us:2us:100000"], "expected 2 to 10000 values"),
    (["--sweep", "network.latency=1us:2us:200", "--sweep", "cpu.speedup=1:2:100"], "expected at most 10000 machines"),
    (["--sweep", "cpu.speedup=1,2", "--sweep", "cpu.speedup=3,4"], "sweeps cpu.speedup twice"),
    (["--sweep", "cpu.speedup=1,2", "-o", "out.h5"], "expected a single machine, found a sweep"),
    (["--sweep", "cpu.speedup=1,2", "--as-recorded"], "expected a single machine, found a sweep"),
    (["--machines", "edr,nowhere"], "nowhere: expected a machine file or one of the presets"),
    (["--machines", "edr", "--machine", "hdr"], "expected no other --machine, found both"),
    (["--csv", "out.csv"], "expected --sweep or --machines, found a single machine"),
]


def check_refusals(trace):
    for arguments, message in REFUSED:
        done = run(1, trace, *arguments)
        if done.returncode == 0 or message not in done.stderr:
            faults.append(f"{arguments}: expected '{message}', found status {done.returncode}: "
                          f"{done.stdout}{done.stderr}")
    done = run(2, trace, *REFUSED[0][0])
    expect("status of a sweep that two ranks refuse", done.returncode, 1)


def main():
    traces = []
    for pattern, processes, steps in (("halo3d-allreduce", 12, 5), ("random", 9, 20), ("master-worker", 6, 10)):
        traces.append(f"{pattern}.h5")
        subprocess.run([os.path.join(BIN, "simtrace"), "generate", pattern, "--processes", str(processes), "--steps",
                        str(steps), "--bytes", "3000", "--seed", "7", "-o", traces[-1]], check=True)
    for arguments, machines, passes in SWEEPS:
        sweep = check_rows(traces[0], arguments, machines, passes)
        check_ranks(traces[0], arguments, sweep)
    for trace in traces[1:]:
        check_ranks(trace, SWEEPS[1][0], check_rows(trace, *SWEEPS[1]))
    check_tables(traces[0])
    check_refusals(traces[0])
    if faults:
        sys.exit("\n".join(faults))


main()
