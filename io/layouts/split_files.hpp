// The layout file-per-aggregator: each writes its rectangle to name.nc.0000, name.nc.0001,...
//
// Each file can be opened by itself: its dimensions have the local lengths, and every variable is
// in every file (what is not cut is repeated). Its place is stored as in the files of FMS
// (mppnccombine): the global attribute NumFilesInSet, and of each cut dimension
//
//   domain_decomposition = first, last index of the whole, first, last index in this file (from 1)
//
// as attribute of its coordinate variable, or, if it has none, as global attribute
// domain_decomposition_<dimension>. In the manifest each is a file like any other.
#pragma once

#include "io/formats/format.hpp"

#include <string>
#include <vector>

namespace nunatak::io {

constexpr const char* decomposition_attribute = "domain_decomposition";

/// Opens the format in `options` on one rank each, by `open_one`; takes hyperslabs in the indices
/// of the whole, each within the rectangle of its aggregator. Without distributed dimensions it is
/// one ordinary file of the first aggregator. define() is an Error if an aggregator would have no
/// cell, stating the maximum.
std::unique_ptr<Format> make_split_files(MPI_Comm comm, const std::string& path,
                                         const Schema& schema, const Options& options,
                                         const std::vector<int>& aggregators,
                                         OpenFunction& open_one, bool leaves_files);

} // namespace nunatak::io
