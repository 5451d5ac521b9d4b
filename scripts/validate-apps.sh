#!/usr/bin/env bash
# Records MPI programs that Debian packages, replays their traces, and shows that both work (docs/validation.md).
#
#   scripts/validate-apps.sh [PROGRAM...] [options]
#
#   PROGRAM         melt peptide hpcc espresso nwchem openfoam cp2k mpb scalapack iqtree netpipe mpi4py; default: all
#   --install       install the packages that are missing
#   --runs N        runs of each, unrecorded and recorded in turn (default 3); medians are shown
#   --write         put the table into docs/validation.md
#   --build FOLDER  the build to use (default build/release)
#   --keep FOLDER   work in this folder, and leave everything there
#
# Ends with 1 if a recording changes the results of a program, or its trace does not verify or does not replay alike
# on one and two ranks; with 77 if all is well but programs are not installed.

# shellcheck disable=SC2317  # functions that are called by names made here
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Open MPI: as root in a container, more processes than processors, which let others go on when they wait.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_mpi_yield_when_idle=1
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 LC_ALL=C.UTF-8

inputs=$PWD/scripts/validation/apps
machine=edr
time_limit=300 # seconds, of each run

usage() { sed -n '2,15s/^# \{0,1\}//p' scripts/validate-apps.sh; }
fail() { echo "validate-apps: $*" >&2 && exit 1; }

# --- the programs ----------------------------------------------------------------------------------------------
#
# A function app_X says
#   name, packages, processes, command     what is run; the first package gives the version
#   needs                                  files without which it cannot run
#   environment                            variables of its runs
#   holds                                  operations that its trace must hold, because the program is here for them
#   prepare                                run in an empty folder, a copy of which each run gets
#   results                                run in the folder of a run, next to its stdout and stderr: prints what
#                                          has to be the same in every run

app_melt() {
  name="LAMMPS, melt" packages=(lammps lammps-examples) processes=8
  needs=(/usr/share/lammps/examples/melt/in.melt)
  command=(lmp -in "${needs[0]}" -log none)
  results() { grep -E '^ +[0-9]+ +[-0-9.]+ ' stdout; } # step, temperature, energies, pressure
}

app_peptide() {
  name="LAMMPS, peptide" packages=(lammps lammps-examples) processes=8
  needs=(/usr/share/lammps/examples/peptide/{in,data}.peptide)
  prepare() { cp "${needs[@]}" .; }
  command=(lmp -in in.peptide -log none)
  results() { grep -E '^(TotEng|PotEng|E_)' stdout; }
}

app_hpcc() {
  name="HPC Challenge" packages=(hpcc)
  prepare() { cp "$inputs/hpccinf.txt" .; }
  command=(hpcc)
  results() { grep -E '^(Success|HPL_N|MPIRandomAccess.*_Errors)=|tests completed|locations' hpccoutf.txt; }
}

app_espresso() {
  name="Quantum ESPRESSO, pw.x" packages=(quantum-espresso quantum-espresso-data)
  needs=(/usr/share/espresso/pseudo/Si.pz-vbc.UPF)
  prepare() { cp "$inputs/espresso.in" .; }
  command=(pw.x -npool 2 -in espresso.in)
  results() { grep -E '^!|total energy|convergence has been' stdout; }
}

app_nwchem() {
  name="NWChem" packages=(nwchem-openmpi nwchem-data)
  prepare() { cp "$inputs/nwchem.nw" .; }
  command=(nwchem.openmpi nwchem.nw)
  holds=(MPI_Win_lock_all MPI_Accumulate MPI_Get_accumulate MPI_Fetch_and_op)
  results() { grep -E 'Total SCF energy|One-electron|Two-electron|Nuclear repulsion' stdout; }
}

