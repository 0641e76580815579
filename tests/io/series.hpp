// A series of records whose values tell their record, written by all ranks and read back. Used by
// the tests of commits.
#pragma once

#include "io/reader.hpp"
#include "io/writer.hpp"
#include "tests/io/scratch.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <fstream>

inline nunatak::io::Schema series() {
  nunatak::io::Schema s;
  s.dimensions = {{"time", nunatak::io::unlimited}, {"cell", 100}};
  s.variables = {{"time", nunatak::io::Type::float64, {"time"}, {}},
                 {"thk", nunatak::io::Type::float64, {"time", "cell"}, {}}};
  return s;
}

inline void put_record(nunatak::io::File& file, std::size_t t, MPI_Comm comm = MPI_COMM_WORLD) {
  const auto rank = static_cast<std::size_t>(rank_in(comm)),
             size = static_cast<std::size_t>(size_of(comm));
  const std::size_t first = 100 * rank / size, last = 100 * (rank + 1) / size;
  const std::vector<double> thk(last - first, static_cast<double>(t) + 0.25);
  file.put_all("time", t, std::vector<double>{static_cast<double>(t)});
  file.put("thk", t, nunatak::io::Block{{first}, {last - first}, {}}, thk.data());
  file.end_record(static_cast<std::int64_t>(t));
}

/// Number of records of the file under its final name; every value is checked.
inline std::size_t complete_records(const std::string& path) {
  const nunatak::io::Reader in(path, MPI_COMM_WORLD);
  for (std::size_t t = 0; t < in.records(); ++t) {
    const auto thk = in.read_block("thk", {t, 0}, {1, 100});
    CHECK(thk == std::vector<double>(100, static_cast<double>(t) + 0.25));
  }
  return in.records();
}

inline std::vector<nlohmann::json> lines_of(const std::string& manifest) {
  std::vector<nlohmann::json> lines;
  std::ifstream in(manifest);
  for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}
