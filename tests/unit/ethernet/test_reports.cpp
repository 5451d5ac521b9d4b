// What the models of Ethernet say of a run, by hand.

#include <nlohmann/json.hpp>

#include "replay/network/ethernet/shared_report.hpp"
#include "replay/network/ethernet/switched_report.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/ethernet/small_shared.hpp"
#include "tests/unit/ethernet/small_switched.hpp"

namespace simreplay::ethernet::test {

TEST_CASE("The report of shared Ethernet tells use, competitors and queues of each domain") {
  // t_s 0.5 us; 2 us with two competitors; 0.5 us with one, while the empty message of host 0 is in its t_s.
  const SharedSettings s = settings(500'000, {1000, 1});
  const Run r =
      run(s, 4, {{at_ps(0), 0, 0, 1, 1000, 0}, {at_ps(0), 1, 1, 0, 1500, 0}, {at_ps(0), 2, 0, 1, 0, 0}}, 2);
  const network::Report report = report_of(r.figures);
  const auto json = nlohmann::json::parse(report.json);
  CHECK(json["model"] == "shared-ethernet");
  CHECK(json["messages"] == 3);
  CHECK(json["bytes"] == 2500);
  CHECK(json["end_ps"] == 3'000'000);
  const auto& domain = json["domains"][0];
  CHECK(domain["busy_ps"] == 2'500'000);
  CHECK(domain["utilisation"] == Catch::Approx(2.5 / 3));
  CHECK(domain["mean_competitors"] == Catch::Approx((2 * 2.0 + 0.5) / 2.5));
  CHECK(domain["most_competitors"] == 2);
  CHECK(domain["queued"]["most_ps"] == 2'500'000);
  CHECK(json["domains"][1]["busy_ps"] == 0);
  REQUIRE(report.lines.size() == 3);
  CHECK(report.lines[2] ==
        "domain 0 of 2 hosts: busy 83.3 % of the time, then with 1.80 competitors, at most 2");
}

TEST_CASE("The report of switched Ethernet names the hot links") {
  const std::vector<Ratio> rates(3, Ratio{8000, 1});
  constexpr std::int64_t full = 1538 * 8000;
  const SwitchedRun r =
      run(switched_settings(), rates, {{at_ps(0), 0, 0, 2, 3000, 0}, {at_ps(0), 1, 1, 2, 1500, 0}});
  std::vector<HostFigures> figures;
  for (std::size_t h = 0; h < rates.size(); h++)
    figures.push_back({static_cast<std::int32_t>(h), r.down[h].busy, r.up[h], r.down[h]});
  const network::Report report = report_of(figures);
  const auto json = nlohmann::json::parse(report.json);
  CHECK(json["hot_hosts"] == std::vector<int>{2});
  CHECK(json["hosts"].size() == 3);
  CHECK(json["hosts"][2]["down"]["frames"] == 3);
  CHECK(json["hosts"][2]["down"]["busy_ps"] == 3 * full);
  CHECK(json["hosts"][0]["up"]["bytes"] == 3000);
  CHECK(json["frames_queued"]["most_ps"] == full);
  CHECK(json["latency"]["most_ps"] == 4 * full + 2 * 50'000 + 2'000'000);
  CHECK(report.lines.back().starts_with("to host 2: busy "));
}

}  // namespace simreplay::ethernet::test