app_openfoam() {
  name="OpenFOAM, icoFoam" packages=(openfoam openfoam-examples)
  needs=(/usr/share/doc/openfoam-examples/examples/incompressible/icoFoam/cavity/cavity/system)
  environment=(WM_PROJECT_DIR=/usr/share/openfoam)
  prepare() {
    cp -r "${needs[0]%/*}/." .
    cp "$inputs/openfoam.decompose" system/decomposeParDict
    env "${environment[@]}" blockMesh && env "${environment[@]}" decomposePar
  }
  command=(icoFoam -parallel)
  results() { grep -E 'Initial residual|Courant|continuity errors' stdout; }
}

app_cp2k() {
  name="CP2K" packages=(cp2k cp2k-data)
  environment=(CP2K_DATA_DIR=/usr/share/cp2k)
  prepare() { cp "$inputs/cp2k.inp" .; }
  command=(cp2k.psmp -i cp2k.inp)
  results() { grep -E 'energy:|Total FORCE_EVAL|SCF run converged' stdout; }
}

app_mpb() {
  name="MPB" packages=(mpb-mpi)
  prepare() { cp "$inputs/mpb.ctl" .; }
  command=(mpb-mpi mpb.ctl)
  holds=(MPI_File_write_at) # parallel HDF5
  results() { grep -E '^freqs' stdout; }
}

