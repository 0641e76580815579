// Which NetCDF libraries this program runs with.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace nunatak::io {

/// Name and version of every library of io/, for reports.
std::vector<std::pair<std::string, std::string>> library_versions();

} // namespace nunatak::io
