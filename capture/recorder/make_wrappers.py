#!/usr/bin/env python3
"""Writes the wrappers of the MPI functions that are recorded.

The operations come from the table in common/mpi_ops.hpp, their prototypes from the mpi.h that the compiler
finds. Each function is defined twice, as MPI_X and PMPI_X: the Fortran bindings of Open MPI call PMPI_X.

  make_wrappers.py --operations common/mpi_ops.hpp --output wrappers.cpp -- cc -I/path/to/mpi/include
"""

import argparse
import re
import subprocess
import sys


def operations(table):
    """Pairs of enumerator and MPI name, in table order."""
    with open(table, encoding="utf-8") as f:
        return re.findall(r'\{Op::(\w+),\s*"(MPI_\w+)"', f.read())


def preprocessed_header(compiler):
    command = compiler + ["-E", "-P", "-x", "c", "-"]
    run = subprocess.run(command, input="#include <mpi.h>\n", stdout=subprocess.PIPE, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"make_wrappers.py: {' '.join(command)} failed")
    return re.sub(r"\s+", " ", run.stdout)


def split_parameters(text):
    """The parameters of a prototype; none of the functions recorded takes a function."""
    parameters = [p.strip() for p in text.split(",")]
    return [] if parameters in ([""], ["void"]) else parameters


def name_of(parameter):
    match = re.search(r"(\w+)\s*(\[[^\]]*\]\s*)*$", parameter)
    if not match:
        sys.exit(f"make_wrappers.py: no name in parameter '{parameter}'")
    return match.group(1)


def prototype(name, header):
    match = re.search(rf"\bint\s+{name}\s*\(([^()]*)\)", header)
    if not match:
        sys.exit(f"make_wrappers.py: mpi.h declares no {name}")
    return split_parameters(match.group(1))


def wrapper(op, name, parameters):
    arguments = "".join(", " + name_of(p) for p in parameters)
    lines = [f"constinit Next<decltype({name})> next_{name}{{\"{name}\"}};",
             f"extern \"C\" int {name}({', '.join(parameters)}) {{",
             f"  return intercept<Op::{op}>(next_{name}{arguments});",
             "}"]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operations", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("compiler", nargs="+")
    options = parser.parse_args()

    header = preprocessed_header(options.compiler)
    parts = ["// Made by capture/recorder/make_wrappers.py from mpi.h.",
             '#include "capture/recorder/handlers.hpp"',
             "using namespace simreplay;",
             "using namespace simreplay::recorder;"]
    for op, name in operations(options.operations):
        for visible in (name, "P" + name):
            parts.append(wrapper(op, visible, prototype(name, header)))
    with open(options.output, "w", encoding="utf-8") as f:
        f.write("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
