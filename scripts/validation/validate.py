"""Runs programs, predicts the same runs, and compares. Started by scripts/validate.sh.

Like is compared with like: the time of a run is from leaving MPI_Init to entering MPI_Finalize, of the slowest
process. A preloaded library (tests/support/run_time.cpp) takes it in unrecorded runs; traces and predictions
give the same. The spread of repeated runs is (slowest - fastest) / median.
"""

import argparse
import datetime
import json
import math
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile

SKIPPED = 77
SELF_BOUND, NETWORK_BOUND = 0.02, 0.05
TOO_NOISY = 0.10  # spread of unrecorded runs above which a comparison says nothing
MARK_BEGIN, MARK_END = "<!-- {}: written by scripts/validate.sh -->\n", "<!-- end of {} -->\n"

MPI_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
}

# Pattern, bytes per message.
PATTERNS = [("pingpong", 1024), ("halo", 8192), ("ring", 8192), ("alltoall", 4096), ("allreduce", 8192), ("gather", 4096)]


class Failure(Exception):
    pass


class Bench:
    """The programs of one build, and a folder for what they write."""

    def __init__(self, build, folder):
        self.bin = build / "bin"
        self.folder = folder
        self.preload = self.bin / "tests" / "librun_time.so"
        for needed in (self.bin / "simcalibrate", self.bin / "simcapture", self.bin / "simreplay", self.preload):
            if not needed.exists():
                raise Failure(f"{needed} is not built")
        self.environment = {**os.environ, **MPI_ENVIRONMENT}

    def run(self, command, **more):
        done = subprocess.run([str(word) for word in command], cwd=self.folder, env={**self.environment, **more},
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise Failure(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stderr[-2000:]}")
        return done

    def run_time(self, launch, command, *preload):
        """Seconds of an unrecorded run. `launch` is everything up to the program: mpirun -np N."""
        report = self.folder / "run_time"
        report.unlink(missing_ok=True)
        self.run([*launch, "-x", "LD_PRELOAD=" + ":".join(map(str, [self.preload, *preload])), "-x", f"SIMREPLAY_RUN_TIME={report}", *command])
        return float(report.read_text().split()[-1])

    def record(self, processes, command, name, *options, launch=("mpirun",)):
        trace = self.folder / f"{name}.h5"
        self.run([self.bin / "simcapture", "--force", "-o", trace, *options, "--", *launch, "-np", processes, *command])
        return trace

    def predict(self, trace, machine, *options):
        summary = self.folder / "summary.json"
        self.run(["mpirun", "-np", 1, self.bin / "simreplay", trace, "--machine", machine, "--json", summary, "--force", *options])
        result = json.loads(summary.read_text())
        return result["predicted_ps"] * 1e-12, result["recorded_ps"] * 1e-12

    def pattern(self, name, size, repetitions):
        return [self.bin / "programs" / "exchange_patterns", name, "--bytes", size, "--repetitions", repetitions]


def spread(values):
    return (max(values) - min(values)) / statistics.median(values)


def shown(seconds):
    return f"{seconds:.3f} s" if seconds >= 1 else f"{seconds * 1e3:.2f} ms"


def percent(share):
    return f"{100 * share:+.1f} %"


class Table:
    def __init__(self, title, columns):
        self.title, self.columns, self.rows, self.remarks = title, columns, [], []
        self.outside, self.noisy = [], []

    def add(self, *cells):
        self.rows.append(cells)
        print("  " + "  ".join(cells), flush=True)

    def judge(self, what, error, bound, spread_of_runs):
        """Within the bound or the spread; a spread that would excuse anything is no answer."""
        if spread_of_runs > TOO_NOISY:
            self.noisy.append(f"{what}: runs spread by {100 * spread_of_runs:.0f} %")
            return "too noisy"
        if abs(error) <= max(bound, spread_of_runs):
            return "yes"
        self.outside.append(f"{what}: {percent(error)}, bound {100 * max(bound, spread_of_runs):.1f} %")
        return "**no**"

    def markdown(self):
        lines = [f"### {self.title}", "", "| " + " | ".join(self.columns) + " |", "|" + "---|" * len(self.columns)]
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        return "\n".join(lines + [""] + self.remarks) + "\n"


def host_remark():
    when = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    return f"{when}, {os.cpu_count()} processors, {platform.system()} {platform.release()}, load at the end {os.getloadavg()[0]:.1f}."


# --- self: the run that was recorded -----------------------------------------------------------------------


def self_programs(bench, bounded):
    """(name, command) of what runs on two processes; large programs as far as they are installed."""
    programs = bench.bin / "programs"
    all_programs = [("heat2d", [programs / "heat2d", "--size", 1000 if bounded else 1500, "--steps", 400 if bounded else 600])]
    repetitions = {"pingpong": 400_000, "halo": 100_000, "ring": 150_000, "alltoall": 200_000, "allreduce": 60_000, "gather": 400_000}
    for pattern, size in PATTERNS[:2] if bounded else PATTERNS:
        count = repetitions[pattern] // (2 if bounded else 1)
        all_programs.append((f"{pattern} of {size} B", bench.pattern(pattern, size, count)))
    if bounded:
        return all_programs
    melt = pathlib.Path("/usr/share/lammps/examples/melt/in.melt")
    if shutil.which("lmp") and melt.exists():
        text = melt.read_text().replace("run\t\t250", "run 1500").replace("run             250", "run 1500")
        (bench.folder / "in.melt").write_text(text)
        all_programs.append(("LAMMPS, melt", ["lmp", "-in", "in.melt", "-log", "none"]))
    hpcc = pathlib.Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
    if shutil.which("hpcc") and hpcc.exists():
        shutil.copy(hpcc, bench.folder / "hpccinf.txt")
        all_programs.append(("HPCC", ["hpcc"]))
    return all_programs


def check_self(bench, bounded):
    table = Table("Self-replay, 2 processes", ["program", "unrecorded", "spread", "recorded", "predicted", "spread", "error", "within"])
    machine = bench.folder / "here.ini"
    # Bound: two ranks that the system puts on one processor now and then would be two machines.
    if os.cpu_count() >= 2:
        bench.environment["OMPI_MCA_hwloc_base_binding_policy"] = "core"
    launch = ["mpirun", "-np", 2]
    done = bench.run([*launch, bench.bin / "simcalibrate", "-o", machine, "--force", *(["--quick"] if bounded else [])])
    noisy = [line for line in done.stderr.splitlines() if "half round trip" in line]
    runs, recordings = (5, 2) if bounded else (7, 3)
    for name, command in self_programs(bench, bounded):
        real, predicted, recorded = [], [], []
        for i in range(runs):  # in turn, so that a slow minute of the computer meets both
            real.append(bench.run_time(launch, command))
            if i < recordings:
                forecast, time = bench.predict(bench.record(2, command, "trace"), machine)
                predicted.append(forecast)
                recorded.append(time)
        error = statistics.median(predicted) / statistics.median(real) - 1
        table.add(name, shown(statistics.median(real)), f"{100 * spread(real):.1f} %", shown(statistics.median(recorded)),
                  shown(statistics.median(predicted)), f"{100 * spread(predicted):.1f} %", percent(error),
                  table.judge(name, error, SELF_BOUND, spread(real)))
    table.remarks += [host_remark(), f"{runs} unrecorded and {recordings} recorded runs of each, in turn; medians. "
                      "Within: 2 % or the spread of the unrecorded runs, which may not be above 10 %."]
    if noisy:
        table.remarks.append("The calibration was noisy: " + "; ".join(line.split("noisy: ")[1] for line in noisy) + ".")
    return table


# --- virtual: more processes than processors -------------------------------------------------------------

VIRTUAL_BOUND = 0.05


def check_virtual(bench, _bounded):
    """What was recorded on one processor, by its time, against the same program on two."""
    table = Table("Virtual processors, recorded on one processor", ["program", "processes", "there", "spread", "predicted", "spread", "error", "within"])
    if os.cpu_count() < 2:
        raise Failure("virtual: two processors are needed")
    runs, recordings = 7, 5
    on_one = ["taskset", "-c", "0", "mpirun"]
    bound = {"OMPI_MCA_hwloc_base_binding_policy": "core"}
    machine = bench.folder / "here.ini"
    bench.run(["mpirun", "-np", 2, bench.bin / "simcalibrate", "-o", machine, "--force"], **bound)
    for name, command in [p for p in self_programs(bench, False) if p[0] in ("heat2d", "LAMMPS, melt")]:
        def forecast(processes, launch):
            bench.environment.update({**MPI_ENVIRONMENT, "OMPI_MCA_mpi_yield_when_idle": "1"})
            trace = bench.record(processes, command, "trace", "--clock", "cpu", launch=launch)
            del bench.environment["OMPI_MCA_mpi_yield_when_idle"]
            return bench.predict(trace, machine)[0]

        real, predicted = [], []
        for i in range(runs):  # in turn, so that a slow minute of the computer meets both
            bench.environment.update(bound)
            real.append(bench.run_time(["mpirun", "-np", 2], command))
            if i < recordings:
                predicted.append(forecast(2, on_one))
        # As many as this computer cannot run at a time: there is no real run, but one processor must say what two say.
        four = [forecast(4, launch) for launch in (on_one, ["mpirun"])]
        error = statistics.median(predicted) / statistics.median(real) - 1
        table.add(name, "2", shown(statistics.median(real)), f"{100 * spread(real):.1f} %", shown(statistics.median(predicted)),
                  f"{100 * spread(predicted):.1f} %", percent(error), table.judge(name, error, VIRTUAL_BOUND, spread(real)))
        table.add(name + ", recorded on two", "4", shown(four[1]), "", shown(four[0]), "", percent(four[0] / four[1] - 1), "")
    table.remarks += [host_remark(), f"{runs} unrecorded runs of two processes on two processors, {recordings} recordings of both on one with "
                      "`--clock cpu`; medians. Within: 5 % or the spread. Of four processes the prediction from one processor is "
                      "compared with that from two."]
    return table


# --- network: hosts that this computer is not --------------------------------------------------------------

# Rate in bit/s, delay in us, numbers of hosts.
NETWORKS = [(10e6, 5000, (4, 8)), (100e6, 500, (2, 4))]


class Hosts:
    def __init__(self, bench, count, rate, delay_us):
        self.script = pathlib.Path("scripts/testbed/hosts.sh").resolve()
        self.bench, self.count, self.rate, self.delay_us = bench, count, rate, delay_us
        self.patience = bench.bin / "tests" / "libsleep_in_yield.so"
        bench.environment["NETWORK_SWITCH"] = str(bench.bin / "tests" / "network_switch")

    def __enter__(self):
        # Not captured: the switch stays, and would keep the pipes open.
        subprocess.run([self.script, "up", str(self.count), str(self.rate), str(self.delay_us)], env=self.bench.environment,
                       stdout=subprocess.DEVNULL, check=True)
        return self

    def __exit__(self, *_):
        subprocess.run([self.script, "down"], env=self.bench.environment, check=False)

    def launch(self, processes):
        return [self.script, "run", "mpirun", "-np", processes]


def machine_of_settings(path, processes, rate, delay_us):
    """What rate and delay alone say. Of a full frame of 9014 bytes 8948 are payload; a small one has 66 of headers."""
    header_us = 66 * 8e6 / rate
    per_byte_ps = 9014 / 8948 * 8e12 / rate
    hops = math.ceil(math.log2(processes))
    path.write_text(f"[network]\nlatency = {delay_us + header_us:.3f}us\nper-byte = {per_byte_ps:.1f}ps/B\n"
                    f"gap = {header_us:.3f}us\ngap-per-byte = {per_byte_ps:.1f}ps/B\n"
                    f"[barrier]\noverhead = {hops * (delay_us + header_us):.3f}us\n")


def check_network(bench, _bounded):
    columns = ["network", "hosts", "pattern", "there", "spread", "calibrated there", "error", "rate and delay", "error", "within"]
    table = Table("Another network: recorded here, predicted there", columns)
    runs = 5
    for rate, delay_us, counts in NETWORKS:
        for count in counts:
            with Hosts(bench, count, rate, delay_us) as hosts:
                calibrated, settings = bench.folder / f"there{count}.ini", bench.folder / f"set{count}.ini"
                # The median: the hosts share processors, and disturb each other in the programs as they do here.
                bench.run([*hosts.launch(count), bench.bin / "simcalibrate", "-o", calibrated, "--force", "--quantile", 0.5, "--all-pairs"])
                machine_of_settings(settings, count, rate, delay_us)
                for pattern, size in PATTERNS:
                    network_row(bench, table, hosts, pattern, size, calibrated, settings, runs)
    table.remarks += [host_remark(), f"{runs} runs there, medians; the traces are recorded on this computer alone, with all its "
                      "processes on its processors. Within: 5 % or the spread, of the calibrated machine; a spread above 10 % is too noisy."]
    return table


def network_row(bench, table, hosts, pattern, size, calibrated, settings, runs):
    steps = {"pingpong": 2, "alltoall": hosts.count - 1, "allreduce": 2 * math.log2(hosts.count), "gather": 1}.get(pattern, 1)
    step_s = hosts.delay_us * 1e-6 + size * 8 / hosts.rate
    command = bench.pattern(pattern, size, max(int(1.0 / step_s / steps), 5))
    real = [bench.run_time(hosts.launch(hosts.count), command, hosts.patience) for _ in range(runs)]
    trace = bench.record(hosts.count, command, "trace")
    (there, _), (simple, _) = bench.predict(trace, calibrated), bench.predict(trace, settings)
    median = statistics.median(real)
    errors = there / median - 1, simple / median - 1
    name = f"{hosts.rate / 1e6:.0f} Mbit/s + {hosts.delay_us / 1e3:g} ms"
    table.add(name, str(hosts.count), f"{pattern} of {size} B", shown(median), f"{100 * spread(real):.1f} %", shown(there),
              percent(errors[0]), shown(simple), percent(errors[1]),
              table.judge(f"{name}, {hosts.count} hosts, {pattern}", errors[0], NETWORK_BOUND, spread(real)))


# --- ethernet: hosts that compete on a medium ------------------------------------------------------------------

# Rate in bit/s, bytes of a message of size 1.
MEDIA = [(10e6, 500_000), (100e6, 5_000_000)]
# Hosts, and messages: start in times that a message of size 1 takes alone, source, destination, size. Who receives later than
# others send does not send itself: long messages ask first, and the answer would wait behind the receiver's own bytes.
COMPETITIONS = {
    "one": (4, [(0, 0, 1, 1)]),
    "two, to two": (4, [(0, 0, 2, 1), (0, 1, 3, 1)]),
    "three, to one": (4, [(0, 0, 3, 1), (0, 1, 3, 1), (0, 2, 3, 1)]),
    "two, of different starts and sizes": (4, [(0, 0, 3, 1), (0.5, 1, 2, 0.5)]),
    "three, of different starts and sizes": (4, [(0, 0, 3, 1), (0.5, 1, 3, 0.25), (0.75, 2, 3, 1)]),
    "four, in a circle": (4, [(0, i, (i + 1) % 4, 0.5) for i in range(4)]),
    "seven, of different sizes, to one": (8, [(0, i, 7, 0.1 * (i + 1)) for i in range(7)]),
}


class Medium(Hosts):
    def __init__(self, bench, count, rate):
        super().__init__(bench, count, rate, "shared")

    def transfer_times(self, messages):
        """Seconds of each message, there."""
        done = self.bench.run([*self.launch(self.count), self.bench.bin / "programs" / "competing_senders", *messages])
        return [float(line) * 1e-6 for line in done.stdout.split()]


def times_in_model(bench, hosts, messages, settings):
    command = [bench.bin / "tests" / "network_times", hosts, "network.model=shared-ethernet"]
    command += [f"shared-ethernet.{key}={value}" for key, value in settings.items()]
    done = subprocess.run(list(map(str, command)), input="\n".join(messages), env=bench.environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(done.stderr)
    return [float(line) * 1e-6 for line in done.stdout.split()]


def check_ethernet(bench, _bounded):
    columns = ["medium", "senders", "there", "spread", "shared-ethernet", "error", "within"]
    table = Table("Shared Ethernet: transfer times of messages that compete", columns)
    runs = 5
    for rate, size in MEDIA:
        for count in sorted({hosts for hosts, _ in COMPETITIONS.values()}):
            with Medium(bench, count, rate) as medium:
                start = statistics.median(medium.transfer_times(["0:0:1:1"])[0] for _ in range(runs))
                # A frame of 1514 bytes has 1448 of payload; every second one is acknowledged by a frame of 66.
                settings = {"start": f"{start * 1e6:.0f}us", "per-byte": f"{rate / 1e6:g}Mb/s", "mtu": 1448, "frame-overhead": 66 + 66 // 2}
                for name, (hosts, relative) in COMPETITIONS.items():
                    if hosts == count:
                        messages = [f"{start * size * 8e3 / rate:.0f}:{source}:{destination}:{part * size:.0f}" for start, source, destination, part in relative]
                        competition_row(bench, table, medium, name, messages, settings, runs)
    table.remarks += [host_remark(), f"{runs} runs there, medians. t_s: a message of one byte there; all else is written down from the rate. The error is that of "
                      "the message that is predicted worst, the spread that of the message that spreads most. Within: 5 % or the spread."]
    return table


def competition_row(bench, table, medium, name, messages, settings, runs):
    real = list(zip(*(medium.transfer_times(messages) for _ in range(runs))))
    there = [statistics.median(times) for times in real]
    predicted = times_in_model(bench, medium.count, messages, settings)
    error = max((p / t - 1 for p, t in zip(predicted, there)), key=abs)
    widest = max(map(spread, real))
    title = f"{medium.rate / 1e6:g} Mbit/s"
    table.add(title, name, " / ".join(map(shown, there)), f"{100 * widest:.1f} %", " / ".join(map(shown, predicted)), percent(error),
              table.judge(f"{title}, {name}", error, NETWORK_BOUND, widest))


# --- the whole ---------------------------------------------------------------------------------------------


def write_into(path, part, text):
    """Replaces what stands between the marks of this part."""
    begin, end = MARK_BEGIN.format(part), MARK_END.format(part)
    page = path.read_text()
    before, rest = page.split(begin, 1)
    path.write_text(before + begin + text + end + rest.split(end, 1)[1])


CHECKS = {"self": check_self, "virtual": check_virtual, "network": check_network, "ethernet": check_ethernet}


def main():
    parser = argparse.ArgumentParser(prog="validate.sh")
    parser.add_argument("part", nargs="?", default="all", choices=["all", *CHECKS])
    parser.add_argument("--bounded", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--report-only", action="store_true")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    options = parser.parse_args()

    if options.bounded and os.getloadavg()[0] > os.cpu_count() / 2 and not options.report_only:
        print(f"skipped: the load of this computer is {os.getloadavg()[0]:.1f}")
        return SKIPPED
    outside, noisy = [], []
    with tempfile.TemporaryDirectory(prefix="simreplay-validate-") as folder:
        bench = Bench(options.build.resolve(), pathlib.Path(folder))
        parts = ["self"] if options.bounded else list(CHECKS) if options.part == "all" else [options.part]
        for part in parts:
            print(part, flush=True)
            bench.environment.update(MPI_ENVIRONMENT)
            table = CHECKS[part](bench, options.bounded)
            print("\n" + table.markdown())
            outside += table.outside
            noisy += table.noisy
            if options.write:
                write_into(pathlib.Path("docs/validation.md"), part, table.markdown())
    for line in outside:
        print("outside: " + line, file=sys.stderr)
    for line in noisy:
        print("too noisy: " + line, file=sys.stderr)
    if options.report_only:
        return 0
    return 1 if outside else SKIPPED if noisy else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        sys.exit(f"validate: {failure}")
