// The options of io/ (-io_format, -io_layout, ...) in nunatak, nunatak-io and nunatak-join.
#pragma once

#include "io/options.hpp"
#include "miniapp/base/option_table.hpp"

namespace nunatak {

/// `options` must outlive the table.
void add_io_options(OptionTable& table, io::Options& options);

} // namespace nunatak
