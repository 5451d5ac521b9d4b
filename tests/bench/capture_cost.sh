#!/usr/bin/env bash
# What recording adds to an MPI call, in ns. Held to: below 100.
#
#   tests/bench/capture_cost.sh BUILD [CALLS]        BUILD: build folder, such as build/release
set -euo pipefail
build=${1:?usage: capture_cost.sh BUILD [CALLS]}
calls=${2:-20000}
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
export OMPI_MCA_mpi_yield_when_idle=0  # an empty poll would measure the scheduler

program=$build/bin/programs/capture_cost
"$program" "$calls" >"$scratch/bare"
"$build/bin/simcapture" -o "$scratch/t.h5" -- "$program" "$calls" >"$scratch/recorded"
paste "$scratch/bare" "$scratch/recorded" |
  awk -F '\t' 'BEGIN { printf "%-28s %8s %8s %8s\n", "ns per call", "bare", "recorded", "added" }
               { bare = substr($1, 29); recorded = substr($2, 29)
                 printf "%s %8.1f %8.1f %8.1f\n", substr($1, 1, 28), bare, recorded, recorded - bare }'
