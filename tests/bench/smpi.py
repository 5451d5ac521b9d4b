"""Side by side with the replay of SimGrid's SMPI: the same calls, computations and algorithms of collectives.

Each trace is replayed short and long, and messages by second are those between: (more messages) / (more processor
time). So starting up, which is another thing with each of them, is left out on both sides. Ours is the longer by
far: it would be over before it could be measured.
"""

import math
import shutil

from measure import LEAST_RATE, Failure, Row, plausible, ratio

BYTES, BLOCK, COMPUTE_NS, SEED = 8192, 1024, 100_000, 1
BYTE = 6  # number of the datatype in time-independent traces
FLOPS_PER_NS = 1  # a host of 1 Gf: what one computes is what the other takes
OPTIONS = ("--cfg=smpi/allreduce:rdb", "--cfg=smpi/alltoall:pair", "--log=root.thres:error")
OURS = {"collectives_allreduce": "recursive-doubling", "collectives_alltoall": "pairwise"}
LIMIT_S = 600
MASK = 2**64 - 1


# ---- what simtrace generate makes, as time-independent traces ----

def scramble(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def computation_ns(process, step, imbalance):
    h = scramble(scramble(scramble(SEED) ^ process) ^ step)
    return round(COMPUTE_NS * (1 + imbalance * ((h >> 11) * 2.0**-52 - 1)))


def neighbours(process, grid):
    """Down and up in each dimension of the periodic grid, whose last dimension varies fastest."""
    found, stride = [], 1
    for side in reversed(grid):
        at = process // stride % side
        found.insert(0, [process + ((at + way) % side - at) * stride for way in (-1, 1)])
        stride *= side
    return found


def halo_lines(p, grid):
    around = neighbours(p, grid)
    ways = [(d, up) for d in range(3) for up in (0, 1)]
    return ([f"{p} irecv {around[d][1 - up]} {2 * d + up} {BYTES} {BYTE}" for d, up in ways] +
            [f"{p} isend {around[d][up]} {2 * d + up} {BYTES} {BYTE}" for d, up in ways] + [f"{p} waitall"])


def ring_lines(p, grid):
    n = math.prod(grid)
    return [f"{p} sendRecv {BYTES} {(p + 1) % n} {BYTES} {(p - 1) % n} {BYTE} {BYTE}"]


class Kind:
    """A pattern: lines of one step of a process, and messages of one step of all n."""

    def __init__(self, lines, messages, block=BYTES):
        self.lines, self.messages, self.block = lines, messages, block


KINDS = {
    "halo3d": Kind(halo_lines, lambda n: 6 * n),
    "halo3d-allreduce": Kind(lambda p, grid: halo_lines(p, grid) + [f"{p} allreduce 8 0 {BYTE}"],
                             lambda n: 6 * n + n * round(math.log2(n))),
    "ring": Kind(ring_lines, lambda n: n),
    "alltoall": Kind(lambda p, grid: [f"{p} alltoall {BLOCK} {BLOCK} {BYTE} {BYTE}"], lambda n: n * (n - 1), BLOCK),
}

# Pattern, grid of processes, steps of SMPI and of ours, both short and long, imbalance of the computation if not
# 5 %. Processes in lockstep suit SMPI: it shares out links once for all messages of a moment.
FULL = (
    ("halo3d", (4, 4, 4), (20, 320), (1_000, 25_000)),
    ("halo3d", (8, 8, 4), (5, 55), (250, 6_250)),
    ("halo3d", (16, 8, 8), (2, 14), (60, 1_560)),
    ("halo3d", (16, 8, 8), (2, 14), (60, 1_560), 0),
    ("halo3d-allreduce", (4, 4, 4), (20, 220), (500, 12_500)),
    ("halo3d-allreduce", (8, 8, 4), (5, 35), (120, 3_000)),
    ("halo3d-allreduce", (16, 8, 8), (2, 8), (30, 750)),
    ("ring", (16, 16, 1), (20, 420), (2_000, 40_000)),
    ("alltoall", (16, 16, 1), (1, 4), (10, 160)),
)
QUICK = (
    ("halo3d-allreduce", (4, 4, 4), (2, 52), (100, 5_100)),
    ("alltoall", (4, 4, 4), (1, 21), (10, 610)),
)


class Smpi:
    """Traces and the platform in a folder of the bench."""

    def __init__(self, bench):
        self.bench, self.folder = bench, bench.folder / "smpi"
        self.folder.mkdir(exist_ok=True)
        self.platform = self.folder / "cluster.xml"
        self.platform.write_text(
            "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
            '<platform version="4.1">\n  <cluster id="cluster" prefix="h" suffix="" radical="0-1023" '
            f'speed="{FLOPS_PER_NS}Gf" bw="12.5GBps" lat="2us"/>\n</platform>\n')
        (self.folder / "hosts").write_text("".join(f"h{i}\n" for i in range(1024)))

    def write(self, pattern, grid, steps, imbalance):
        folder = self.folder / f"{pattern}-{math.prod(grid)}-{steps}"
        folder.mkdir()
        for p in range(math.prod(grid)):
            step = "\n".join(KINDS[pattern].lines(p, grid))
            body = "".join(f"{p} compute {computation_ns(p, s, imbalance) * FLOPS_PER_NS}\n{step}\n" for s in range(steps))
            (folder / str(p)).write_text(f"{p} init\n{body}{p} finalize\n")
        names = folder / "names"
        names.write_text("".join(f"{folder / str(p)}\n" for p in range(math.prod(grid))))
        return names

    def replay(self, names, processes):
        _, run = self.bench.run(["smpirun", "-np", processes, "-platform", self.platform, "-hostfile",
                                 self.folder / "hosts", "-replay", names, *OPTIONS], timeout=LIMIT_S)
        return run


def between(short, long, things, what, least=LEAST_RATE):
    """Things by second of processor time that the long run has more."""
    values = []
    for a, b in zip(short, long):
        more = b.ranks_cpu - a.ranks_cpu
        if more <= 0:
            raise Failure(f"{what}: {b.ranks_cpu:.3f} s for the long trace, {a.ranks_cpu:.3f} s for the short one")
        values.append(things / more)
    return plausible(values, what, least)


def smpi(bench):
    """messages by second of processor time, against SimGrid's replay"""
    if not shutil.which("smpirun"):
        print("  left out: there is no smpirun (Debian: libsimgrid-dev)")
        return
    for case in bench.size(FULL, QUICK):
        other = Smpi(bench)
        yield from compare(bench, other, *case)
        shutil.rmtree(other.folder)


def compare(bench, other, pattern, grid, their_steps, our_steps, imbalance=0.05):
    kind, n = KINDS[pattern], math.prod(grid)
    theirs = [other.write(pattern, grid, steps, imbalance) for steps in their_steps]
    ours = [bench.trace(pattern, n, steps, bytes=kind.block, imbalance=imbalance)
            for steps in (*our_steps, their_steps[1])]
    name = f"{pattern}, {n:,} processes" + ("" if imbalance else " in lockstep")
    found = bench.in_turn({
        f"{name}, SMPI, short": lambda: other.replay(theirs[0], n),
        f"{name}, short": lambda: bench.replay(ours[0], **OURS),
        f"{name}, SMPI, long": lambda: other.replay(theirs[1], n),
        f"{name}, long": lambda: bench.replay(ours[1], **OURS),
        f"{name}, as long as SMPI": lambda: bench.replay(ours[2], **OURS),
    })
    their_short, our_short, their_long, our_long, our_same = found.values()
    messages = kind.messages(n)
    slow = between(their_short, their_long, messages * (their_steps[1] - their_steps[0]), f"{name}, SMPI", 10)
    fast = between(our_short, our_long, messages * (our_steps[1] - our_steps[0]), name)
    bench.discard(*ours)
    whole = ratio([run.cpu for run in their_long], [run.cpu for run in our_same])
    return [Row(f"{name}, SMPI", "messages/s", slow),
            Row(f"{name}, simreplay", "messages/s", fast, ratio(fast, slow), "SMPI"),
            Row(f"{name}, command of {their_steps[1]} steps", "s", [run.cpu for run in our_same], whole,
                "the speed of SMPI")]
