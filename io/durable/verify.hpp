// Do files hold what was written? They are compared with their manifest (manifest.hpp), read by all
// ranks together. Used by nunatak-verify, and for the input of a run.
#pragma once

#include "io/durable/found_sums.hpp"

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace nunatak::io {

/// A file, of which nothing beyond so many bytes, or records, is looked at.
struct Look {
  std::string path;
  std::uint64_t most = static_cast<std::uint64_t>(-1);
  bool bytes = true;                       ///< is their checksum asked for?
  std::optional<std::size_t> records = {}; ///< are the sums of values asked for, and of how many?
  std::string of = "";                     ///< see find_sums()

  bool operator<(const Look& other) const {
    return std::tie(path, most, bytes, records, of) <
           std::tie(other.path, other.most, other.bytes, other.records, other.of);
  }
};

/// A file as it is now.
struct FoundFile {
  std::uint64_t size = 0;
  std::string checksum;
  std::optional<FoundSums> values = {};
  std::string error = "";        ///< why it cannot be read; "" if it can
  std::string values_error = ""; ///< why the values of all subfiles cannot be read
};

/// Sizes, checksums and sums of files. They are cut into pieces of 16 MiB, dealt to the ranks in
/// turn. Collective; `looks` and the result are the same on all ranks.
std::vector<FoundFile> read_files(MPI_Comm comm, const std::vector<Look>& looks);

struct Verification {
  std::size_t files = 0;
  std::uint64_t bytes = 0;             ///< read
  std::vector<std::string> complaints; ///< none: all is well
};

/// Check the files of a manifest: each is there, is as its lines say, belongs to those that were
/// written with it, and opens. `name`: only that file, or those that were written as its subfiles;
/// "": all. Collective; the complaints on rank 0 only. Error on all ranks if there is no such
/// manifest.
Verification verify(MPI_Comm comm, const std::string& manifest, const std::string& name = "");

/// The complaints of all files of a manifest; local.
std::vector<std::string> verify_manifest(const std::string& manifest);

/// Error on all ranks, saying what was expected and what was found, if the manifest beside a file
/// has lines of it and none of them fits. A file without lines, or that is not there, passes.
/// Collective.
void require_intact(MPI_Comm comm, const std::string& path);

} // namespace nunatak::io
