// Live samples: as lines of JSON, as a table, on a terminal.
#include <algorithm>
#include <cstdio>
#include <string>

#include "common/error.hpp"
#include "common/performance/live.hpp"
#include "tests/support/catch.hpp"

using namespace simreplay;
using namespace simreplay::performance;

namespace {

LiveProcessor processor(std::int32_t number, double load, double communication) {
  LiveProcessor p;
  p.processor = number;
  p.load = load;
  p.communication = communication;
  p.idle = 1 - load - communication;
  return p;
}

LiveSample sample() {
  LiveSample s;
  s.number = 7;
  s.seconds = 3.5;
  s.calls_per_second = 12345;
  s.period_seconds = 0.5;
  s.round_trip_seconds = 0.00025;
  s.requests_sent = s.requests_returned = 8;
  s.processors = {processor(0, 0.75, 0.125), processor(1, 0.25, 0)};
  s.processors[0].to = 1;
  s.processors[0].to_messages = 40;
  s.processors[1].queue = 32;
  s.processors[1].memory = 3 << 20;
  return s;
}

std::string what_stands_in(std::FILE* file) {
  std::rewind(file);
  std::string text(10'000, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  return text;
}

}  // namespace

TEST_CASE("a sample is one line of JSON, and the same when it is read again") {
  LiveSample s = sample();
  const std::string line = to_json_line(s);
  CHECK(line.find('\n') == std::string::npos);
  CHECK(line.starts_with(R"({"number":7,"seconds":3.5,"calls_per_second":12345.0,"period_seconds":0.5,)"));
  CHECK(line.ends_with(
      R"({"processor":1,"load":0.25,"communication":0.0,"idle":0.75,"queue_messages":32,"calls":0,)"
      R"("messages_sent":0,"messages_received":0,"bytes_sent":0,"bytes_received":0,"memory_bytes":3145728,)"
      R"("to":-1,"to_messages":0}]})"));
  CHECK(parse_json_line(line) == s);
  s.progress = 0.1;
  s.simulated_seconds = 1.0 / 3;
  s.remaining_seconds = 31.5;
  CHECK(parse_json_line(to_json_line(s)) == s);
}

TEST_CASE("what is no sample is refused") {
  for (const char* text : {"", "{", "[]", "{}", R"({"number":"seven"})"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_json_line(text), Error);
  }
}

TEST_CASE("a table has a line for each processor") {
  CHECK(to_table(sample(), 23, 84) ==
        "3.500 s  12.3 k calls/s  round trip 250.0 us every 500.0 ms\n"
        "processor  load comm.  idle  # load = comm . idle         queue     memory  sends to\n"
        "        0   75%   12%   12%  ##################===...         0             1\n"
        "        1   25%    0%   75%  ######..................        32    3.0 MiB\n");
  LiveSample s = sample();
  s.progress = 0.5;
  s.simulated_seconds = 0.25;
  s.remaining_seconds = 3.5;
  CHECK(to_table(s, 23, 200)
            .starts_with(
                "3.500 s  50.0 % done  simulated 250.0 ms  remaining 3.500 s  12.3 k calls/s  round trip"));
  CHECK(to_text_line(sample()) ==
        "3.500 s  12.3 k calls/s  round trip 250.0 us every 500.0 ms  load 25% (1) to 75% (0)  longest queue "
        "32 "
        "(1)");
}

TEST_CASE("where there is no room for all, a table has the busiest and the idlest") {
  LiveSample s = sample();
  s.processors.clear();
  for (std::int32_t i = 0; i < 100; i++) s.processors.push_back(processor((i * 7) % 100, i * 0.01, 0));
  const std::string table = to_table(s, 7, 40);
  CHECK(table ==
        "3.500 s  12.3 k calls/s  round trip 250.\n"
        "processor  load comm.  idle  # load = co\n"
        "       93   99%    0%    1%  ###########\n"
        "       86   98%    0%    2%  ###########\n"
        "      ...  96 others, neither as busy no\n"
        "        7    1%    0%   99%  ...........\n"
        "        0    0%    0%  100%  ...........\n");
  for (std::size_t rows = 0; rows < 5; rows++) {  // however small the terminal is
    INFO(rows);
    CHECK(std::ranges::count(to_table(s, rows, 1), '\n') == 5);
  }
}

TEST_CASE("a screen draws over what it drew, not too often, and clears it at the end") {
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  {
    LiveScreen screen(file);
    screen.show(sample());
    const std::string once = what_stands_in(file);
    CHECK(std::ranges::count(once, '\n') == 4);
    screen.show(sample());  // too soon
    CHECK(what_stands_in(file) == once);
  }
  CHECK(what_stands_in(file).ends_with("\x1b[4F\x1b[J"));
  std::fclose(file);
}
