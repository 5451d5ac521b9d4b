#include "capture/simtrace/requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "capture/simtrace/enum_table.hpp"

namespace simreplay::simtrace {
namespace {

/// Larger slot numbers cannot come from a real run and would only cost memory.
constexpr std::size_t most_slots = 1U << 24;

// Of the verbs whose operations are all alike; a list of starts opens slots of its own.
constexpr VerbTable<Opens> opening({
    {Verb::post_send, Opens::must},
    {Verb::post_receive, Opens::must},
    {Verb::post_collective, Opens::must},
    {Verb::post_neighbors, Opens::must},
});

// Of single operations. Opening a file's request may have failed.
constexpr struct {
  std::string_view names_begin_with;
  Opens opens;
} exceptions[] = {{"MPI_Comm_idup", Opens::must}, {"MPI_Rput", Opens::must},
                  {"MPI_Rget", Opens::must},      {"MPI_Raccumulate", Opens::must},
                  {"MPI_File_iread", Opens::may}, {"MPI_File_iwrite", Opens::may}};

constexpr std::array<Opens, mpi_ops.size()> opens_by_op = [] {
  std::array<Opens, mpi_ops.size()> table{};
  for (const OpInfo& row : mpi_ops) {
    Opens& value = table[static_cast<std::size_t>(row.op)] = opening[row.verb];
    for (const auto& e : exceptions)
      if (row.name.starts_with(e.names_begin_with)) value = e.opens;
  }
  return table;
}();

}  // namespace

Opens opens(Op op) { return opens_by_op[static_cast<std::size_t>(op)]; }

void Requests::open(const CallName& at, std::int64_t slot, bool receives, FaultLog& faults) {
  const auto index = static_cast<std::size_t>(slot);
  if (index != smallest_free_)
    faults.add(fault_at(at, fmt::format("request slot {}, the smallest that is free", smallest_free_),
                        is_open(slot) ? fmt::format("slot {}, which call {} opened", slot, slots_[index].call)
                                      : fmt::format("slot {}", slot)));
  if (index >= most_slots) return;
  if (index >= slots_.size()) slots_.resize(index + 1);
  slots_[index] = {true, receives, at.op, at.call, std::nullopt};
  while (smallest_free_ < slots_.size() && slots_[smallest_free_].is_open) smallest_free_++;
}

std::optional<Requests::Open> Requests::close(const CallName& at, std::int64_t slot, FaultLog& faults) {
  expect_open(at, slot, faults);
  if (!is_open(slot)) return std::nullopt;
  const auto index = static_cast<std::size_t>(slot);
  smallest_free_ = std::min(smallest_free_, index);
  return std::exchange(slots_[index], Open{});
}

void Requests::expect_open(const CallName& at, std::int64_t slot, FaultLog& faults) const {
  if (!is_open(slot))
    faults.add(fault_at(at, "an open request", fmt::format("slot {}, which is free", slot)));
}

Requests::Open* Requests::opened_by(std::uint64_t call, std::int32_t slot) {
  if (!is_open(slot)) return nullptr;
  Open& open = slots_[static_cast<std::size_t>(slot)];
  return open.call == call ? &open : nullptr;
}

void Requests::expect_none_open(std::int32_t process, FaultLog& faults) const {
  for (std::size_t slot = 0; slot < slots_.size(); slot++)
    if (slots_[slot].is_open)
      faults.add(fault_at({process, slots_[slot].call, slots_[slot].op}, "a call that completes its request",
                          fmt::format("slot {} open at the end", slot)));
}

}  // namespace simreplay::simtrace
