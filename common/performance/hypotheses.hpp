#pragma once
// Why a program does not use its processors. First of all: does it? H0 says that it is efficient, H1 that it
// is not. Then hypotheses of a second level are tried on the tasks and channels that matter most; each one
// that holds says where, how much time it costs, and what it goes by.
//
// A difference between two metrics counts if it is unlikely to be chance, by their samples in windows of time
// (statistics.hpp). Neighbouring windows are alike in most programs, so the probabilities are too small where
// the windows are short against the steps of the program.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/performance/figures.hpp"
#include "common/performance/profile.hpp"
#include "common/units.hpp"

namespace simreplay::performance {

/// Of a task: what it did in each window, as shares of the window.
using Windows = std::vector<std::array<double, activities>>;
/// Of profiles that end at `time`; the last window counts if half of it was left.
std::vector<Windows> shares_of(std::vector<Profile> profiles, Duration time);

/// What is known of a region of the program in a task.
struct RegionTimes {
  std::int32_t task = 0;
  std::string name;
  double computation_ps = 0, waiting_ps = 0;
};

struct Run {
  Figures figures;
  Duration time{};               // of the program
  std::vector<Windows> windows;  // by task
  std::vector<RegionTimes> regions;
};

struct Criteria {
  double efficient = 0.8;          // H0: at least so large
  double busy = 0.9, slack = 0.5;  // load of the slower, of the faster side of a channel
  double queued = 1;               // messages: a queue is long above this on average
  double worth = 0.05;             // of the time: findings that cost less are left out
  double chance = 0.05;            // largest probability that a difference is none
};

/// A change of the machine after which the time that remains can be predicted.
struct Remedy {
  enum class Kind : std::uint8_t { none, faster_processors, ideal_network } kind = Kind::none;
  std::vector<std::pair<std::int32_t, double>> faster;  // task, by this factor
};

struct Finding {
  std::string hypothesis;  // "consumer too slow"
  std::string where;       // for people
  std::string evidence;    // the same
  std::vector<std::int32_t> tasks;
  std::optional<Channel> channel;  // the one that matters most
  std::string region;              // where most of it happens; empty: not known
  double cost_ps = 0;              // of the time of the program
  double chance = 1;
  Remedy remedy;
  double remaining_ps = 0;    // time of the program without it
  bool is_predicted = false;  // by a replay; else: the time minus the cost
};

struct Diagnosis {
  double efficiency = 1;  // computation / (processors times time)
  double idle_share = 0;  // of that product
  bool is_efficient = true;
  Criteria criteria;
  std::vector<Finding> findings;  // those that cost most first
};

Diagnosis diagnose(const Run& run, const Criteria& criteria);

std::string to_text(const Diagnosis& diagnosis, Duration time);
/// A JSON object.
std::string to_json(const Diagnosis& diagnosis);

}  // namespace simreplay::performance
