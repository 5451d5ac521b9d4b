# Programs of another MPI library than that of the simulator leave the same traces.
#
#   capture_mpich.sh COMPILER          its C compiler, such as /usr/bin/mpicc.mpich
source "$SIMREPLAY_TESTS/support/capture.sh"
use_mpi "$1"
skip_unless "$mpicxx"

build() {
  "$mpicxx" -std=c++20 -O1 -DMPICH_SKIP_MPICXX -I "$SIMREPLAY_TESTS/.." "$SIMREPLAY_TESTS/programs/$1.cpp" -o "$1"
}

same_trace() { # PROGRAM PROCESSES [ARGUMENT...]
  local program=$1 processes=$2
  shift 2
  echo "== $program"
  build "$program"
  expect_golden "$program" "$launcher" -n "$processes" "./$program" "$@"
  expect_text messages.txt "simcapture: trace.h5: $processes processes"
}

same_trace point_to_point 3
same_trace collectives 4
same_trace requests 2
same_trace persistent 2
same_trace nonblocking 4
same_trace neighbors 4
same_trace windows 3
same_trace communicators 6
same_trace files 2 file
same_trace large_counts 2 file

echo "== several jobs in one command are told apart; what is preloaded already stays"
build requests
other=$(ldd requests | awk '/libm\.so/ { print $3 }')
expect_status 0 "$simcapture" --mpi mpich -o jobs.h5 -- bash -c \
  "'$launcher' -n 2 ./requests; '$launcher' -n 3 env LD_PRELOAD=\$LD_PRELOAD:$other ./point_to_point"
expect_text err "2 MPI programs were run"
expect_text err "jobs.h5: 2 processes"
expect_text err "jobs.2.h5: 3 processes"
expect_status 0 "$simcapture" --force -o jobs.h5 -- \
  "$launcher" -genv LD_PRELOAD "$other" -n 1 bash -c 'echo "$LD_PRELOAD"; ./requests' : -n 1 ./requests
expect_text out "libsimcapture-mpich.so:$other"
expect_text err "jobs.h5: 2 processes"

echo "== the kind of MPI library: found without a launcher, and said where it was guessed wrong"
cat >tiny.c <<'C'
#include <mpi.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Finalize();
}
C
"$mpicc" tiny.c -o tiny
expect_status 0 "$simcapture" -o alone.h5 -- ./tiny
expect_text err "alone.h5: 1 process,"
printf '#!/bin/sh\nshift\nexec "%s" -n "$@"\n' "$launcher" >srun
chmod +x srun
expect_status 0 "$simcapture" -o srun.h5 -- ./srun -n 2 ./tiny
expect_text err "srun.h5: 2 processes"
expect_status 1 "$simcapture" -o none.h5 -- bash -c "'$launcher' -n 2 ./tiny"
expect_text err "this recorder is for openmpi, but the program uses mpich"
expect_status 1 "$simcapture" --mpi mpich -o none.h5 -- "$MPIRUN" -np 2 "$programs/requests"
expect_text err "this recorder is for mpich, but the program uses openmpi"
expect_status 1 "$simcapture" --mpi lam -o none.h5 -- ./tiny
expect_text err "expected --mpi openmpi or mpich, found 'lam'"
[ ! -e none.h5 ] || fail "a trace of nothing"

echo "== functions of MPI 4 that are not recorded say so, once in each process"
cat >partitioned.c <<'C'
#include <mpi.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, data[2] = {1, 2}, in = -1;
  MPI_Request request;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 3; i++) {
    MPI_Isendrecv(data, 1, MPI_INT, 1 - rank, 1, &in, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  return MPI_Finalize();
}
C
"$mpicc" partitioned.c -o partitioned
expect_status 0 "$simcapture" -o mpi4.h5 -- "$launcher" -n 2 ./partitioned
[ "$(grep -c 'simcapture: messages of MPI_Isendrecv are not recorded' err)" -eq 2 ] || fail "not told: $(cat err)"
[ "$(grep -c 'not recorded' err)" -eq 2 ] || fail "told twice: $(cat err)"
"$dump" mpi4.h5 --local >mpi4.txt
expect_text mpi4.txt "(other)"
