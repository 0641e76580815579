// What nunatak and the tools share about output: options -io_..., and what output servers did.
#pragma once

#include "io/methods/method.hpp"
#include "io/write/servers.hpp"
#include "miniapp/base/option_table.hpp"

namespace nunatak {

/// `options` must outlive the table.
inline void add_io_options(OptionTable& table, io::Options& options) {
  table.section("How files are written");
  for (Option& row : io::rows_of(options)) {
    row.name = "io_" + row.name;
    row.get = [given = row] { return nlohmann::json(given.value()); }; // reports have texts
    table.add(std::move(row));
  }
}

/// An object for the servers, if there are any; seconds are means over them.
inline nlohmann::json servers_record(const std::vector<io::ServerReport>& reports) {
  nlohmann::json groups = nlohmann::json::array();
  for (const io::ServerReport& r : reports) {
    nlohmann::json group = {{"servers", r.servers},
                            {"idle_fraction", r.idle_share},
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
