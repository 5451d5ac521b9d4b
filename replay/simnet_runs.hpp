#pragma once
// What simnet does with a fabric beyond looking at it: messages of a list, a pattern or a client.

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/mpi_session.hpp"
#include "replay/network/infiniband/packets/parallel_network.hpp"
#include "replay/simnet_options.hpp"

namespace simreplay {

/// Messages as text: "TIME SOURCE DESTINATION BYTES [ID]" or a JSON object. Hosts by name or number.
class MessageReader {
 public:
  explicit MessageReader(const infiniband::Fabric& fabric);
  /// Throws std::invalid_argument or Error.
  infiniband::Injection read(std::string_view line, std::int64_t default_id) const;
  infiniband::Injection read(const nlohmann::json& message, std::int64_t default_id) const;
  /// All of a file. Throws Error with file and line; ids given twice.
  std::vector<infiniband::Injection> read_file(const std::string& path) const;

 private:
  std::int32_t host(std::string_view name) const;

  const infiniband::Fabric& fabric_;
  std::map<std::string, std::int32_t, std::less<>> hosts_;
};

/// An arrival with the parts of its latency, which add up to it.
nlohmann::ordered_json arrival_json(const infiniband::Arrival& arrival, const infiniband::Fabric& fabric,
                                    const infiniband::PacketNetwork& model);

/// The arrivals of all ranks on rank 0, in the order of their times and ids.
std::vector<infiniband::Arrival> gather_arrivals(std::vector<infiniband::Arrival> mine, MPI_Comm comm);

void run_messages(const NetOptions&, const infiniband::Fabric&, const infiniband::Tables&, const MpiSession&);
void run_traffic(const NetOptions&, const infiniband::Fabric&, const infiniband::Tables&, const MpiSession&);
void run_sizes(const NetOptions&, const infiniband::Fabric&, const infiniband::Tables&, const MpiSession&);
void serve(const NetOptions&, const infiniband::Fabric&, const infiniband::Tables&, const MpiSession&);

}  // namespace simreplay
