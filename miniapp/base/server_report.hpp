// The activity of the output servers as JSON, for the reports of nunatak and nunatak-io.
#pragma once

#include "io/async/servers.hpp"

#include <nlohmann/json.hpp>

#include <vector>

namespace nunatak {

/// One object per group of servers; seconds are means over its servers.
inline nlohmann::json servers_record(const std::vector<io::ServerReport>& reports) {
  nlohmann::json groups = nlohmann::json::array();
  for (const io::ServerReport& r : reports) {
    nlohmann::json group = {{"servers", r.servers},
                            {"idle_share", r.idle_share},
                            {"close_to_committed_s", r.handover_seconds},
                            {"peak_bytes", r.peak_bytes},
                            {"messages", r.messages},
                            {"message_bytes", r.message_bytes},
                            {"written_bytes", r.summary.work.written_bytes},
                            {"written_operations", r.summary.work.written_operations}};
    for (std::size_t p = 0; p < io::n_phases; ++p)
      group["phases"][io::phase_names[p]] = r.summary.phases[p].mean;
    groups.push_back(group);
  }
  return groups;
}

} // namespace nunatak
