#include "replay/network/infiniband/link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>

namespace simreplay::infiniband {
namespace {

struct SpeedRow {
  Speed speed;
  std::string_view name;
  std::uint64_t numerator, denominator;  // Gb/s of data per lane
};

// InfiniBand Architecture Specification, volume 2. Signalling per lane, less its encoding: 8b/10b up to QDR
// (2.5, 5, 10 Gb/s), 64b/66b from FDR10 to EDR (10.3125, 14.0625, 25.78125 Gb/s); from HDR on the forward
// error correction is part of the signalling, and the rates are nominal.
constexpr std::array<SpeedRow, 9> speeds{{{Speed::sdr, "SDR", 2, 1},
                                          {Speed::ddr, "DDR", 4, 1},
                                          {Speed::qdr, "QDR", 8, 1},
                                          {Speed::fdr10, "FDR10", 10, 1},
                                          {Speed::fdr, "FDR", 150, 11},
                                          {Speed::edr, "EDR", 25, 1},
                                          {Speed::hdr, "HDR", 50, 1},
                                          {Speed::ndr, "NDR", 100, 1},
                                          {Speed::xdr, "XDR", 200, 1}}};

constexpr std::array<std::uint8_t, 5> widths{1, 2, 4, 8, 12};

const SpeedRow& row(Speed speed) { return speeds[static_cast<std::size_t>(speed)]; }

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::toupper(x) == std::toupper(y); });
}

}  // namespace

Ratio per_byte(LinkRate rate) {
  const SpeedRow& r = row(rate.speed);
  return {8000 * r.denominator, r.numerator * rate.lanes};
}

bool slower(LinkRate a, LinkRate b) {
  const SpeedRow &x = row(a.speed), &y = row(b.speed);
  return a.lanes * x.numerator * y.denominator < b.lanes * y.numerator * x.denominator;
}

std::string to_string(LinkRate rate) { return fmt::format("{}x{}", rate.lanes, row(rate.speed).name); }

std::optional<LinkRate> parse_link_rate(std::string_view text) {
  const std::size_t x = text.find('x');
  if (x == std::string_view::npos) return std::nullopt;
  for (const std::uint8_t lanes : widths) {
    if (text.substr(0, x) != fmt::format("{}", lanes)) continue;
    for (const SpeedRow& r : speeds)
      if (same_word(text.substr(x + 1), r.name)) return LinkRate{lanes, r.speed};
  }
  return std::nullopt;
}

Duration parse_delay(std::string_view text) {
  constexpr double ps_per_metre = 5000;
  const bool metres = text.size() > 1 && text.back() == 'm' && text[text.size() - 2] != 'i' &&
                      std::isdigit(static_cast<unsigned char>(text[text.size() - 2]));
  if (!metres) return parse_duration(text);
  std::size_t used = 0;
  const std::string number(text.substr(0, text.size() - 1));
  double value = -1;
  try {
    value = std::stod(number, &used);
  } catch (const std::exception&) {
  }
  if (used != number.size() || !(value >= 0 && value <= 1e6))
    throw std::invalid_argument(fmt::format("expected a length or a time (2m, 12ns), found `{}`", text));
  return Duration{static_cast<std::int64_t>(value * ps_per_metre + 0.5)};
}

}  // namespace simreplay::infiniband
