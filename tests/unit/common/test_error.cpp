// The text of errors.

#include "common/error.hpp"
#include "common/mpi_ops.hpp"
#include "common/output.hpp"
#include "tests/support/catch.hpp"

using namespace simreplay;

TEST_CASE("a fault names file, process, call, expected, found and remedy") {
  const Fault fault{.file = "t.h5",
                    .process = 17,
                    .call = 4211,
                    .operation = "MPI_Wait",
                    .expected = "an open request",
                    .found = "none",
                    .remedy = "was capture on?"};
  CHECK(to_string(fault) ==
        "t.h5: process 17, call 4211 (MPI_Wait): expected an open request, found none; was capture on?");
  const Error error(fault);
  CHECK(error.what() == to_string(fault));
  CHECK(error.fault().call == 4211);
}

TEST_CASE("what is unknown is left out of the message") {
  CHECK(to_string({.file = "m.ini", .line = 3, .problem = "unknown key"}) == "m.ini:3: unknown key");
  CHECK(to_string({.problem = "not enough memory"}) == "not enough memory");
  CHECK(to_string({.process = 2, .problem = "has no calls"}) == "process 2: has no calls");
  CHECK(to_string({.file = "t.h5", .operation = "MPI_Send", .expected = "a peer"}) ==
        "t.h5: MPI_Send: expected a peer");
}

TEST_CASE("operations are found by their names") {
  for (const OpInfo& row : mpi_ops) CHECK(find_op(row.name) == row.op);
  CHECK_FALSE(find_op("MPI_Sing").has_value());
  CHECK_FALSE(find_op("").has_value());
}

TEST_CASE("an output for which the disk has no room is refused beforehand") {
  CHECK_NOTHROW(simreplay::check_space("small.h5", 1));
  CHECK_THROWS_WITH(
      simreplay::check_space("large.h5", std::uint64_t{1} << 62),
      Catch::Matchers::ContainsSubstring("large.h5: expected room for 4611686018427387904 bytes, found "));
}
