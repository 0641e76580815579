// What nunatak and the tools share about output: options -io_..., and what output servers did.
#pragma once

#include "io/async/servers.hpp"
#include "io/options.hpp"
#include "miniapp/base/option_table.hpp"

namespace nunatak {

/// `options` must outlive the table.
void add_io_options(OptionTable& table, io::Options& options);

/// One object per group of servers; seconds are means over its servers.
nlohmann::json servers_record(const std::vector<io::ServerReport>& reports);

} // namespace nunatak
