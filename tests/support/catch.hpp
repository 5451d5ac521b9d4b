#pragma once
// Catch2 2.13 (Debian 12, Ubuntu 22.04) and 3 under the names of version 3.

#if __has_include(<catch2/catch_all.hpp>)

#include <catch2/catch_all.hpp>

#else

#include <catch2/catch.hpp>

#include <string>

namespace Catch {

using Detail::Approx;

#if defined(CATCH_CONFIG_RUNNER)
using EventListenerBase = TestEventListenerBase;
#endif

namespace Matchers {

inline StdString::ContainsMatcher ContainsSubstring(const std::string& text,
                                                    CaseSensitive::Choice choice = CaseSensitive::Yes) {
  return Contains(text, choice);
}

}  // namespace Matchers
}  // namespace Catch

#endif
