#pragma once
// Trees over p members, as one member sees them. The root is 0 unless said otherwise.

#include <array>
#include <span>

namespace simreplay::collectives {

struct Node {
  static constexpr int none = -1;
  static constexpr int most = 48;  // radix 4, 16 digits

  int parent = none;
  int count = 0;
  std::array<int, most> child;  // the first `count`, in the order in which Open MPI serves them

  std::span<const int> children() const { return std::span(child).first(static_cast<std::size_t>(count)); }
  void add(int v) { child[static_cast<std::size_t>(count++)] = v; }
};

Node chain_node(int v, int p);              // v - 1 to v + 1
Node binary_node(int v, int p);             // complete; odd members on the left, even ones on the right
Node binomial_node(int v, int p);           // the parent lacks the highest bit of v
Node in_order_binomial_node(int v, int p);  // the parent lacks the lowest bit of v: subtrees are consecutive
Node knomial_node(int v, int p);            // the parent lacks the lowest digit of v to base 4
Node in_order_binary_node(int v, int p);    // subtrees are consecutive; the root is p - 1

}  // namespace simreplay::collectives
