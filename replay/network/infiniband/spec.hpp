#pragma once
// The settings of a generated fabric: "KIND:SIZES,name=value,...".

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replay/network/infiniband/fabric.hpp"

namespace simreplay::infiniband {

/// Settings are taken one by one; what is left over is unknown. All members throw Error.
class Spec {
 public:
  explicit Spec(std::string_view text);

  const std::string& kind() const { return kind_; }
  bool has(const std::string& name) const { return values_.count(name) > 0; }
  int count(const std::string& name, int least = 1);  // must be given
  int count_or(const std::string& name, int otherwise, int least = 1);
  /// The sizes after the colon ("4x4x4"), one to three if none is demanded.
  std::vector<int> sizes(std::size_t least, std::size_t most);
  LinkRate rate_or(const std::string& name, LinkRate otherwise);
  Duration delay();
  /// Throws if a setting was not taken.
  void finish() const;
  [[noreturn]] void refuse(std::string expected, std::string found) const;

 private:
  std::optional<std::string> take(const std::string& name);
  int parse_int(const std::string& name, const std::string& text, int least) const;

  std::string text_, kind_, sizes_;
  std::map<std::string, std::string> values_;
  std::vector<std::string> known_;
};

}  // namespace simreplay::infiniband
