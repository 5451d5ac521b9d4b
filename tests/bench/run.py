"""All benchmarks of whole runs: makes traces, runs every case in turn, prints a table (docs/benchmarks.md).

  tests/bench/run.py                       everything, about half an hour
  tests/bench/run.py ceiling smpi          some cases
  tests/bench/run.py --quick               everything small, as ctest does
  tests/bench/run.py --list
"""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import cases  # noqa: E402
import smpi  # noqa: E402
from measure import Bench, Failure  # noqa: E402

CASES = {case.__name__: case for case in (cases.ceiling, cases.processes, cases.ranks, cases.sweep, cases.memory,
                                           smpi.smpi)}
HERE = pathlib.Path(__file__).resolve()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", nargs="*", help="which (default: all)")
    parser.add_argument("--list", action="store_true", help="name the cases and end")
    parser.add_argument("--quick", action="store_true", help="small, and one round: do the benchmarks work?")
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parents[2] / "build" / "release",
                        help="build folder (default build/release)")
    parser.add_argument("--rounds", type=int, help="how often each is run (default 5, quick 1)")
    parser.add_argument("--json", type=pathlib.Path, help="write the results there, too")
    parser.add_argument("--folder", type=pathlib.Path,
                        help="traces are made below, up to 2 GB of them (default: the build folder)")
    given = parser.parse_args()
    unknown = [name for name in given.case if name not in CASES]
    if unknown:
        parser.error(f"no case {', '.join(unknown)}; there are {', '.join(CASES)}")
    return given


def number(value):
    """Three digits are more than a shared computer can repeat."""
    if abs(value) >= 1e6:
        return f"{value / 1e6:.3g} M" if value < 1e9 else f"{value / 1e9:.3g} G"
    if abs(value) >= 1e3:
        return f"{value / 1e3:.3g} k"
    return f"{value:.3g}"


def line(row):
    spread = f"({number(min(row.values))} to {number(max(row.values))})" if len(row.values) > 1 else ""
    against = f"{row.ratio:.3g} x {row.against}" if row.ratio is not None else ""
    return f"  {row.what:<52} {number(row.median()):>9} {row.unit:<12} {spread:<22} {against}".rstrip()


def processor():
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def measure(bench, names, results):
    for name in names:
        print(f"{name}: {CASES[name].__doc__}", flush=True)
        results[name] = []
        for row in CASES[name](bench):
            print(line(row), flush=True)
            results[name].append(row)
        print(flush=True)


def write_json(path, results, given, rounds):
    written = {name: [row.as_json() for row in rows] for name, rows in results.items()}
    about = {"processor": processor(), "processors": os.cpu_count(), "rounds": rounds, "quick": given.quick}
    path.write_text(json.dumps(about | {"cases": written}, indent=1) + "\n")


def main():
    given = arguments()
    if given.list:
        for name, case in CASES.items():
            print(f"{name:<10} {case.__doc__}")
        return 0
    programs = pathlib.Path(os.environ.get("SIMREPLAY_BIN", given.build / "bin")).resolve()
    rounds = given.rounds or (1 if given.quick else 5)
    results, status = {}, 0
    with tempfile.TemporaryDirectory(prefix="bench-", dir=given.folder or programs.parent) as scratch:
        try:
            bench = Bench(programs, pathlib.Path(scratch), rounds, given.quick)
            measure(bench, given.case or CASES, results)
        except (Failure, OSError, subprocess.TimeoutExpired) as failure:
            print(f"run.py: {failure}", file=sys.stderr)
            status = 1
    if given.json:  # also what was measured before a failure
        write_json(given.json, results, given, rounds)
    return status


if __name__ == "__main__":
    sys.exit(main())
