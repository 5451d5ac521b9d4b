#pragma once
// Tables with a value for each verb, or for each kind of items. What is not listed has the value of a fresh
// object.

#include <algorithm>
#include <array>
#include <cstddef>

#include "common/mpi_ops.hpp"

namespace simreplay::simtrace {

template <class Key, Key last, class Value>
class EnumTable {
 public:
  struct Row {
    Key key;
    Value value;
  };
  template <std::size_t n>
  constexpr explicit EnumTable(const Row (&rows)[n]) {
    for (const Row& row : rows) values_[static_cast<std::size_t>(row.key)] = row.value;
  }
  constexpr const Value& operator[](Key key) const { return values_[static_cast<std::size_t>(key)]; }
  constexpr bool is_full() const {
    return std::ranges::none_of(values_, [](const Value& v) { return v == Value{}; });
  }

 private:
  std::array<Value, static_cast<std::size_t>(last) + 1> values_{};
};

template <class Value>
using VerbTable = EnumTable<Verb, Verb::local, Value>;
template <class Value>
using ItemsTable = EnumTable<Items, Items::counter, Value>;

}  // namespace simreplay::simtrace
