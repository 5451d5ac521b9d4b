// Files that are not traces, or not any more: one clear message, and never a crash.

#include <hdf5.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "common/trace/reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/small_trace.hpp"

using namespace simreplay;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Equals;

namespace {

/// Reads everything that a trace holds.
void read_all(const std::string& path) {
  const trace::Reader reader(path);
  const std::int32_t processes = reader.facts().processes;
  reader.processes(0, processes);
  reader.first_calls(0, processes);
  for (const auto& members : reader.communicators()) members.world_ranks();
  const auto segments = reader.first_segments(0, processes);
  for (std::uint64_t s = segments.front(); s < segments.back(); s++) {
    const trace::Segment segment = reader.segment(s);
    const trace::SignatureTable table = reader.table(segment);
    std::vector<std::uint16_t> number(segment.calls);
    std::vector<std::int64_t> computation(segment.calls), duration(segment.calls);
    reader.calls(segment, segment.first_call, number, computation);
    reader.durations(segment.first_call, duration);
    for (const std::uint16_t n : number) REQUIRE(table[n].bytes >= 0);
  }
}

std::string message_of(const std::string& path) {
  try {
    read_all(path);
  } catch (const Error& e) {
    CHECK(std::string(e.what()).find('\n') == std::string::npos);
    return e.what();
  }
  return "";
}

void write_small_trace(const std::string& path) {
  test::SmallTrace t(3);
  const std::int32_t odd = t.communicator({2, 0});
  for (int p = 0; p < 3; p++) {
    t[p].compute(100).irecv((p + 2) % 3, 8, 0).isend((p + 1) % 3, 8, 1).wait({0, 1});
    t[p].call(Op::Sendrecv, {.peer = (p + 1) % 3, .bytes = 4}, {(p + 2) % 3, 0, 4});
    t[p].collective(Op::Allgatherv, 5, -1, {5, 5, 5});
  }
  t[0].collective(Op::Bcast, 4, 2, {}, odd);
  t[2].collective(Op::Bcast, 4, 2, {}, odd);
  const std::int32_t solver = t.region("solver"), queue = t.counter("queue"), clock = t.timer("clock");
  t[1].begin(solver).mark(Op::Counter_set, queue, {5}).mark(Op::Timer_while, clock, {queue}).end(solver);
  t.write(path);
}

/// Changes an attribute of a file as another program would.
void set_version(const std::string& path, std::int64_t version) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t attribute = H5Aopen(file, "version", H5P_DEFAULT);
  H5Awrite(attribute, H5T_NATIVE_INT64, &version);
  H5Aclose(attribute);
  H5Fclose(file);
}

void write_foreign(const std::string& path) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  H5Gclose(H5Gcreate2(file, "/weather", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Fclose(file);
}

/// What is printed to the standard error stream meanwhile, for HDF5 likes to talk there.
template <class Work>
std::string stderr_during(const std::string& scratch, Work work) {
  std::fflush(stderr);
  const int saved = dup(STDERR_FILENO);
  std::FILE* file = std::fopen(scratch.c_str(), "w+");
  dup2(fileno(file), STDERR_FILENO);
  work();
  std::fflush(stderr);
  dup2(saved, STDERR_FILENO);
  close(saved);
  std::fclose(file);
  return test::content_of(scratch);
}

}  // namespace

TEST_CASE("files that are no traces are named with what they are") {
  const test::ScratchFolder folder;
  const std::string path = folder.file("t.h5");
  const std::string printed = stderr_during(folder.file("stderr"), [&] {
    CHECK_THAT(message_of(path), Equals(path + ": expected a trace file, found no such file"));
    CHECK_THAT(message_of(folder.file("")), ContainsSubstring("expected a trace file, found a directory"));
    test::write_content(path, "");
    CHECK_THAT(message_of(path), Equals(path + ": expected a trace file, found an empty file"));
    test::write_content(path, "some text that nobody recorded\n");
    CHECK_THAT(message_of(path), Equals(path + ": expected a trace file (HDF5), found another kind of file"));
    write_foreign(path);
    CHECK_THAT(message_of(path), ContainsSubstring("is it a simreplay trace?"));
    write_small_trace(path);
    CHECK(message_of(path).empty());
    set_version(path, 99);
    CHECK_THAT(
        message_of(path),
        Equals(path + ": expected format version up to 1, found version 99; a newer simreplay reads it"));
  });
  CHECK_THAT(printed, Equals(""));
}

TEST_CASE("a truncated trace is refused, wherever it was cut") {
  const test::ScratchFolder folder;
  const std::string whole = folder.file("whole.h5"), cut = folder.file("cut.h5");
  write_small_trace(whole);
  const std::string content = test::content_of(whole);
  const std::string printed = stderr_during(folder.file("stderr"), [&] {
    for (std::size_t tenths = 1; tenths < 100; tenths++) {
      test::write_content(cut, content.substr(0, content.size() * tenths / 100));
      CAPTURE(tenths);
      CHECK_THAT(message_of(cut), ContainsSubstring(cut));
    }
    test::write_content(cut, content.substr(0, content.size() - 1));
    CHECK_THAT(message_of(cut), ContainsSubstring(cut));
  });
  CHECK_THAT(printed, Equals(""));
}

TEST_CASE("any bytes give a trace or an error", "[fuzz]") {
  const test::ScratchFolder folder;
  const std::string whole = folder.file("whole.h5"), changed = folder.file("changed.h5");
  write_small_trace(whole);
  const std::string content = test::content_of(whole);
  std::mt19937 random(20240607);
  int refused = 0;
  const std::string printed = stderr_during(folder.file("stderr"), [&] {
    for (int i = 0; i < 3'000; i++) {
      std::string bytes = content;
      for (unsigned n = 1 + random() % 4; n > 0; n--)
        bytes[random() % bytes.size()] = static_cast<char>(random());
      test::write_content(changed, bytes);
      try {
        read_all(changed);
      } catch (const Error&) {
        refused++;
      }
    }
  });
  CHECK(refused > 100);
  CHECK_THAT(printed, Equals(""));
}
