// A series of records whose values encode their record, written by all ranks and read back.
#pragma once

#include "io/read/reader.hpp"
#include "io/write/writer.hpp"
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

/// The same with a history of at most 1024 letters.
inline nunatak::io::Schema with_history(std::string history) {
  history.resize(1024, ' ');
  nunatak::io::Schema schema = series();
  schema.attributes = {{"title", "a"}, {"history", history}, {"comment", "b"}};
  return schema;
}

inline void put_record(nunatak::io::File& file, std::size_t t, MPI_Comm comm = MPI_COMM_WORLD) {
  const auto [first, count] = my_part(100, comm);
  const std::vector<double> thk(count, static_cast<double>(t) + 0.25);
  file.put_all("time", t, std::vector<double>{static_cast<double>(t)});
  file.put("thk", t, nunatak::io::Block{{first}, {count}, {}}, thk.data());
  file.end_record(static_cast<std::int64_t>(t));
}

/// A series of `end` records, closed.
inline void write_series(const std::string& path, const std::string& method,
                         const nunatak::io::Schema& schema, std::size_t end) {
  const auto writer = writer_of(method);
  const auto file = writer->open(path, schema, {1});
  for (std::size_t t = 0; t < end; ++t) put_record(*file, t);
  file->close();
  writer->finish();
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
