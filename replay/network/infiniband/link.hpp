#pragma once
// What a cable carries: lanes and signalling, as InfiniBand names them ("4xEDR").

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/units.hpp"

namespace simreplay::infiniband {

/// In order of their rates per lane.
enum class Speed : std::uint8_t { sdr, ddr, qdr, fdr10, fdr, edr, hdr, ndr, xdr };

struct LinkRate {
  std::uint8_t lanes = 4;  // 1, 2, 4, 8 or 12
  Speed speed = Speed::edr;

  friend bool operator==(const LinkRate&, const LinkRate&) = default;
};

/// Picoseconds per byte of data, after encoding; exact.
Ratio per_byte(LinkRate rate);
bool slower(LinkRate a, LinkRate b);

std::string to_string(LinkRate rate);
/// Empty if the text is none: "4xEDR", "1xSDR", "4xFDR10".
std::optional<LinkRate> parse_link_rate(std::string_view text);

/// "2m" of cable, at 5 ns per metre (two thirds of the speed of light), or a time: "12ns". Throws
/// std::invalid_argument with what was expected and found.
Duration parse_delay(std::string_view text);

}  // namespace simreplay::infiniband
