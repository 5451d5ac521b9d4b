#include "replay/collectives/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace simreplay::collectives {

static_assert(std::ranges::all_of(mpi_ops,
                                  [](const OpInfo& op) {
                                    return row_of(op.op).empty() == (op.verb != Verb::collective);
                                  }),
              "every collective has algorithms");

std::span<const Algorithm> algorithms(Op op) { return row_of(op); }

const Algorithm& find(Op op, std::string_view name) {
  const auto valid = algorithms(op);
  if (name.empty()) return valid.front();
  const auto it = std::ranges::find(valid, name, &Algorithm::name);
  if (it != valid.end()) return *it;
  std::vector<std::string_view> names;
  for (const Algorithm& a : valid) names.push_back(a.name);
  throw std::invalid_argument(fmt::format("expected an algorithm of {} ({}), found '{}'", info(op).name,
                                          fmt::join(names, ", "), name));
}

}  // namespace simreplay::collectives
