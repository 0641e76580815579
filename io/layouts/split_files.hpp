// The layout file-per-aggregator: each aggregator writes its rectangle into a file of its own,
// name.nc.0000, name.nc.0001, ...
//
// Each file opens by itself: its dimensions have the local lengths, and every variable is in every
// file (what is not cut is repeated). It says where it belongs as the files of FMS do
// (mppnccombine): the global attribute NumFilesInSet, and of each cut dimension
//
//   domain_decomposition = first, last index of the whole, first, last index in this file (from 1)
//
// as attribute of its coordinate variable, or, if it has none, as global attribute
// domain_decomposition_<dimension>. For the manifest each is a file like any other, with sums of
// its own values. join.hpp makes one file of them, and refuses those that are not of one set.
// Neighbours: partition.hpp (Rectangles), remap.hpp (moves the values here).
#pragma once

#include "io/formats/format.hpp"

#include <string>
#include <vector>

namespace nunatak::io {

constexpr const char* subfiles_attribute = "NumFilesInSet";
constexpr const char* decomposition_attribute = "domain_decomposition";

/// Of subfile n: ".0000".
std::string subfile_suffix(std::size_t n);
/// "run.nc.0001" is a subfile of "run.nc".
bool is_subfile_of(const std::string& name, const std::string& whole);

/// Opens with `open` on one rank each. It takes subfiles in the indices of the whole, each within
/// the rectangle of its aggregator. A file without distributed dimensions is one ordinary file of
/// the first aggregator. define() is an Error if there are more aggregators than can have a cell
/// each, which says how many can.
std::unique_ptr<Format> make_split_files(MPI_Comm comm, const std::string& path,
                                         const Schema& schema, const Options& options,
                                         const std::vector<int>& aggregators, OpenFunction* open);

/// What aggregator `a` of `n` writes: local lengths, attributes added.
Schema subfile_schema(const Schema& whole, std::size_t a, std::size_t n);

} // namespace nunatak::io
