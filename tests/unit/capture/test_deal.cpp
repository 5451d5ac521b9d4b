// How spools are dealt to ranks.

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "capture/pack/deal.hpp"
#include "tests/support/catch.hpp"

using namespace simreplay;

TEST_CASE("a row is cut into blocks of about equal size") {
  CHECK(pack::deal({1, 1, 1, 1}, 2) == std::vector<int>{0, 0, 1, 1});
  CHECK(pack::deal({9, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 2) == std::vector<int>{0, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  CHECK(pack::deal({5}, 3) == std::vector<int>{1});
  CHECK(pack::deal({}, 3).empty());
  CHECK(pack::deal({0, 0}, 2) == std::vector<int>{0, 0});

  std::mt19937_64 random(1);
  for (int i = 0; i < 100; i++) {
    std::vector<std::uint64_t> sizes(random() % 200);
    for (auto& size : sizes) size = random() % 1000;
    const int blocks = 1 + static_cast<int>(random() % 9);
    const std::vector<int> block = pack::deal(sizes, blocks);
    REQUIRE(block.size() == sizes.size());
    CHECK(std::ranges::is_sorted(block));
    std::vector<std::uint64_t> load(static_cast<std::size_t>(blocks));
    std::uint64_t total = 0;
    for (std::size_t k = 0; k < sizes.size(); k++) {
      load.at(static_cast<std::size_t>(block[k])) += sizes[k];
      total += sizes[k];
    }
    for (const std::uint64_t l : load) CHECK(l <= total / static_cast<std::uint64_t>(blocks) + 1000);
  }
}
