#pragma once
// What `simtrace verify` says about traces written out by hand.

#include <cstddef>
#include <string>
#include <vector>

#include "capture/simtrace/verify.hpp"
#include "common/trace/reader.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/small_trace.hpp"

namespace simreplay::test {

using Texts = std::vector<std::string>;

/// The trace is called t.h5 in all texts.
inline simtrace::Verdict verdict_of(const SmallTrace& t, std::size_t shown = 20) {
  const ScratchFolder folder;
  const std::string path = folder.file("t.h5");
  t.write(path);
  simtrace::Verdict v = simtrace::verify(trace::Reader(path), shown);
  for (Texts* texts : {&v.shown, &v.remarks})
    for (std::string& text : *texts) text = text.substr(path.size() - 4);  // without the folder
  return v;
}

inline Texts faults_of(const SmallTrace& t) { return verdict_of(t).shown; }

}  // namespace simreplay::test
