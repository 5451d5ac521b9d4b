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
