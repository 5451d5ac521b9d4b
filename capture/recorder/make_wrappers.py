#!/usr/bin/env python3
"""Writes the wrappers of all MPI functions.

Their prototypes come from the mpi.h that the compiler finds. A function that the table in common/mpi_ops.hpp
names is recorded as its row says, also in its large-count form MPI_X_c; any other as Op::Other. Each function is
defined twice, as MPI_X and PMPI_X: Fortran bindings call PMPI_X (all of Open MPI's, some of MPICH's).

  make_wrappers.py --operations common/mpi_ops.hpp --output wrappers.cpp -- cc -I/path/to/mpi/include
"""

import argparse
import re
import subprocess
import sys


# Conversions of handles are no calls of the program but of Fortran's way to the library; MPI_Pcontrol has a
# wrapper written by hand, for no other takes any number of arguments.
NOT_WRAPPED = re.compile(r"MPI_(\w+_[cf](08)?2[cf](08)?|Pcontrol|Aint_add|Aint_diff)$")
# The 2008 bindings of some libraries are declared too.
FUNCTION = re.compile(r"\b(int|double)\s+(MPIX?_[A-Z]\w*)\s*\(([^()]*)\)")

# Functions whose calls are recorded as those of another.
ALIASES = {"Comm_idup_with_info": "Comm_idup"}
# What is lost where a function is called that communicates and is not in the table: the first that fits.
LOSSES = [(re.compile(pattern), loss) for pattern, loss in (
    (r"Session_init$", "a program that begins MPI by {} instead of MPI_Init is not recorded"),
    (r"(Isendrecv(_replace)?|P(send|recv)_init)$", "messages of {} are not recorded"),
    (r"(?!T_)\w+_init$", "collective operations of {} are not recorded"),
    (r"(Comm_create_from_group|Intercomm_create_from_groups|Comm_i?(agree|shrink))$",
     "what processes exchange in {} is not recorded"),
    (r"(Stream_\w*(send|recv)\w*|\w+_enqueue)$", "messages of {} are not recorded"),
)]


def operations(table):
    """Names of the enumerators that have a function."""
    with open(table, encoding="utf-8") as f:
        text = f.read()
    rows = re.findall(r'\{Op::(\w+),\s*"MPI_\w+"', text)
    local = text[text.index("#define SIMREPLAY_LOCAL_MPI_FUNCTIONS"):text.index("enum class Op")]
    return set(rows) | set(re.findall(r"\bX\((\w+)\) ?", local))


def preprocessed_header(compiler):
    command = compiler + ["-DOMPI_OMIT_MPI1_COMPAT_DECLS=0", "-E", "-P", "-x", "c", "-"]
    run = subprocess.run(command, input="#include <mpi.h>\n", stdout=subprocess.PIPE, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"make_wrappers.py: {' '.join(command)} failed")
    return re.sub(r"\s+", " ", run.stdout)


def split_parameters(text):
    """The parameters of a prototype; functions among them have types with names."""
    parameters = [p.strip() for p in text.split(",")]
    return [] if parameters in ([""], ["void"]) else parameters


def name_of(parameter):
    match = re.search(r"(\w+)\s*(\[[^\]]*\]\s*)*$", parameter)
    if not match:
        sys.exit(f"make_wrappers.py: no name in parameter '{parameter}'")
    return match.group(1)


def meaning(name, known):
    """The enumerator as which a function is recorded, and what is lost thereby, if anything."""
    bare = re.sub(r"^MPIX?_|_c$", "", name)
    bare = ALIASES.get(bare, bare)
    if bare in known and not name.startswith("MPIX_"):
        return bare, None
    return "Other", next((loss.format(name) for pattern, loss in LOSSES if pattern.match(bare)), None)


def wrapper(op, loss, result, name, parameters):
    declaration = f"{result} {name}({', '.join(parameters)})"
    arguments = "".join(", " + name_of(p) for p in parameters)
    lines = [f"extern \"C\" VISIBLE {declaration};",
             f"constinit Next<decltype({name})> next_{name}{{\"{name}\"}};",
             f"extern \"C\" {declaration} {{",
             f'  say_lost("{loss}");' if loss else None,
             f"  return intercept<Op::{op}>(next_{name}{arguments});",
             "}"]
    return "\n".join(line for line in lines if line)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operations", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("compiler", nargs="+")
    options = parser.parse_args()

    header = preprocessed_header(options.compiler)
    parts = ["// Made by capture/recorder/make_wrappers.py from mpi.h.",
             "#define OMPI_OMIT_MPI1_COMPAT_DECLS 0",
             '#define VISIBLE __attribute__((visibility("default")))',
             '#pragma GCC diagnostic ignored "-Wredundant-decls"',
             '#pragma GCC diagnostic ignored "-Wdeprecated-declarations"',
             '#include "capture/recorder/handlers.hpp"',
             "using namespace simreplay;",
             "using namespace simreplay::recorder;"]
    known = operations(options.operations)
    functions = {name: (result, parameters) for result, name, parameters in FUNCTION.findall(header)}
    if "MPI_Send" not in functions:
        sys.exit("make_wrappers.py: mpi.h declares no MPI_Send")
    for name, (result, parameters) in sorted(functions.items()):
        if NOT_WRAPPED.match(name):
            continue
        op, loss = meaning(name, known)
        for visible in (name, "P" + name):
            parts.append(wrapper(op, loss, result, visible, split_parameters(parameters)))
    with open(options.output, "w", encoding="utf-8") as f:
        f.write("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
