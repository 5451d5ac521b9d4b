#!/usr/bin/env bash
# How far predictions are from real runs, as a table (docs/validation.md).
#
#   scripts/validate.sh [self|virtual|network|ethernet|all] [options]
#
#   self       record programs on two processes here and predict the same runs
#   virtual    record two processes on one processor and predict them on two
#   network    record here, predict hosts on slow networks, run there (Linux, root: scripts/testbed/hosts.sh)
#   ethernet   the transfer times of messages that compete on one medium, there and in the model (Linux, root)
#   --bounded  of self only what takes less than a minute; not begun on a computer that is busy (77)
#   --write    put the table into docs/validation.md
#   --report-only   end with 0 also where a prediction is outside its bound
#   --build FOLDER  the build to use (default build/release)
#
# Ends with 1 if a prediction is outside its bound, with 77 if runs differed too much to tell (by more than 10 %).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
case ${1-} in -h | --help) sed -n '2,15s/^# \{0,1\}//p' scripts/validate.sh && exit 0 ;; esac
exec "${PYTHON:-python3}" scripts/validation/validate.py "$@"
