# However a process ends, its calls up to there are in the trace, and the status is that of the bare run.
source "$SIMREPLAY_TESTS/support/capture.sh"

for how in kill segv abort mpi-abort exit _exit return; do
  echo "== $how"
  bare=0
  "$MPIRUN" -np 3 "$programs/dies" "$how" >/dev/null 2>&1 || bare=$?
  expect_status "$bare" "$simcapture" --force -o trace.h5 -- "$MPIRUN" -np 3 "$programs/dies" "$how"
  expect_text err "did not reach the end of MPI_Finalize"
  expect_text err "trace.h5: 3 processes"
  expect_no_spools
  "$dump" trace.h5 | sed -n '/^process 1/,/^$/p' >process
  expect_text process "process 1, incomplete"
  expect_text process "MPI_Send to nobody tag 123"  # its last call
done

echo "== a process that left nothing behind, and one whose spool is damaged"
cat >run.sh <<'RUN'
"$1" -np 4 "$2" --size 64 --steps 2000 || exit
cd "$SIMCAPTURE_DIR"
rm 000002-*.spool
truncate -s 300000 000003-*.spool
RUN
expect_status 0 "$simcapture" -o damaged.h5 -- bash run.sh "$MPIRUN" "$programs/heat2d"
expect_text err "process 2 left nothing behind"
expect_text err "process 3: "
expect_text err "is damaged; its first"
expect_text err "processes 2, 3 did not reach"
"$dump" damaged.h5 >damaged.txt
expect_text damaged.txt "process 0"
expect_text damaged.txt "process 3, incomplete"
[ "$(sed -n '/^process 2/,/^$/p' damaged.txt | wc -l)" -eq 2 ] || fail "calls of process 2"
