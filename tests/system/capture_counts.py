#!/usr/bin/env python3
"""The trace of a program holds exactly the calls that an independent counter sees, function by function.

The counter is loaded before the recorder, so that calls pass both.
"""

import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys

BIN = pathlib.Path(os.environ["SIMREPLAY_BIN"])
PROGRAMS = pathlib.Path(os.environ["SIMREPLAY_PROGRAMS"])
MPIRUN = os.environ["MPIRUN"]
RUNS = [["collectives", 4], ["communicators", 6], ["files", 2, "file"], ["neighbors", 4], ["nonblocking", 4],
        ["persistent", 2], ["point_to_point", 3], ["polls_the_clock", 2], ["requests", 2], ["windows", 3]]


def counted(prefix, processes):
    counts = collections.Counter()
    for rank in range(processes):
        for line in pathlib.Path(f"{prefix}.{rank}").read_text(encoding="utf-8").splitlines():
            name, number = line.split()
            counts[name] += int(number)
    return counts


def recorded(trace):
    text = subprocess.run([BIN / "simtrace", "info", trace], check=True, text=True, stdout=subprocess.PIPE).stdout
    rows = re.findall(r"^(MPI_\w+) +([\d,]+) ", text, re.MULTILINE)
    return collections.Counter({name: int(number.replace(",", "")) for name, number in rows})


def main():
    failures = 0
    for program, processes, *arguments in RUNS:
        spools = pathlib.Path(f"{program}.spools").absolute()
        shutil.rmtree(spools, ignore_errors=True)
        spools.mkdir()
        preload = f"{BIN / 'tests' / 'libcount_calls.so'}:{os.environ['SIMREPLAY_LIB']}/libsimcapture.so"
        environment = {"LD_PRELOAD": preload, "COUNT_CALLS": str(pathlib.Path(program).absolute()),
                       "SIMCAPTURE_DIR": str(spools), "SIMCAPTURE_RUN": "counts"}
        command = [MPIRUN, "-np", str(processes)]
        for key, value in environment.items():
            command += ["-x", f"{key}={value}"]
        subprocess.run(command + [PROGRAMS / program] + arguments, check=True, stdout=subprocess.DEVNULL)
        trace = f"{program}.h5"
        subprocess.run([BIN / "simtrace", "pack", spools, "-o", trace, "--force"], check=True)
        expected, found = counted(program, processes), recorded(trace)
        for name in sorted(set(expected) | set(found)):
            if expected[name] != found[name]:
                print(f"FAILED: {program}: {name}: counted {expected[name]}, recorded {found[name]}", file=sys.stderr)
                failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
