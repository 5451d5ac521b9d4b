# A Python program: mpi4py loads the MPI library for itself alone.
source "$SIMREPLAY_TESTS/support/capture.sh"
has_mpi4py() { "$1" -c 'from mpi4py import MPI; assert "Open MPI" in MPI.Get_library_version()' 2>/dev/null; }
for python in "${PYTHON:-python3}" /usr/bin/python3 none; do
  has_mpi4py "$python" && break
done
if [ "$python" = none ]; then
  echo "no mpi4py for Open MPI"
  exit 77
fi

program=("$MPIRUN" -np 3 "$python" "$SIMREPLAY_TESTS/programs/mpi4py_mix.py")
"${program[@]}" >bare.txt
expect_status 0 "$simcapture" -o trace.h5 -- "${program[@]}"
diff bare.txt out || fail "recording changes what the program prints"
expect_text err "trace.h5: 3 processes"
"$simtrace" verify trace.h5 >/dev/null
"$MPIRUN" -np 2 "$simreplay" trace.h5 >/dev/null

# How many bytes a pickled object has is Python's choice, but not what the other parts do.
"$dump" trace.h5 | sed -n '/^process 1/,/^$/p' >trace.txt
while read -r call; do
  expect_text trace.txt "$call"
done <<'CALLS'
MPI_Startall receive from 0 tag 2 bytes 2048
MPI_Iallreduce bytes 1024 opens 0
MPI_Ibcast root 1 bytes 128
MPI_Put at 2 bytes 64
MPI_Accumulate at 0 bytes 8
MPI_Get at 0 bytes 64
MPI_File_write_at_all bytes 4096
MPI_File_read_at bytes 4096
MPI_Comm_split makes
CALLS
