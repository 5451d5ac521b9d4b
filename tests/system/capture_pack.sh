# Spools are packed later, elsewhere, by any number of ranks: the trace is the same.
source "$SIMREPLAY_TESTS/support/capture.sh"
PATH=$SIMREPLAY_BIN:$PATH

# same_trace A B: everything that is in the files, but for how it is stored.
same_trace() {
  simtrace diff "$1" "$2" >difference || fail "$1 and $2 differ: $(cat difference)"
  ! command -v h5diff >/dev/null || h5diff "$1" "$2" >difference || fail "$1 and $2 differ: $(cat difference)"
}

echo "== packed at once, later, and by several ranks"
"$MPIRUN" -np 6 "$programs/communicators" | sort >bare.txt
expect_status 0 "$simcapture" --keep-spool -o whole.h5 -- "$MPIRUN" -np 6 "$programs/communicators"
diff bare.txt <(sort out) || fail "recording changes what the program prints"
mv whole.h5.spool-* spools
run=$(basename spools/*.command .command)
for ranks in 1 2 3 4; do
  expect_status 0 "$MPIRUN" -np $ranks simtrace pack spools -o packed.$ranks.h5
  expect_text err "simtrace: packed.$ranks.h5: 6 processes"
  same_trace whole.h5 packed.$ranks.h5
done
expect_status 0 simtrace verify packed.3.h5
cmp packed.2.h5 packed.4.h5 || fail "2 and 4 ranks write other bits"
simtrace info packed.3.h5 | grep -qF "$MPIRUN -np 6 $programs/communicators" || fail "the command is lost"

echo "== --no-pack says how to, and --command is for spools that have lost theirs"
expect_status 0 "$simcapture" --no-pack -o later.h5 -- "$MPIRUN" -np 2 "$programs/requests"
[ ! -e later.h5 ] || fail "--no-pack wrote a trace"
expect_text err "recorded, not packed; to do so: simtrace pack $PWD/later.h5.spool-"
pack=$(sed -n 's/.*to do so: //p' err)
rm later.h5.spool-*/*.command
expect_status 0 $pack --command "as typed"
expect_text err "later.h5: 2 processes"
simtrace info later.h5 | grep -q 'as typed' || fail "--command is not in the trace"
rm -r later.h5.spool-*

echo "== folders of which each rank sees one"
mkdir apart
mv spools/00000[135]-*.spool apart
expect_status 0 "$MPIRUN" -np 2 simtrace pack spools --run "$run" -o apart.h5 : -np 2 simtrace pack apart
same_trace whole.h5 apart.h5
expect_status 0 "$MPIRUN" -np 1 simtrace pack apart --force -o apart.h5 : -np 1 simtrace pack spools
same_trace whole.h5 apart.h5
cp apart/000003-*.spool spools  # seen by all
expect_status 0 "$MPIRUN" -np 1 simtrace pack spools --force -o apart.h5 : -np 1 simtrace pack apart : -np 1 simtrace pack nowhere
same_trace whole.h5 apart.h5

echo "== a spool is missing, another is damaged"
mv apart/*.spool spools
mkdir lost
mv spools/000002-*.spool lost
cp spools/000004-*.spool lost/whole
truncate -s 5000 spools/000004-*.spool
for ranks in 1 3; do
  expect_status 0 "$MPIRUN" -np $ranks simtrace pack spools --force -o partly.$ranks.h5
  expect_text err "; left out"
  expect_text err "process 2 left nothing behind"
  expect_text err "processes 2, 4 did not reach"
done
same_trace partly.1.h5 partly.3.h5
truncate -s 300000 spools/000004-*.spool
cp lost/000002-*.spool spools
for ranks in 1 2; do
  expect_status 0 "$MPIRUN" -np $ranks simtrace pack spools --force -o partly.$ranks.h5
done
cp lost/whole spools/000004-*.spool

echo "== several programs and several runs in one folder"
expect_status 0 "$simcapture" --spool-dir many --no-pack -o jobs.h5 -- \
  bash -c "'$MPIRUN' -np 2 '$programs/requests' && '$MPIRUN' -np 3 '$programs/point_to_point'"
jobs_run=$(basename many/*.command .command)
for ranks in 1 2; do
  expect_status 0 "$MPIRUN" -np $ranks simtrace pack many --force -o jobs.$ranks.h5
  expect_text err "2 MPI programs were run"
  expect_text err "jobs.$ranks.h5: 2 processes"
  expect_text err "jobs.$ranks.2.h5: 3 processes"
done
same_trace jobs.1.h5 jobs.2.h5
same_trace jobs.1.2.h5 jobs.2.2.h5
mv spools/* many
expect_status 1 "$MPIRUN" -np 2 simtrace pack many -o other.h5
expect_text err "many: holds spools of several runs: "
expect_status 0 "$MPIRUN" -np 2 simtrace pack many --run "$run" -o other.h5
expect_text err "many: 5 spools of other runs ($jobs_run) left out"
same_trace whole.h5 other.h5

echo "== spools in a folder of each host, made by the recorder where it is missing"
small=("$programs/heat2d" --size 16 --steps 3)
expect_status 0 "$simcapture" --spool-dir here -o hosts.h5 -- \
  "$MPIRUN" -np 2 "${small[@]}" : -np 2 env SIMCAPTURE_DIR="$PWD/there" "${small[@]}"
[ ! -e hosts.h5 ] || fail "half a trace"
expect_text err "spools of only 2 of 4 processes in $PWD/here of this host; to collect them from all: mpirun --map-by ppr:1:node simtrace pack $PWD/here --run "
collect=$(sed -n 's/.*ppr:1:node //p' err)
eval "\"\$MPIRUN\" -np 1 $collect : -np 1 simtrace pack there" 2>err
expect_text err "hosts.h5: 4 processes"
expect_status 7 "$simcapture" --spool-dir here -o none.h5 -- \
  "$MPIRUN" -np 1 env SIMCAPTURE_DIR="$PWD/there" bash -c "'$programs/dies' in-time; exit 7"
expect_text err "no spools in $PWD/here of this host"
expect_status 0 "$simcapture" --spool-dir here -o one.h5 -- "$MPIRUN" -np 2 "${small[@]}"
expect_text err "one.h5: 2 processes"
[ "$(compgen -G 'here/*.spool' | wc -l)" -eq 2 ] || fail "spools of another run removed, or own ones left"
expect_status 0 "$simcapture" --spool-dir new -o new.h5 -- "$MPIRUN" -np 2 "${small[@]}"
[ ! -e new ] || fail "a folder is left"

echo "== what cannot work is refused at once, by any number of ranks, in one line"
refused() {
  local status=$1 text=$2
  shift 2
  for ranks in 1 3; do
    expect_status "$status" "$MPIRUN" -np $ranks simtrace pack "$@"
    expect_text err "$text"
    [ "$(grep -c '^simtrace:' err)" -eq 1 ] || fail "not one line: $(cat err)"
  done
}
refused 2 "pack: no DIR given"
refused 2 "pack: unrecognised option '--sing'; options: --help" many --sing
refused 1 "nowhere: expected spools, found none" nowhere -o t.h5
refused 1 "whole.h5: exists already; --force overwrites it" many --run "$run" -o whole.h5
refused 1 "no/such/t.h5: cannot be written" many --run "$run" -o no/such/t.h5
expect_status 1 "$MPIRUN" -np 2 simtrace pack many --run nobodys -o t.h5
expect_text err "many: expected spools of run nobodys, found none"
expect_text err "many: 11 spools of other runs ($run, $jobs_run) left out"
expect_status 2 "$MPIRUN" -np 1 simtrace pack many --run "$run" -o t.h5 : -np 1 simtrace pack --sing
expect_status 1 "$MPIRUN" -np 1 simtrace pack many --run "$run" -o t.h5 : -np 2 simtrace pack whole.h5
expect_text err "whole.h5: cannot be read: "
[ "$(grep -c '^simtrace:' err)" -eq 1 ] || fail "not one line: $(cat err)"
expect_status 0 "$MPIRUN" -np 1 simtrace pack --help : -np 1 simtrace pack many
expect_text out "usage: simtrace pack DIR"
[ ! -e t.h5 ] && [ -z "$(find . -name '*.part')" ] || fail "a file of a pack that was refused"
expect_status 1 "$simcapture" --spool-dir no/such/folder -o new2.h5 -- touch ran
expect_text err "no/such/folder: cannot be made"
[ ! -e ran ] || fail "the command was run"
