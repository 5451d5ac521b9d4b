#!/usr/bin/env bash
# Sets up, builds and runs all tests. Arguments go to ctest:
#
#   scripts/test.sh                    everything
#   scripts/test.sh -L unit            one kind: unit, mpi or system
#   scripts/test.sh -R trace           tests whose name matches
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case ${1-} in -h | --help) sed -n '2,6s/^# \{0,1\}//p' scripts/test.sh && exit 0 ;; esac

run() {
  echo "+ $*"
  "$@"
}

scripts/setup.sh test
run cmake --preset release --log-level=WARNING
run cmake --build --preset release

status=0
run ctest --preset release --output-on-failure -j2 "$@" || status=$?

echo
echo "Log: $PWD/build/release/Testing/Temporary/LastTest.log"
echo "Files of the system tests: $PWD/build/release/scratch/"
exit "$status"