app_scalapack() {
  name="ScaLAPACK, xdlu" packages=(scalapack-mpi-test scalapack-test-common)
  needs=(/usr/share/scalapack/LU.dat)
  prepare() { cp "${needs[0]}" .; }
  command=(/usr/lib/*/scalapack/openmpi-tests/xdlu)
  results() { grep -E 'tests (completed|skipped)|END OF TESTS' stdout; } # its residuals are never the same
}

app_iqtree() {
  name="IQ-TREE" packages=(iqtree)
  prepare() { "$python" "$inputs/alignment.py" >alignment.phy; }
  command=(iqtree2-mpi -s alignment.phy -m JC -seed 1 -nt 1)
  results() { grep -E 'BETTER TREE FOUND at iteration 1:|Likelihood of' stdout; } # its search depends on who is first
}

app_netpipe() {
  name="NetPIPE" packages=(netpipe-openmpi) processes=2
  command=(NPopenmpi -u 1048576 -n 50)
  results() { grep -oE '^ *[0-9]+: +[0-9]+ bytes +[0-9]+ times' stderr; }
}

app_mpi4py() {
  name="mpi4py, a bit of everything" packages=(python3-mpi4py) processes=3
  command=(/usr/bin/python3 "$PWD/tests/programs/mpi4py_mix.py")
  holds=(MPI_Startall MPI_Iallreduce MPI_Put MPI_Get MPI_File_write_at_all MPI_File_read_at)
  results() { cat stdout; }
}

all_apps=(melt peptide hpcc espresso nwchem openfoam cp2k mpb scalapack iqtree netpipe mpi4py)

describe() { # app
  name="" packages=() needs=() environment=() processes=4 command=() holds=()
  prepare() { :; }
  results() { :; }
  "app_$1"
}

# --- packages --------------------------------------------------------------------------------------------------

is_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

missing_packages() { # of the program described
  local package
  for package in "${packages[@]}"; do
    is_installed "$package" || echo "$package"
  done
}

install_missing() { # app...
  local app missing=()
  for app in "$@"; do
    describe "$app"
    mapfile -t -O "${#missing[@]}" missing < <(missing_packages)
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  echo "installing ${missing[*]}"
  local as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo -n)
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null || fail "could not install ${missing[*]}"
}

version() { # of the program described, as its authors count
  dpkg-query -W -f '${source:Upstream-Version}' "${packages[0]}" | sed -E 's/(\+|\.git|~).*//'
}

# --- one program -----------------------------------------------------------------------------------------------

limited() { timeout --kill-after=20 "$time_limit" env "${environment[@]}" "$@"; }
field() { grep -oE "\"$2\": [0-9.]+" "$1" | head -n 1 | grep -oE '[0-9.]+$'; } # FILE.json NAME
# statistics SECONDS...: sets median and spread, which is (slowest - fastest) / median as in validate.sh.
statistics() {
  read -r median spread < <(printf '%s\n' "$@" | sort -g | awk '
    { v[NR] = $1 }
    END { m = (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2; printf "%.9f %.0f\n", m, 100 * (v[NR] - v[1]) / m }')
}
shown() { # seconds
  awk -v s="$1" 'BEGIN { if (s >= 1) printf "%.3f s\n", s; else printf "%.1f ms\n", s * 1e3 }'
}

fault() { # what: to be told at the end
  faults+=("$name: $*")
}
give_up() { # what
  fault "$@"
  rows+=("| $name | $(version) | $processes | | | | | | | **$*** | | |")
}

# run KIND [LAUNCHER...]: runs the program in a fresh folder; its time is left in $work/run_time, its results in
# $work/results.KIND.
run() (
  kind=$1 && shift
  rm -rf "${work:?}/$kind" "$work/run_time"
  cp -r "$work/prepared" "$work/$kind"
  cd "$work/$kind" || exit
  limited "$@" mpirun -x LD_PRELOAD="$run_time_library" -x SIMREPLAY_RUN_TIME="$work/run_time" \
    -np "$processes" "${command[@]}" >stdout 2>stderr </dev/null || exit
  results >"$work/results.$kind" || : # none: seen by who asked
  [ -s "$work/run_time" ]
)
run_recorded() { run recorded simcapture --force -o "$work/trace.h5" --; }

verified() { # prints a cell of the table
  local operation text
  if ! text=$(simtrace verify "$work/trace.h5" 2>&1); then
    echo "$text" >"$work/verify.txt"
    echo "**$(grep -oE '[0-9,]+ faults?' <<<"$text" | tail -n 1)**"
    return 1
  fi
  for operation in "${holds[@]}"; do
    grep -q "\"$operation\"" "$work/info.json" || { echo "**lacks $operation**" && return 1; }
  done
  echo yes
}

replayed() { # prints a cell of the table
  local ranks
  for ranks in 1 2; do
    limited mpirun -np "$ranks" simreplay "$work/trace.h5" --machine "$machine" --force \
      -o "$work/predicted.$ranks.h5" --json "$work/$ranks.json" >"$work/replay.$ranks.txt" 2>&1 ||
      { echo "**not on $ranks**" && return 1; }
  done
  cmp -s "$work"/predicted.[12].h5 || { echo "**differ**" && return 1; }
  shown "$(awk -v ps="$(field "$work/1.json" predicted_ps)" 'BEGIN { print ps * 1e-12 }')"
}

validate() { # app: adds a row
  describe "$1"
  work=$folder/$1
  mkdir -p "$work/prepared"
  (cd "$work/prepared" && prepare >"$work/prepare.txt" 2>&1) || { give_up "cannot be prepared" && return; }

  local i unrecorded=() recorded=() same=yes
  for ((i = 1; i <= runs; i++)); do # in turn, so that a slow minute of the computer meets both
    run unrecorded || { give_up "does not run here" && return; }
    unrecorded+=("$(<"$work/run_time")")
    [ -s "$work/results.unrecorded" ] || { give_up "shows no results" && return; }
    [ "$i" -gt 1 ] || cp "$work/results.unrecorded" "$work/results"
    cmp -s "$work/results" "$work/results.unrecorded" || same="vary"
    run_recorded || { give_up "does not run when it is recorded" && return; }
    recorded+=("$(<"$work/run_time")")
    cmp -s "$work/results" "$work/results.recorded" || [ "$same" = vary ] || same="**no**"
  done
  [ "$same" != "**no**" ] || fault "recording changes its results"

  local calls bytes verify replay row median spread
  simtrace info --json "$work/trace.h5" >"$work/info.json"
  read -r calls bytes < <(sed -n 's/.*simcapture: .* \([0-9,]*\) calls.* \([0-9.]*\) bytes per call$/\1 \2/p' \
    "$work/recorded/stderr")
  verify=$(verified) || fault "verify: ${verify//\*/}"
  replay=$(replayed) || fault "replay: ${replay//\*/}"
  row="| $name | $(version) | $processes | $calls | $bytes"
  statistics "${unrecorded[@]}"
  row+=" | $(shown "$median") | $spread %"
  statistics "${recorded[@]}"
  row+=" | $(shown "$median") | $spread % | $same | $verify | $replay |"
  rows+=("$row")
  echo "$row"
}

# --- the whole -------------------------------------------------------------------------------------------------

table() {
  echo "| program | version | processes | calls | bytes per call | unrecorded | spread | recorded | spread |" \
    "same results | verified | replayed |"
  echo "|---|---|---|---|---|---|---|---|---|---|---|---|"
  printf '%s\n' "${rows[@]}"
  echo
  printf '%s, %s processors, %s, load at the end %s.\n' "$(date -u '+%F %H:%M UTC')" \
    "$(getconf _NPROCESSORS_ONLN)" "$(uname -sr)" "$(cut -d ' ' -f 1 /proc/loadavg)"
  echo "$runs unrecorded and $runs recorded runs of each, in turn; medians. Replayed: the time predicted for" \
    "\`$machine\`; one rank and two wrote the same trace to the last byte."
}

write_into() { # PAGE TABLE: replaces what stands between the marks
  local begin="<!-- apps: written by scripts/validate-apps.sh -->" end="<!-- end of apps -->"
  if ! grep -qxF -- "$begin" "$1" || ! grep -qxF -- "$end" "$1"; then fail "$1 has no marks for the table"; fi
  awk -v begin="$begin" -v end="$end" -v table="$2" '
    $0 == end { inside = 0 }
    !inside
    $0 == begin { inside = 1; while ((getline line < table) > 0) print line }' "$1" >"$2.page"
  cat "$2.page" >"$1"
}

apps=() runs=3 build=build/release folder="" install=no write=no
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage && exit 0 ;;
    --install) install=yes ;;
    --write) write=yes ;;
    --runs | --build | --keep)
      [ $# -gt 1 ] || { usage >&2 && exit 2; }
      case $1 in --runs) runs=$2 ;; --build) build=$2 ;; --keep) folder=$2 ;; esac
      shift
      ;;
    *)
      [[ " ${all_apps[*]} " == *" $1 "* ]] || { usage >&2 && exit 2; }
      apps+=("$1")
      ;;
  esac
  shift
