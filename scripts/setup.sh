#!/usr/bin/env bash
# Installs what simreplay needs and this computer lacks (Debian, Ubuntu). Elsewhere it only looks.
#
#   scripts/setup.sh [lammps] [test] [bench]
#
#   lammps   also LAMMPS, an MPI program worth recording (scripts/demo.sh lammps)
#   test     also what the system tests record: LAMMPS, HPC Challenge, programs in Fortran, in Python and of MPICH,
#            which is not made the default MPI
#   bench    also what the benchmarks need: Google Benchmark, and SimGrid to compare with
set -euo pipefail

usage() { sed -n '2,9s/^# \{0,1\}//p' "$0"; }
have() { command -v "$1" >/dev/null 2>&1; }
header() { # any of these headers can be included
  local name
  for name in "$@"; do
    echo "#include <$name>" | c++ -x c++ -std=c++20 -fsyntax-only - 2>/dev/null && return 0
  done
  return 1
}

python_module() { [ -x /usr/bin/python3 ] && /usr/bin/python3 -c "import $1" 2>/dev/null; }

missing=()  # packages that simreplay needs
optional=() # packages that some demos and tests need
need() { # package check...
  local package=$1
  shift
  "$@" || missing+=("$package")
}
want() {
  local package=$1
  shift
  "$@" || optional+=("$package")
}

need build-essential have c++
need cmake have cmake
need ninja-build have ninja
need python3 have python3
need openmpi-bin have mpirun
need libopenmpi-dev have mpicc
need libhdf5-openmpi-dev have h5pcc
need hdf5-tools have h5dump
need libboost-program-options-dev header boost/program_options.hpp
need catch2 header catch2/catch_all.hpp catch2/catch.hpp
need libfmt-dev header fmt/core.h
need nlohmann-json3-dev header nlohmann/json.hpp

for group in "$@"; do
  case $group in
    lammps)
      want lammps have lmp
      want lammps-examples test -d /usr/share/lammps/examples
      ;;
    test)
      want lammps have lmp
      want hpcc have hpcc
      want gfortran have gfortran
      want python3-mpi4py python_module mpi4py
      want mpich have mpiexec.mpich
      want libmpich-dev have mpicc.mpich
      ;;
    bench)
      want libbenchmark-dev header benchmark/benchmark.h
      want libsimgrid-dev have smpirun
      ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
  esac
done

all=("${missing[@]}" "${optional[@]}")
if [ ${#all[@]} -eq 0 ]; then
  echo "set-up: everything is there"
  exit 0
fi

as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n "$@"; fi; }
may_install() { have apt-get && { [ "$(id -u)" -eq 0 ] || { have sudo && sudo -n true 2>/dev/null; }; }; }
install() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
}

default_launcher() { readlink -f "$(command -v mpirun)" || true; }
keep_open_mpi() { # a second MPI library must not become the default
  as_root update-alternatives --set mpi /usr/bin/mpicc.openmpi
  as_root update-alternatives --set mpirun /usr/bin/mpirun.openmpi
}

if may_install; then
  log=$(mktemp "${TMPDIR:-/tmp}/simreplay-setup.XXXXXX")
  echo "set-up: installing ${all[*]}"
  # A failing update may still leave a usable list of packages: the installation decides.
  as_root apt-get update -qq >"$log" 2>&1 || echo "set-up: apt-get update failed, going on without it"
  if [ ${#missing[@]} -gt 0 ] && ! install "${missing[@]}" >>"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "set-up: could not install ${missing[*]}; the whole log is $log" >&2
    exit 1
  fi
  launcher=$(default_launcher)
  for package in "${optional[@]}"; do
    install "$package" >>"$log" 2>&1 || echo "set-up: could not install $package; what needs it is left out"
  done
  [ "$(default_launcher)" = "$launcher" ] || keep_open_mpi >>"$log" 2>&1
  rm -f "$log"
  echo "set-up: done"
  exit 0
fi

if [ ${#optional[@]} -gt 0 ]; then
  echo "set-up: not found: ${optional[*]} (optional; what needs it is left out)"
fi
if [ ${#missing[@]} -gt 0 ]; then
  {
    echo "set-up: not found: ${missing[*]}  (names of Debian packages)"
    if have apt-get; then
      echo "        as root: apt-get update && apt-get install ${all[*]}"
    else
      echo "        install them, or load the modules of your cluster, and try again"
    fi
  } >&2
  exit 1
fi
