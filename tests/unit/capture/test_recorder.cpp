// Parts of the recorder that need no MPI: what it knows by handle, and the spool it writes.

#include <fcntl.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <cstring>
#include <deque>
#include <filesystem>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include "capture/pack/spool_reader.hpp"
#include "capture/recorder/handle_map.hpp"
#include "capture/recorder/spool_writer.hpp"
#include "common/mpi_ops.hpp"
#include "tests/support/catch.hpp"

using namespace simreplay;
using recorder::HandleMap;
using recorder::SpoolWriter;
using spool::Record;

namespace {

namespace fs = std::filesystem;

/// A path that is free, in a folder that vanishes.
class Scratch {
 public:
  Scratch() {
    char name[] = "/tmp/simreplay-recorder-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~Scratch() { fs::remove_all(folder_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string path() const { return folder_ + "/p.spool"; }

 private:
  std::string folder_;
};

void start(SpoolWriter& writer, const std::string& path) {
  REQUIRE(writer.create(path.c_str()));
  writer.header().rank = 0;
  writer.header().size = 1;
}

/// Record `number` with `items` words.
bool write(SpoolWriter& writer, std::int64_t number, std::uint32_t items = 0) {
  Record record;
  record.bytes = number;
  record.items = items;
  const std::size_t bytes = sizeof record + items * sizeof(std::int64_t);
  std::byte* place = writer.reserve(bytes);
  if (place == nullptr) return false;
  std::memcpy(place, &record, sizeof record);
  const std::vector<std::int64_t> words(items, number);
  if (items > 0) std::memcpy(place + sizeof record, words.data(), items * sizeof(std::int64_t));
  writer.publish(bytes);
  return true;
}

struct Found {
  std::vector<std::int64_t> numbers;
  std::size_t words = 0, own_times = 0;
  bool whole = false, sound = true;
};

Found read(const std::string& path) {
  Found found;
  pack::SpoolReader reader(path);
  found.whole = reader.each([&](const Record& record, std::span<const std::int64_t> items) {
    if (record.kind == spool::own_time_kind) {
      found.own_times++;
      return;
    }
    found.numbers.push_back(record.bytes);
    found.words += items.size();
    found.sound = found.sound && std::ranges::count(items, record.bytes) == std::ssize(items);
  });
  CHECK(found.sound);
  return found;
}

void check_numbers(const Found& found, std::int64_t count) {
  std::vector<std::int64_t> expected(static_cast<std::size_t>(count));
  std::iota(expected.begin(), expected.end(), 0);
  CHECK((found.numbers == expected));  // in parentheses: a difference is not printed number by number
}

}  // namespace

TEST_CASE("a handle map gives values back first in, first out") {
  HandleMap<int, char> map;
  CHECK_FALSE(map.pop(7));
  map.push(7, 'a');
  map.push(8, 'x');
  map.push(7, 'b');
  CHECK(*map.find(7) == 'a');
  CHECK(map.pop(7) == 'a');
  CHECK(map.pop(7) == 'b');
  CHECK_FALSE(map.pop(7));
  CHECK(map.find(7) == nullptr);
  CHECK(map.pop(8) == 'x');
  CHECK(map.size() == 0);
}

TEST_CASE("a handle map agrees with a map of queues") {
  HandleMap<const void*, int> map;
  std::map<const void*, std::deque<int>> model;
  std::mt19937 random(1);
  int differences = 0;
  for (int i = 0; i < 50'000; i++) {
    // Few handles at aligned addresses, as MPI libraries give them.
    const auto* handle = reinterpret_cast<const void*>(std::uintptr_t{0x1000} + 448 * (random() % 300));
    std::deque<int>& queue = model[handle];
    if (random() % 2 == 0) {
      map.push(handle, i);
      queue.push_back(i);
      continue;
    }
    const int expected = queue.empty() ? -1 : queue.front();
    if (!queue.empty()) queue.pop_front();
    differences += map.pop(handle).value_or(-1) != expected ? 1 : 0;
  }
  CHECK(differences == 0);
}

TEST_CASE("a spool gives back what was written, in order") {
  Scratch scratch;
  SpoolWriter writer;
  start(writer, scratch.path());
  std::int64_t n = 0;
  for (; n < 3; n++) write(writer, n);
  check_numbers(read(scratch.path()), 3);
  for (; n < 20'000; n++) write(writer, n, static_cast<std::uint32_t>(n % 7));  // several windows

  const Found found = read(scratch.path());
  CHECK(found.whole);
  CHECK(found.own_times > 0);
  check_numbers(found, n);
}

TEST_CASE("a record may be larger than the window") {
  Scratch scratch;
  SpoolWriter writer;
  start(writer, scratch.path());
  constexpr std::uint32_t large = 100'000;
  write(writer, 0);
  write(writer, 1, large);
  write(writer, 2);
  write(writer, 3, large);
  const Found found = read(scratch.path());
  CHECK(found.whole);
  CHECK(found.words == 2 * large);
  check_numbers(found, 4);
}

TEST_CASE("what a killed process wrote is there") {
  Scratch scratch;
  const pid_t child = fork();
  if (child == 0) {
    SpoolWriter writer;
    if (!writer.create(scratch.path().c_str())) _exit(1);
    writer.header().size = 1;
    for (std::int64_t n = 0; n < 10'000; n++) write(writer, n);
    raise(SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFSIGNALED(status));
  const Found found = read(scratch.path());
  CHECK(found.whole);
  check_numbers(found, 10'000);
}

TEST_CASE("a spool that cannot grow ends, and stays readable") {
  Scratch scratch;
  const pid_t child = fork();
  if (child == 0) {  // the limit would stay with this process
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{600'000, 600'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    close(STDERR_FILENO);
    SpoolWriter writer;
    if (!writer.create(scratch.path().c_str())) _exit(1);
    writer.header().size = 1;
    std::int64_t n = 0;
    while (n < 100'000 && write(writer, n)) n++;
    for (int i = 0; i < 10; i++)
      if (write(writer, n)) _exit(2);
    _exit(n < 100'000 && writer.header().stopped == 1 ? 0 : 3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  const Found found = read(scratch.path());
  CHECK(found.numbers.size() > 5'000);
  check_numbers(found, static_cast<std::int64_t>(found.numbers.size()));
}

TEST_CASE("a spool whose file the program closed ends, and no other file is touched") {
  Scratch scratch;
  const pid_t child = fork();
  if (child == 0) {
    SpoolWriter writer;
    if (!writer.create(scratch.path().c_str())) _exit(1);
    writer.header().size = 1;
    close_range(3, ~0U, 0);
    const int other =
        open((scratch.path() + ".other").c_str(), O_RDWR | O_CREAT, 0600);  // may get our number
    close(STDERR_FILENO);
    std::int64_t n = 0;
    while (n < 100'000 && write(writer, n)) n++;
    _exit(n < 100'000 && lseek(other, 0, SEEK_END) == 0 ? 0 : 2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  check_numbers(read(scratch.path()), spool::window_bytes / sizeof(Record));
}

TEST_CASE("records can be taken back") {
  Scratch scratch;
  SpoolWriter writer;
  start(writer, scratch.path());
  write(writer, 0);
  const std::size_t position = writer.position();
  write(writer, 77);
  writer.rewind(position);
  write(writer, 1);
  check_numbers(read(scratch.path()), 2);
}
