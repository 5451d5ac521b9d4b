"""Whole replays: against the ceiling, by numbers of processes and of ranks, and their memory."""

import math

from measure import Failure, Row, plausible, ratio

MIB = 2**20
HALO_CALLS = 13  # of a process in a step: 6 Irecv, 6 Isend, Waitall
HALO_MESSAGES = 6
MOLECULAR_CALLS = 36.1  # 12 messages of Irecv, Send, Wait; every tenth step an Allreduce


def halo_calls(processes, steps):
    return processes * (HALO_CALLS * steps + 2)


def rates(runs, things):
    return plausible([things / run.seconds for run in runs], f"{things:,.0f} calls or messages")


def ceiling(bench):
    """one rank against a bare loop that only adds times"""
    rows = []
    for grid, steps, ceiling_steps in (((8, 8, 16), 770, 1000), ((4, 4, 4), 12_500, 20_000)):
        processes = math.prod(grid)
        steps, ceiling_steps = (bench.size(full, full // 20) for full in (steps, ceiling_steps))
        trace = bench.trace("halo3d", processes, steps, bytes=4096)
        found = bench.in_turn({
            "ceiling": lambda: bench.ceiling(*grid, ceiling_steps),
            "replay": lambda: bench.replay(trace),
        })
        replayed = rates(found["replay"], halo_calls(processes, steps))
        share = ratio(replayed, found["ceiling"])
        if share > 1:
            raise Failure(f"the replay is {share:.1f} times as fast as the ceiling")
        rows += [Row(f"ceiling, {processes:,} processes", "calls/s", found["ceiling"]),
                 Row(f"replay, {processes:,} processes", "calls/s", replayed, share, "ceiling")]
        bench.discard(trace)
    return rows


def processes(bench):
    """rates by number of processes, on one rank; collectives by message"""
    return by_number(bench) + collectives(bench)


def by_number(bench):
    """Each long and short: what comes between is replayed without the start of the processes."""
    cases = bench.size(((64, 12_500, 3_000), (1024, 770, 190), (16_384, 48, 12), (262_144, 3, 1)),
                       ((64, 250), (1024, 15), (4096, 3)))
    traces = {(p, s): bench.trace("halo3d", p, s) for p, *lengths in cases for s in lengths}
    found = bench.in_turn({key: lambda trace=trace: bench.replay(trace) for key, trace in traces.items()})
    bench.discard(*traces.values())
    whole, further = [], []
    for p, steps, *few in cases:
        whole.append(Row(f"halo, {p:,} processes", "calls/s", rates(found[p, steps], halo_calls(p, steps))))
        further += [row for short in few if (row := further_steps(p, steps, short, found))]
    rows = []
    for kind, series in (("all calls", whole), ("further calls", further)):
        for row in series:
            row.ratio, row.against = ratio(row.values, series[0].values), "the first"
        rows += series
        if series:
            rows.append(smallest_over_largest(kind, series))
    return rows


def further_steps(p, steps, few, found):
    more = [long.seconds - short.seconds for long, short in zip(found[p, steps], found[p, few])]
    if min(more) <= 0:
        print(f"  {p:,} processes: the further steps are lost in the spread of the first ones")
        return None
    calls = halo_calls(p, steps) - halo_calls(p, few)
    values = plausible([calls / seconds for seconds in more], f"{p:,} processes, further steps")
    return Row(f"{p:,} processes, steps after the first {few:,}", "calls/s", values)


def smallest_over_largest(what, rows):
    rounds = list(zip(*(row.values for row in rows)))
    return Row(f"smallest rate over largest, {what}", "", [min(values) / max(values) for values in rounds])


def collectives(bench):
    """Messages are those that the algorithms send: pairwise p(p-1), recursive doubling p lg p, a reduction and a
    broadcast 2(p-1). Rounds are exchanges of one process in recursive doubling, p lg p, whatever the algorithm is.
    """
    p, steps = bench.size((512, 40), (64, 40))
    halo_steps = bench.size(3_300, 200)
    q, reductions = bench.size((1024, 1_000), (64, 200))
    halo, alltoall = bench.trace("halo3d", p, halo_steps), bench.trace("alltoall", p, steps, bytes=1024)
    # The default rules take recursive doubling for 4 KiB, reduction and broadcast for 8 bytes among many.
    large = bench.trace("allreduce", q, reductions, bytes=4096)
    small = bench.trace("allreduce", q, 5 * reductions, bytes=8)
    found = bench.in_turn({
        "halo": lambda: bench.replay(halo),
        "alltoall": lambda: bench.replay(alltoall, collectives_alltoall="pairwise"),
        "allreduce of 4 KiB": lambda: bench.replay(large),
        "allreduce of 8 B": lambda: bench.replay(small),
    })
    bench.discard(halo, alltoall, large, small)
    halo_rates = rates(found["halo"], HALO_MESSAGES * p * halo_steps)
    rows = [Row(f"halo, {p} processes", "messages/s", halo_rates)]

    def add(what, unit, things):
        values = rates(found[what.split(",")[0]], things)
        rows.append(Row(what, unit, values, ratio(values, halo_rates), "messages of halo"))

    rounds = q * round(math.log2(q))
    add(f"alltoall, {p} processes", "messages/s", p * (p - 1) * steps)
    add(f"allreduce of 4 KiB, {q:,} processes", "rounds/s", rounds * reductions)
    add(f"allreduce of 8 B, {q:,} processes", "rounds/s", rounds * 5 * reductions)
    add(f"allreduce of 8 B, {q:,} processes", "messages/s", 2 * (q - 1) * 5 * reductions)
    return rows


def ranks(bench):
    """the same trace on 1, 2, 4 and 8 ranks; more ranks than processors share them"""
    rows = []
    numbers = bench.size((1, 2, 4, 8), (1, 2))
    for pattern, steps, calls in (("halo3d", 7_500, HALO_CALLS), ("molecular", 2_700, MOLECULAR_CALLS)):
        steps = bench.size(steps, steps // 50)
        trace = bench.trace(pattern, 512, steps)
        found = bench.in_turn({f"{pattern} on {n}": lambda n=n: bench.replay(trace, n) for n in numbers})
        alone = rates(found[f"{pattern} on 1"], 512 * calls * steps)
        for n in numbers:
            values = rates(found[f"{pattern} on {n}"], 512 * calls * steps)
            rows.append(Row(f"{pattern}, 512 processes, -np {n}", "calls/s", values, ratio(values, alone), "-np 1"))
        bench.discard(trace)
    return rows


def sweep(bench):
    """many machines in one pass, against single replays"""
    processes, steps = bench.size((1024, 770), (64, 200))
    trace = bench.trace("halo3d", processes, steps)
    latencies, speeds = "network.latency=1us:16us:16", "cpu.speedup=1:4:16"
    found = bench.in_turn({
        "one machine": lambda: bench.replay(trace).seconds,
        "4 latencies": lambda: bench.sweep(trace, "network.latency=1us:4us:4"),
        "16 latencies": lambda: bench.sweep(trace, latencies),
        "16 speeds": lambda: bench.sweep(trace, speeds),
        "8 latencies by 8 speeds": lambda: bench.sweep(trace, "network.latency=1us:8us:8", "cpu.speedup=1:4:8"),
    })
    bench.discard(trace)
    single = found["one machine"]
    return [Row(name, "s", values, ratio(values, single), "one machine") for name, values in found.items()]


def memory(bench):
    """peak memory of two ranks by virtual processor, and by length of the trace"""
    rows = []
    before = None  # processes, bytes
    for p in bench.size((65_536, 262_144, 1_048_576), (4_096,)):
        trace = bench.trace("halo3d", p, 3)
        runs = bench.in_turn({f"{p} processes": lambda: bench.replay(trace, 2)})[f"{p} processes"]
        peaks = [sum(run.rss) for run in runs]
        rows.append(Row(f"peak of 2 ranks, {p:,} processes", "MiB", [peak / MIB for peak in peaks]))
        rows.append(Row("by virtual processor", "B", [peak / p for peak in peaks]))
        if before:
            growth = [(peak - before[1]) / (p - before[0]) for peak in peaks]
            rows.append(Row(f"by further processor above {before[0]:,}", "B", growth))
        before = p, min(peaks)
        bench.discard(trace)
    return rows + memory_of_long_traces(bench)


def memory_of_long_traces(bench):
    """The longer one has many times the calls that are read ahead."""
    lengths = bench.size((750, 7_500), (400, 800))
    traces = {steps: bench.trace("halo3d", 512, steps) for steps in lengths}
    found = bench.in_turn({steps: lambda trace=trace: bench.replay(trace, 2) for steps, trace in traces.items()})
    short, long = ([sum(run.rss) / MIB for run in found[steps]] for steps in lengths)
    names = [f"peak of 2 ranks, trace of {traces[steps].stat().st_size / MIB:.0f} MiB" for steps in lengths]
    bench.discard(*traces.values())
    return [Row(names[0], "MiB", short), Row(names[1], "MiB", long, ratio(long, short), "the shorter trace")]
