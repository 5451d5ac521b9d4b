// Queries to metrics: what they name, what they answer, what is refused.
#include <nlohmann/json.hpp>
#include <string>

#include "common/performance/query.hpp"
#include "tests/support/catch.hpp"

using namespace simreplay::performance;

namespace {

/// Two nodes of two processors; 0 sends to 1 and 3.
Figures four_tasks() {
  Figures f;
  f.nodes = {0, 0, 1, 1};
  for (int t = 0; t < 4; t++) {
    Cells& c = f.tasks.emplace_back();
    c[Cell::time] = c[Cell::span] = 100;
    c[Cell::computation] = 10 * (t + 1);
    c[Cell::idle] = 90 - 10 * t;
  }
  f.channels = {{0, 1, 0, 7}, {0, 3, 0, -1}};
  for (int i = 0; i < 2; i++) {
    Cells& c = f.channel_cells.emplace_back();
    c[Cell::span] = 100;
    c[Cell::sends] = c[Cell::receives] = 4 + i;
    c[Cell::send_time] = 8;
    c[Cell::queue_max] = 3 - i;
    c[Cell::in_flight] = 50;
  }
  return f;
}

Value one(const std::string& query) {
  const auto values = answer(four_tasks(), parse_query(query));
  REQUIRE(values.size() == 1);
  return values[0];
}

}  // namespace

TEST_CASE("a query sums up what lies below its level") {
  CHECK(one("task:task:2:computation").whole == 30);
  CHECK(one("task:system:*:computation").whole == 100);
  CHECK(one("task:system:*:computation").mean == 25);
  CHECK(one("processor:node:1:computation").whole == 70);
  CHECK(one("processor:node:1:computation").mean == 35);
  CHECK(one("processor:node:0:load").value == Approx(0.15));
  CHECK(one("channel:channel:0>1:sends").whole == 4);
  CHECK(one("channel:channel:1:sends").whole == 5);
  CHECK(one("channel:processor:0:sends").whole == 9);
  CHECK(one("channel:processor:3:receives").whole == 5);
  CHECK(one("channel:processor:3:sends").whole == 0);
  CHECK(one("channel:system:0:queue-max").whole == 3);
  CHECK(one("channel:system:0:queue-mean").value == Approx(1));
  CHECK(one("channel:system:0:send-mean").value == Approx(16. / 9));
}

TEST_CASE("a query without an object or a metric asks for all") {
  CHECK(answer(four_tasks(), parse_query("task:task:*:load")).size() == 4);
  CHECK(answer(four_tasks(), parse_query("channel:channel:*:sends")).size() == 2);
  std::size_t of_tasks = 0;
  for (const MetricInfo& m : metrics()) of_tasks += m.of_tasks ? 1 : 0;
  CHECK(answer(four_tasks(), parse_query("task")).size() == 4 * of_tasks);
  CHECK(to_text(parse_query("task")) == "task:task:*:*");
  CHECK(to_text(parse_query("channel:channel:0>1")) == "channel:channel:0>1:*");
  const auto json = nlohmann::json::parse(to_json(answer(four_tasks(), parse_query("task:processor"))));
  CHECK(json.size() == 4 * of_tasks);
  CHECK(json[0]["object"] == "processor 0");
}

TEST_CASE("what is not there is refused with what is") {
  const auto refusal = [](const std::string& query) -> std::string {
    try {
      answer(four_tasks(), parse_query(query));
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "";
  };
  CHECK_THAT(refusal("chanel"), Catch::Contains("channel, task or processor"));
  CHECK_THAT(refusal("channel:node"), Catch::Contains("(channel, processor, system), found 'node'"));
  CHECK_THAT(refusal("channel:system:0:load"),
             Catch::Contains("queue-max") && Catch::Contains("found 'load'"));
  CHECK_THAT(refusal("task:task:x"), Catch::Contains("found 'x'"));
  CHECK_THAT(refusal("task:task:9"), Catch::Contains("(0 to 3), found '9'"));
  CHECK_THAT(refusal("channel:channel:1>2"), Catch::Contains("found '1>2'"));
  CHECK_THAT(refusal("task:task:1:load:more"), Catch::Contains("KIND:LEVEL:OBJECT:METRIC"));
}

TEST_CASE("every metric is described, once for each kind") {
  const std::string text = describe_metrics();
  for (const MetricInfo& m : metrics()) {
    CHECK_THAT(text, Catch::Contains(std::string(m.name)));
    CHECK(!m.help.empty());
    for (const Kind k : {Kind::channel, Kind::task, Kind::processor})
      if (m.is_of(k)) CHECK(find_metric(k, m.name) == &m);
  }
}

TEST_CASE("sums beyond 64 bits are said as they are") {
  Figures f;
  for (int t = 0; t < 4; t++) {
    f.nodes.push_back(0);
    Cells& c = f.tasks.emplace_back();
    c[Cell::computation] = c[Cell::time] = std::int64_t{1} << 62;
  }
  const auto values = answer(f, parse_query("task:system:0:computation"));
  CHECK(values[0].value == Approx(4 * 4.611686018427388e18));
  CHECK_THAT(to_json(values), Catch::Contains("1.8446744"));
  CHECK(answer(f, parse_query("task:system:0:load"))[0].value == 1);
}
