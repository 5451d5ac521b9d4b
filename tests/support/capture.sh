# Shared by the tests of simcapture: source it.
set -euo pipefail

simcapture=$SIMREPLAY_BIN/simcapture
simtrace=$SIMREPLAY_BIN/simtrace
simreplay=$SIMREPLAY_BIN/simreplay
dump=$SIMREPLAY_BIN/tests/dump_trace
programs=$SIMREPLAY_PROGRAMS

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# expect_status STATUS COMMAND...: its stdout and stderr are left in the files out and err.
expect_status() {
  local expected=$1 status=0
  shift
  "$@" >out 2>err || status=$?
  [ "$status" -eq "$expected" ] || fail "$* ended with $status, expected $expected: $(cat err)"
}

# expect_text FILE TEXT: a line contains it.
expect_text() {
  grep -qF -- "$2" "$1" || fail "'$2' is not in $1: $(cat "$1")"
}

expect_no_spools() {
  ! compgen -G '*.spool-*' >/dev/null || fail "left behind: $(echo *.spool-*)"
}

# expect_golden NAME COMMAND...: it prints the same when it is recorded, and the trace, which can be replayed, is
# as golden/capture_NAME.txt says.
expect_golden() {
  local golden=$SIMREPLAY_TESTS/golden/capture_$1.txt
  shift
  "$@" </dev/null | sort >bare.txt
  "$simcapture" --force -o trace.h5 -- "$@" </dev/null 2>messages.txt | sort >recorded.txt
  diff bare.txt recorded.txt || fail "recording changes what $* prints: $(cat messages.txt)"
  expect_no_spools
  "$simtrace" verify trace.h5 >/dev/null
  "$MPIRUN" -np 2 "$simreplay" trace.h5 >/dev/null
  "$dump" trace.h5 >trace.txt
  diff "$golden" trace.txt || fail "the trace of $* is not as expected"
}

# use_mpi [COMPILER]: programs of which MPI are recorded is said by its C compiler, such as /usr/bin/mpicc.mpich;
# the default is that of MPIRUN. Sets
#   launcher, mpicc, mpicxx, mpifort   its programs
#   recorder                           what a linker calls its recorder
use_mpi() {
  local folder suffix
  recorder=simcapture
  if [ $# -eq 0 ] || [ -z "$1" ]; then
    launcher=$MPIRUN
    folder=$(dirname "$MPIRUN")
    suffix=${MPIRUN##*/}
    suffix=${suffix#mpirun} suffix=${suffix#mpiexec}
  else
    folder=$(dirname "$1")
    suffix=${1##*/mpicc}
    launcher=$folder/mpiexec$suffix
    recorder=$(basename "$SIMREPLAY_LIB"/libsimcapture-*.so .so)
    recorder=${recorder#lib}
  fi
  mpicc=$folder/mpicc$suffix mpicxx=$folder/mpicxx$suffix mpifort=$folder/mpifort$suffix
  skip_unless "$launcher" "$mpicc"
}

# skip_unless PROGRAM...: all of them are there.
skip_unless() {
  local program
  for program in "$@"; do
    command -v "$program" >/dev/null && continue
    echo "no $program"
    exit 77
  done
}
