#!/usr/bin/env bash
# Sets up, builds, records an MPI program on 4 processes and predicts its time on two other machines.
#
#   scripts/demo.sh           a bundled program: heat conduction on a two-dimensional grid
#   scripts/demo.sh lammps    LAMMPS: a melting crystal (installs Debian's package)
#
# Every command is shown as it is run; results lie in build/demo/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Open MPI: as root in a container, more processes than processors, no binding. Others ignore it.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_btl_vader_single_copy_mechanism=none

usage() { sed -n '2,7s/^# \{0,1\}//p' scripts/demo.sh; }
title() { printf '\n== %s\n' "$*"; }
run() {
  echo "+ $*"
  "$@"
}

program=${1:-heat2d}
out=build/demo
trace=$out/$program.h5
case $program in
  heat2d)
    groups=()
    command=(mpirun -np 4 build/release/bin/programs/heat2d --size 512 --steps 200)
    ;;
  lammps)
    groups=(lammps)
    command=(mpirun -np 4 lmp -in "$out/in.melt" -log none)
    ;;
  -h | --help) usage && exit 0 ;;
  *) usage >&2 && exit 2 ;;
esac

title "Set up and build"
scripts/setup.sh "${groups[@]}"
if [ "$program" = lammps ] && ! command -v lmp >/dev/null; then
  echo "demo: LAMMPS (lmp) is not installed" >&2
  exit 1
fi
run cmake --preset release --log-level=WARNING
run cmake --build --preset release
export PATH=$PWD/build/release/bin:$PATH

mkdir -p "$out"
rm -f "$out/$program"[.-]*
if [ "$program" = lammps ]; then
  cat >"$out/in.melt" <<'MELT'
# Lennard-Jones crystal that melts: 6912 atoms, 250 steps
units         lj
atom_style    atomic
lattice       fcc 0.8442
region        box block 0 12 0 12 0 12
create_box    1 box
create_atoms  1 box
mass          1 1.0
velocity      all create 3.0 87287 loop geom
pair_style    lj/cut 2.5
pair_coeff    1 1 1.0 1.0 2.5
neighbor      0.3 bin
neigh_modify  every 20 delay 0 check no
fix           1 all nve
thermo        50
run           250
MELT
fi

title "Record: each of the 4 processes leaves its trace"
run simcapture -o "$trace" --force -- "${command[@]}"
run simtrace info "$trace"

machines=(gigabit-ethernet edr)
for machine in "${machines[@]}"; do
  title "Predict: the same run on $machine"
  run mpirun -np 2 simreplay "$trace" --machine "$machine" \
    -o "$out/$program-$machine.h5" --json "$out/$program-$machine.json"
done

title "Result"
python3 - "$out/$program" "${machines[@]}" <<'PYTHON'
import json
import sys

prefix, machines = sys.argv[1], sys.argv[2:]
print(f"{'machine':<20}{'recorded':>14}{'predicted':>14}{'efficiency':>12}")
for machine in machines:
    with open(f"{prefix}-{machine}.json") as file:
        result = json.load(file)
    recorded, predicted = (result[key] * 1e-9 for key in ("recorded_ps", "predicted_ps"))
    print(f"{machine:<20}{recorded:>11.2f} ms{predicted:>11.2f} ms{result['efficiency']:>11.1%}")
PYTHON

printf '\nIn %s:\n' "$PWD/$out"
printf '  %-32s %s\n' "$program.h5" "the recorded trace"
for machine in "${machines[@]}"; do
  printf '  %-32s %s\n' "$program-$machine.h5" "the predicted trace" \
    "$program-$machine.json" "the figures above and more"
done
