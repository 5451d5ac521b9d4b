"""Runs programs in turn and takes their times. Used by run.py and the cases."""

import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import time

MPI_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
}

LOGGOPS = {
    "network.model": "loggops",
    "network.latency": "2us",
    "send.prolog": "300ns",
    "receive.epilog": "300ns",
    "network.gap": "100ns",
    "network.gap-per-byte": "10ps/B",
}

# Calls or messages a second. Sanitizers stay above the least, and the bare loop below the greatest.
LEAST_RATE, GREATEST_RATE = 5e3, 1e9


class Failure(Exception):
    pass


class Run:
    """What one run took. `seconds` as the program itself says, processor time of the whole command and of the ranks
    without their launcher, peak memory of each rank in bytes.
    """

    def __init__(self, seconds, cpu, ranks=()):
        self.seconds, self.cpu = seconds, cpu
        self.ranks_cpu = sum(used for used, _ in ranks) if ranks else cpu
        self.rss = [peak for _, peak in ranks]


class Row:
    """A line of the table: the values of all rounds, and a ratio to another line in the same rounds."""

    def __init__(self, what, unit, values, ratio=None, against=""):
        self.what, self.unit, self.values, self.ratio, self.against = what, unit, list(values), ratio, against

    def median(self):
        return statistics.median(self.values)

    def as_json(self):
        row = {"what": self.what, "unit": self.unit, "median": self.median(), "least": min(self.values),
               "greatest": max(self.values), "rounds": len(self.values)}
        if self.ratio is not None:
            row |= {"ratio": self.ratio, "against": self.against}
        return row


def ratio(values, others):
    """Of two series measured in turn. What slows the computer for a while slows both halves of a round."""
    return statistics.median(a / b for a, b in zip(values, others))


def plausible(rates, what, least=LEAST_RATE):
    """`rates`, unless something else than a replay was measured."""
    for rate in rates:
        if not least <= rate <= GREATEST_RATE:
            raise Failure(f"{what}: {rate:,.0f} a second are absurd")
    return rates


class Bench:
    """The programs of one build, and a folder for traces."""

    def __init__(self, programs, folder, rounds, quick):
        self.bin, self.folder, self.rounds, self.quick = programs, folder, rounds, quick
        self.environment = {**os.environ, **MPI_ENVIRONMENT}
        for needed in ("simreplay", "simtrace", "tests/ceiling"):
            if not (self.bin / needed).exists():
                raise Failure(f"{self.bin / needed} is not built")
        self.mpirun = os.environ.get("MPIRUN", "mpirun")

    def size(self, full, quick):
        return quick if self.quick else full

    def run(self, command, **options):
        """Output, and the Run of the whole command."""
        command = [str(word) for word in command]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.monotonic()
        done = subprocess.run(command, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, **options)
        seconds, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode != 0:
            raise Failure(f"{' '.join(command)} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-2000:]}")
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return done.stdout, Run(seconds, cpu)

    def launch(self, ranks, command):
        return self.run([self.mpirun, "-np", ranks, *command])

    def trace(self, pattern, processes, steps, **options):
        words = [word for key, value in options.items() for word in (f"--{key}", value)]
        path = self.folder / ("-".join(map(str, [pattern, processes, steps, *options.values()])) + ".h5")
        if not path.exists():
            command = [self.bin / "simtrace", "generate", pattern, "--processes", processes, "--steps", steps,
                       "-o", path, *words]
            self.run(command) if self.quick else self.launch(2, command)
        return path

    def discard(self, *traces):
        for path in traces:
            path.unlink(missing_ok=True)

    def simreplay(self, trace, ranks, *words):
        note = self.folder / "used"
        text, run = self.launch(ranks, [sys.executable, pathlib.Path(__file__).resolve(), note,
                                        self.bin / "simreplay", trace, *words])
        return text, run, note

    def sweep(self, trace, *sweeps):
        """Its seconds."""
        words = [word for key, value in LOGGOPS.items() for word in (f"--{key}", value)]
        words += [word for sweep in sweeps for word in ("--sweep", sweep)]
        text, _, _ = self.simreplay(trace, 1, *words)
        found = re.search(r"over the trace, ([0-9.]+) s on", text)
        if not found:
            raise Failure(f"no time in the sweep:\n{text}")
        return float(found.group(1))

    def replay(self, trace, ranks=1, **machine):
        """`machine`: keys besides those of LOGGOPS, written with `_` for `.`."""
        settings = LOGGOPS | {key.replace("_", "."): value for key, value in machine.items()}
        words = [word for key, value in settings.items() for word in (f"--{key}", value)]
        text, run, note = self.simreplay(trace, ranks, *words)
        found = re.search(r"^replayed in .*: ([0-9,]+) calls/s$", text, re.MULTILINE)
        calls = re.search(r" processes, ([0-9,]+) calls", text)
        if not found or not calls:
            raise Failure(f"no rate in the summary:\n{text}")
        rate, calls = (int(match.group(1).replace(",", "")) for match in (found, calls))
        return Run(calls / rate, run.cpu, [read_note(note, r) for r in range(ranks)])

    def ceiling(self, *arguments):
        """Its calls a second."""
        text, _ = self.run([self.bin / "tests" / "ceiling", *arguments])
        values = dict(line.split() for line in text.splitlines())
        return int(values["calls"]) / float(values["seconds"])

    def in_turn(self, series):
        """Runs all of `series` once, then all once more: A B A B. Gives the results of each."""
        results = {name: [] for name in series}
        for round_ in range(self.rounds):
            for name, measured in series.items():
                show(f"  {round_ + 1}/{self.rounds} {name}")
                results[name].append(measured())
        show("")
        return results


def show(progress):
    if sys.stderr.isatty():
        print(progress.ljust(70), end="\r", file=sys.stderr, flush=True)


def note_what_it_used(note, command):
    """A rank of mpirun: runs the command, then writes its processor time and peak memory."""
    status = subprocess.run(command).returncode
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    rank = os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ.get("PMI_RANK") or "0"
    pathlib.Path(f"{note}.{rank}").write_text(f"{used.ru_utime + used.ru_stime} {used.ru_maxrss * 1024}\n")
    return status


def read_note(note, rank):
    used, peak = pathlib.Path(f"{note}.{rank}").read_text().split()
    return float(used), int(peak)


if __name__ == "__main__":
    sys.exit(note_what_it_used(sys.argv[1], sys.argv[2:]))
