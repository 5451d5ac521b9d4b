// The names that the tests use exist with Catch2 2.13 and 3 alike.

#include "tests/support/catch.hpp"

#include <stdexcept>
#include <string>

TEST_CASE("matchers and approximations have the same names in both versions of Catch2") {
  using Catch::Matchers::ContainsSubstring;
  CHECK_THAT(std::string{"expected an open request"}, ContainsSubstring("open"));
  CHECK(0.1 + 0.2 == Catch::Approx(0.3));
  CHECK_THROWS_AS(throw std::runtime_error("wanted"), std::runtime_error);
}
