// Every command comes to an end with a damaged trace: with a result, with faults or with an error.

#include <cstdint>
#include <random>
#include <string>

#include "capture/simtrace/diff.hpp"
#include "capture/simtrace/summary.hpp"
#include "capture/simtrace/verify.hpp"
#include "common/error.hpp"
#include "common/trace/reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/generated_trace.hpp"
#include "tests/support/scratch.hpp"

using namespace simreplay;

TEST_CASE("damaged traces are refused or have faults, and nothing crashes", "[fuzz]") {
  const test::ScratchFolder folder;
  const std::string whole = folder.file("whole.h5"), changed = folder.file("changed.h5");
  test::write_generated(test::job_of("random", 5, 6), whole);
  const std::string content = test::content_of(whole);
  std::mt19937 random(4);
  int refused = 0, faulty = 0, other = 0;
  for (int i = 0; i < 1'000; i++) {
    std::string bytes = content;
    for (unsigned n = 1 + random() % 8; n > 0; n--)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    test::write_content(changed, bytes);
    try {
      const trace::Reader sound(whole), reader(changed);
      if (simtrace::verify(reader).faults > 0) faulty++;
      if (simtrace::summarize(reader).longest_ticks != simtrace::summarize(sound).longest_ticks) other++;
      simtrace::compare(sound, reader);
    } catch (const Error&) {
      refused++;
    }
  }
  CHECK(refused > 50);
  CAPTURE(refused, faulty, other);
}

TEST_CASE("values of a trace that make no sense", "[fuzz]") {
  const test::ScratchFolder folder;
  const std::string path = folder.file("t.h5");
  std::mt19937_64 random(5);
  const simtrace::Job job = test::job_of("random", 4, 6);
  constexpr auto with_arguments = static_cast<std::size_t>(Op::Add_error_class);  // from there on: local
  for (int i = 0; i < 300; i++) {
    trace::Facts facts;
    facts.processes = job.processes;
    trace::Writer writer(path, facts);
    trace::Encoder encoder(writer);
    const auto any = [&] {
      return static_cast<std::int64_t>(random() >> (random() % 64)) - static_cast<std::int64_t>(random() % 4);
    };
    const auto small = [&] { return static_cast<std::int32_t>(random() % 6) - 2; };
    for (std::int32_t p = 0; p < job.processes; p++) {
      writer.begin_process(p);
      encoder.begin(p);
      for (int call = 0; call < 40; call++) {
        std::vector<std::int64_t> items(random() % 2 == 0 ? random() % 6 : random() % 3 * start_words);
        for (auto& item : items) item = random() % 8 == 0 ? any() : small();
        encoder.add({.op = mpi_ops[random() % with_arguments].op,
                     .flags = static_cast<std::uint16_t>(random()),
                     .thread = static_cast<std::uint16_t>(random() % 8 == 0 ? random() : random() % 3),
                     .overlaps = static_cast<std::uint16_t>(random() % 8 == 0 ? random() : random() % 3),
                     .communicator = static_cast<std::int32_t>(random() % 4),
                     .peer = static_cast<std::int32_t>(random() % 6) - 2,
                     .tag = small(),
                     .request = random() % 8 == 0 ? static_cast<std::int32_t>(random()) : small(),
                     .bytes = static_cast<std::int64_t>(random() >> (1 + random() % 63)),
                     .items = items},
                    any(), any());
      }
      encoder.end();
      writer.end_process({});
    }
    std::vector<trace::Members> communicators = communicators_of(job);
    communicators[2].first_group = static_cast<std::int32_t>(random() % 3);
    communicators[3].runs.push_back({trace::nobody, 1, 1 + static_cast<std::int32_t>(random() % 2)});
    writer.commit(communicators);
    const trace::Reader reader(path);
    CHECK(simtrace::verify(reader).faults > 0);
    simtrace::summarize(reader);
    CHECK(simtrace::compare(reader, reader).same());
  }
}
