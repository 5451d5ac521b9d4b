#!/usr/bin/env bash
# Predictions of runs that were recorded here, as far as a minute allows. 77 where the computer is too noisy:
# a load above half of its processors, or unrecorded runs that differ by more than 10 %. Accuracy is reported, not
# judged: the bounds hold on quiet computers alone (docs/validation.md).
set -euo pipefail
"$SIMREPLAY_TESTS/../scripts/validate.sh" self --bounded --report-only --build "$SIMREPLAY_BIN/.."
