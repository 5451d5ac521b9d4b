#pragma once
// The machines of a sweep: `--sweep KEY=V1,V2,...` or `KEY=FROM:TO:N[:log]`, several as a grid, and
// `--machines A.ini,B.ini`.

#include <span>
#include <string>
#include <vector>

#include "common/machine.hpp"

namespace simreplay::sweep {

struct Variant {
  std::vector<std::string> values;  // of the swept keys
  Machine machine;
};

struct Variants {
  std::vector<std::string> keys;  // "machine" for --machines
  std::vector<Variant> all;       // the last key changes first
};

constexpr std::size_t variants_at_most = 10'000;

/// `base`: the machine that is swept. With `machines`, what `settings` says of it holds for each of these.
/// Throws Error: unknown keys, values out of their domain, more than variants_at_most machines.
Variants make_variants(const Machine& base, std::span<const std::string> machines,
                       std::span<const std::string> sweeps);

}  // namespace simreplay::sweep
