#pragma once
// The datasets of a trace file by group; one definition for writers and readers. Private to common/trace.

#include <string>

#include "common/trace/format.hpp"
#include "common/trace/hdf5.hpp"

namespace simreplay::trace {

template <class T>
using Column = hdf5::Column<T>;
using hdf5::Layout;

struct CallColumns {
  Column<std::uint16_t> signature;
  Column<std::int64_t> computation, duration;
  template <class FileRef, class... L>
  explicit CallColumns(FileRef& f, const L&... layout)
      : signature(f, "/calls/signature", layout...),
        computation(f, "/calls/computation", layout...),
        duration(f, "/calls/duration", layout...) {}
};

struct SignatureColumns {
  Column<std::uint16_t> operation, flags, thread, overlaps;
  Column<std::int32_t> communicator, peer, tag, request;
  Column<std::int64_t> bytes;
  Column<std::uint32_t> items;
  template <class FileRef, class... L>
  explicit SignatureColumns(FileRef& f, const L&... layout)
      : operation(f, "/signatures/operation", layout...),
        flags(f, "/signatures/flags", layout...),
        thread(f, "/signatures/thread", layout...),
        overlaps(f, "/signatures/overlaps", layout...),
        communicator(f, "/signatures/communicator", layout...),
        peer(f, "/signatures/peer", layout...),
        tag(f, "/signatures/tag", layout...),
        request(f, "/signatures/request", layout...),
        bytes(f, "/signatures/bytes", layout...),
        items(f, "/signatures/items", layout...) {}
};

struct SegmentColumns {
  Column<std::int32_t> process;
  Column<std::uint64_t> first_call, calls, first_signature, signatures, first_item;
  template <class FileRef, class... L>
  explicit SegmentColumns(FileRef& f, const L&... layout)
      : process(f, "/segments/process", layout...),
        first_call(f, "/segments/first_call", layout...),
        calls(f, "/segments/calls", layout...),
        first_signature(f, "/segments/first_signature", layout...),
        signatures(f, "/segments/signatures", layout...),
        first_item(f, "/segments/first_item", layout...) {}
};

/// `first_call` and `first_segment` have one row more than there are processes.
struct ProcessColumns {
  Column<std::uint8_t> complete;
  Column<std::int32_t> host;
  template <class FileRef, class... L>
  explicit ProcessColumns(FileRef& f, const L&... layout)
      : complete(f, "/processes/complete", layout...), host(f, "/processes/host", layout...) {}
};

struct OffsetColumns {
  Column<std::uint64_t> first_call, first_segment;
  template <class FileRef, class... L>
  explicit OffsetColumns(FileRef& f, const L&... layout)
      : first_call(f, "/processes/first_call", layout...),
        first_segment(f, "/processes/first_segment", layout...) {}
};

struct RunColumns {
  Column<std::int32_t> first, stride, count;
  template <class FileRef, class... L>
  explicit RunColumns(FileRef& f, const L&... layout)
      : first(f, "/communicators/first", layout...),
        stride(f, "/communicators/stride", layout...),
        count(f, "/communicators/count", layout...) {}
};

constexpr const char* metrics_group = "/metrics";
constexpr const char* metric_kind_name = "/metrics/kind";
constexpr const char* metric_characters_name = "/metrics/characters";
constexpr const char* metric_offsets_name = "/metrics/first_character";

constexpr const char* groups[] = {"/calls",     "/signatures",    "/segments",
                                  "/processes", "/communicators", "/skipped"};
struct SkippedColumns {
  Column<std::int32_t> source, destination, communicator, tag;
  Column<std::int64_t> messages;
  template <class FileRef, class... L>
  explicit SkippedColumns(FileRef& f, const L&... layout)
      : source(f, "/skipped/source", layout...),
        destination(f, "/skipped/destination", layout...),
        communicator(f, "/skipped/communicator", layout...),
        tag(f, "/skipped/tag", layout...),
        messages(f, "/skipped/messages", layout...) {}
};

/// Only of traces that have metrics.
struct MetricColumns {
  Column<std::uint8_t> kind, characters;
  Column<std::uint64_t> first_character;
  template <class FileRef, class L>
  explicit MetricColumns(FileRef& f, const L& of_metrics, const L& of_characters, const L& of_offsets)
      : kind(f, metric_kind_name, of_metrics),
        characters(f, metric_characters_name, of_characters),
        first_character(f, metric_offsets_name, of_offsets) {}
  explicit MetricColumns(const hdf5::File& f)
      : kind(f, metric_kind_name),
        characters(f, metric_characters_name),
        first_character(f, metric_offsets_name) {}
};

constexpr const char* items_name = "/items";
constexpr const char* first_run_name = "/communicators/first_run";
constexpr const char* wall_name = "/calls/wall";  // only of recorded traces whose clock is not that of the wall
constexpr const char* overhead_name = "/processes/overhead";  // recording_kinds rows for each process
constexpr const char* recorded_name = "/processes/recorded";  // ticks; not in files of earlier versions
constexpr const char* first_group_name = "/communicators/first_group";

void write_facts(hdf5::File& file, const Facts& facts);
Facts read_facts(const hdf5::File& file);

}  // namespace simreplay::trace