done
[[ $runs =~ ^[1-9][0-9]*$ ]] || { usage >&2 && exit 2; }
[ ${#apps[@]} -gt 0 ] || apps=("${all_apps[@]}")

build=$(realpath -- "$build")
run_time_library=$build/bin/tests/librun_time.so
for needed in "$build"/bin/{simcapture,simtrace,simreplay} "$run_time_library"; do
  [ -e "$needed" ] || fail "$needed is not built"
done
export PATH=$build/bin:$PATH
python=${PYTHON:-python3}
if [ -n "$folder" ]; then
  mkdir -p "$folder" && folder=$(realpath -- "$folder")
else
  folder=$(mktemp -d "${TMPDIR:-/tmp}/simreplay-apps.XXXXXX")
  trap 'rm -rf "$folder"' EXIT
fi

[ "$install" = no ] || install_missing "${apps[@]}"
rows=() faults=() skipped=()
for app in "${apps[@]}"; do
  describe "$app"
  mapfile -t missing < <(missing_packages)
  for file in "${needs[@]}"; do
    [ ${#missing[@]} -gt 0 ] || [ -e "$file" ] || missing+=("$file")
  done
  if [ ${#missing[@]} -gt 0 ]; then
    skipped+=("$name: not found: ${missing[*]}")
    continue
  fi
  validate "$app"
done

printf '\n'
table | tee "$folder/table.md"
[ "$write" = no ] || write_into docs/validation.md "$folder/table.md"
[ ${#skipped[@]} -eq 0 ] || printf 'left out: %s\n' "${skipped[@]}" >&2
[ ${#faults[@]} -eq 0 ] || printf 'fault: %s\n' "${faults[@]}" >&2
[ ${#faults[@]} -eq 0 ] || exit 1
[ ${#skipped[@]} -eq 0 ] || exit 77
