#pragma once
// From calls to segments: finds the signature of each call and cuts the stream where a table is full.

#include <cstdint>
#include <span>
#include <vector>

#include "common/trace/format.hpp"
#include "common/trace/signature_table.hpp"

namespace simreplay::trace {

/// Takes what an Encoder makes. The row numbers in `segment` are relative to the encoder's start.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void calls(std::span<const std::uint16_t> signature, std::span<const std::int64_t> computation,
                     std::span<const std::int64_t> duration, std::span<const std::int64_t> wall) = 0;
  virtual void segment(const Segment& segment, const SignatureTable& table) = 0;
};

/// Encoding without writing tells how much of a file processes take.
struct Nowhere final : Sink {
  void calls(std::span<const std::uint16_t>, std::span<const std::int64_t>, std::span<const std::int64_t>,
             std::span<const std::int64_t>) override {}
  void segment(const Segment&, const SignatureTable&) override {}
};

/// Encodes processes one after another. Memory: one signature table and a buffer of calls.
class Encoder {
 public:
  explicit Encoder(Sink& sink);

  void begin(std::int32_t process);
  /// Times in ticks of the trace; `wall` counts only where computation is measured by another clock.
  /// `s.items` is copied.
  void add(const Signature& s, std::int64_t computation, std::int64_t duration, std::int64_t wall = 0);
  void end();

  const Extent& extent() const { return extent_; }

 private:
  std::uint32_t find(const Signature& s);
  std::uint32_t look_up(const Signature& s);
  void rehash(std::size_t slots);
  void flush_calls();
  void flush_segment();

  Sink& sink_;
  Extent extent_;
  Segment segment_;
  SignatureTable table_;
  std::vector<std::uint32_t> slots_;      // open addressing: signature number + 1, 0 = free
  std::vector<std::uint32_t> successor_;  // signature last seen after this one: a good guess in loops
  std::uint32_t previous_ = 0;
  std::vector<std::uint16_t> signature_;
  std::vector<std::int64_t> computation_, duration_, wall_;
};

}  // namespace simreplay::trace
