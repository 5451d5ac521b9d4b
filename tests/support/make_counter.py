#!/usr/bin/env python3
"""Writes a library that counts the MPI calls of a program, to check a recorder against: every function of
mpi.h, as MPI_X and PMPI_X, counts and goes on to the next definition. Shares nothing with the recorder.

  make_counter.py counter.cpp -- cc -I/path/to/mpi/include

At MPI_Finalize each process writes lines "MPI_X COUNT" to the file $COUNT_CALLS.RANK: calls from the end of
MPI_Init to MPI_Finalize, both included, and not those that MPI makes itself.
"""

import re
import subprocess
import sys

FRAME = """#define OMPI_SKIP_MPICXX 1
#include <dlfcn.h>
#include <mpi.h>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
static bool on = false;
static thread_local int depth = 0;
static std::map<std::string, long>& counts() { static auto* all = new std::map<std::string, long>; return *all; }
static void write() {
  const char* const path = std::getenv("COUNT_CALLS");
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");  // asking MPI would be one call more
  if (rank == nullptr) rank = std::getenv("PMI_RANK");
  if (path == nullptr || rank == nullptr) return;
  std::FILE* out = std::fopen((std::string(path) + "." + rank).c_str(), "w");
  for (const auto& [name, n] : counts()) std::fprintf(out, "%s %ld\\n", name.c_str(), n);
  std::fclose(out);
}
struct Depth { Depth() { depth++; } ~Depth() { depth--; } };
"""

WRAPPER = """extern "C" {result} {symbol}({parameters}) {{
  static auto counted_next = reinterpret_cast<{result} (*)({parameters})>(dlsym(RTLD_NEXT, "{symbol}"));
  const Depth counted_depth;
  if (depth == 1 && on) counts()["{name}"]++;
  {before}
  const {result} counted_result = counted_next({arguments});
  {after}
  return counted_result;
}}
"""


def main():
    output, compiler = sys.argv[1], sys.argv[3:]
    header = subprocess.run(compiler + ["-E", "-P", "-x", "c", "-"], input="#include <mpi.h>\n", text=True,
                            stdout=subprocess.PIPE, check=True).stdout
    header = re.sub(r"\s+", " ", header)
    with open(output, "w", encoding="utf-8") as f:
        f.write(FRAME)
        for result, name, text in re.findall(r"\b(int|double) (MPI_[A-Z][a-z]\w*) ?\(([^()]*)\)", header):
            if re.search(r"[cf]2[cf]$|Pcontrol|Aint_", name):
                continue
            parameters = [] if text.strip() in ("", "void") else [p.strip() for p in text.split(",")]
            names = [re.search(r"(\w+)\s*(\[[^\]]*\]\s*)*$", p).group(1) for p in parameters]
            before = "if (depth == 1) { write(); on = false; }" if name == "MPI_Finalize" else ""
            after = 'if (depth == 1) { on = true; counts()["%s"]++; }' % name if name.startswith("MPI_Init") and \
                name != "MPI_Initialized" else ""
            for symbol in (name, "P" + name):
                f.write(WRAPPER.format(result=result, symbol=symbol, name=name, parameters=text, before=before,
                                       after=after, arguments=", ".join(names)))


if __name__ == "__main__":
    main()
