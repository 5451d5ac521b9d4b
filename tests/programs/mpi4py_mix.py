"""A Python program with a bit of everything: pickled objects, persistent requests, non-blocking collectives,
one-sided communication, MPI-IO, split communicators. Any number of processes from 2.

  mpirun -np 3 python3 mpi4py_mix.py [FOLDER]

Its file lies in FOLDER (default: the current one) while it runs. Process 0 prints what each part yields:
the same in every run.
"""

import array
import os
import sys

from mpi4py import MPI

ROUNDS = 20

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
right, left = (rank + 1) % size, (rank - 1) % size


def say(part, value):
    """`value` of every process, in order of ranks."""
    values = world.gather(value)
    if rank == 0:
        print(f"{part}: {values}", flush=True)


def numbers(count, first=0.0):
    return array.array("d", (first + i for i in range(count)))


def pickled():
    request = world.isend({"from": rank, "to": right, "words": ["a"] * (1000 * rank)}, dest=right, tag=1)
    came = world.recv(source=MPI.ANY_SOURCE, tag=1)
    request.wait()
    plan = world.bcast({"steps": list(range(50))} if rank == size - 1 else None, root=size - 1)
    parts = world.scatter([[i] * i for i in range(size)] if rank == 0 else None)
    say("pickled", (came["from"], len(came["words"]), sum(plan["steps"]), len(parts)))


def persistent():
    sent, received = numbers(256), numbers(256)
    requests = [world.Recv_init(received, source=left, tag=2), world.Send_init(sent, dest=right, tag=2)]
    total = 0.0
    for step in range(ROUNDS):
        sent[0] = rank + step
        MPI.Prequest.Startall(requests)
        MPI.Request.Waitall(requests)
        total += received[0]
    requests[0].Start()  # once more, completed in another way
    requests[1].Start()
    while not MPI.Request.Testall(requests):
        pass
    for request in requests:
        request.Free()
    say("persistent", total)


def nonblocking_collectives():
    mine, total = numbers(128, rank), numbers(128)
    for _ in range(ROUNDS):
        request = world.Iallreduce(mine, total, op=MPI.SUM)
        checksum = sum(mine)
        request.Wait()
    first = numbers(16, rank)
    requests = [world.Ibcast(first, root=1), world.Ibarrier()]
    MPI.Request.Waitall(requests)
    say("non-blocking collectives", (checksum, total[1], first[0]))


def one_sided():
    window = MPI.Win.Allocate(64 * 8, disp_unit=8, comm=world)
    memory = memoryview(window.tomemory()).cast("d")
    for i in range(64):
        memory[i] = 0.0
    window.Fence()
    window.Put(numbers(8, 10 * rank), right, target=0)
    window.Fence()
    put = memory[0]
    one = numbers(1, 1.0)
    for target in range(size):
        window.Lock(target, MPI.LOCK_SHARED)
        window.Accumulate(one, target, target=32, op=MPI.SUM)
        window.Flush(target)
        window.Unlock(target)
    world.Barrier()
    count, last = numbers(1), numbers(8)
    window.Lock(left, MPI.LOCK_SHARED)
    window.Get(count, left, target=32)
    window.Get(last, left, target=0)
    window.Unlock(left)
    world.Barrier()
    window.Free()
    say("one-sided", (put, count[0], last[7]))


def files(folder):
    path = os.path.join(folder, "mpi4py_mix.bin")
    file = MPI.File.Open(world, path, MPI.MODE_CREATE | MPI.MODE_RDWR)
    mine, theirs = numbers(512, 1000.0 * rank), numbers(512)
    file.Write_at_all(rank * 512 * 8, mine)
    file.Sync()
    world.Barrier()
    file.Read_at(left * 512 * 8, theirs)
    length = file.Get_size()
    file.Close()
    if rank == 0:
        MPI.File.Delete(path)
    say("files", (theirs[0], theirs[511], length))


def split():
    half = world.Split(color=rank % 2, key=-rank)
    members = half.allgather(rank)
    again = half.Dup()
    lowest = again.allreduce(rank, op=MPI.MIN)
    again.Free()
    half.Free()
    say("split", (members, lowest))


pickled()
persistent()
nonblocking_collectives()
one_sided()
files(sys.argv[1] if len(sys.argv) > 1 else ".")
split()
