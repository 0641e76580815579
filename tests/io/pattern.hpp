// Any schema, filled with values that encode their place, written by any decomposition and compared
// after reading. For the tests of layouts and of joining.
#pragma once

#include "io/layouts/partition.hpp"
#include "io/read/reader.hpp"
#include "io/write/writer.hpp"
#include "tests/io/scratch.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace pattern {

namespace io = nunatak::io;
using io::Box;
using io::Schema;
using io::Type;

/// A state of an ice sheet with odd sizes: both orders of columns, all types, y and x cut.
inline Schema ice(std::size_t My = 7, std::size_t Mx = 11, std::size_t Mz = 5) {
  Schema s;
  s.dimensions = {{"time", io::unlimited}, {"y", My, true}, {"x", Mx, true}, {"z", Mz}, {"nv", 2}};
  s.variables = {
      {"time", Type::float64, {"time"}, {{"units", "days since 1-1-1"}}},
      {"time_bounds", Type::float64, {"time", "nv"}, {}},
      {"y", Type::float64, {"y"}, {{"units", "m"}}},
      {"x", Type::float64, {"x"}, {{"units", "m"}}},
      {"z", Type::float64, {"z"}, {{"units", "m"}}},
      {"mapping", Type::int32, {}, {{"grid_mapping_name", "polar_stereographic"}}},
      {"basins", Type::int16, {"y", "x"}, {}},
      {"cell", Type::int64, {"y", "x"}, {}},
      {"mask", Type::int8, {"time", "y", "x"}, {{"flag_values", {0, 1}}, {"flag_meanings", "a b"}}},
      {"thk", Type::float64, {"time", "y", "x"}, {{"units", "m"}, {"_FillValue", -1.5}}},
      {"temp", Type::float64, {"time", "z", "y", "x"}, {}},
      {"uvel", Type::float32, {"time", "y", "x", "z"}, {}}};
  s.attributes = {{"Conventions", "CF-1.8"}, {"numbers", std::vector<float>{0.5f, 1.5f}}};
  return s;
}

/// A geodesic grid: three horizontal dimensions that never meet; no coordinate variables.
inline Schema geodesic(std::size_t cells = 42) {
  Schema s;
  s.dimensions = {
      {"time", io::unlimited},          {"cells", cells, true}, {"edges", 3 * cells - 6, true},
      {"corners", 2 * cells - 4, true}, {"layers", 3},          {"six", 6}};
  s.variables = {{"time", Type::float64, {"time"}, {}},
                 {"cell_corners", Type::int32, {"cells", "six"}, {}},
                 {"temperature", Type::float32, {"time", "cells", "layers"}, {}},
                 {"wind", Type::float64, {"time", "layers", "edges"}, {}},
                 {"vorticity", Type::int16, {"time", "corners"}, {}}};
  return s;
}

/// The value at a place: exact in every type, as memory has it.
inline double value(const Schema& schema, std::size_t v, std::size_t record, std::size_t element) {
  const auto code = static_cast<double>(element + 1000 * v + 100 * record);
  return schema.variables[v].type == Type::int8 ? std::fmod(code, 127.0) : code;
}

/// The boxes of a rank, put one after the other; equally many of a variable on every rank.
using Cut = std::function<std::vector<Box>(const Schema&, std::size_t v, int rank, int size,
                                           std::size_t record)>;

/// Rows and columns of ranks along the first two distributed dimensions; the last of >= 3 has none.
inline Box patch(const Schema& schema, std::size_t v, int rank, int size) {
  Box box = io::whole_box(schema, v);
  const int active = size > 2 ? size - 1 : size, rows = active % 2 == 0 ? 2 : 1;
  const std::vector<std::size_t> places = io::distributed_places(schema, v);
  const auto cut = [&](std::size_t d, int n, int parts) {
    const std::size_t length = box.count[d], first = length * static_cast<std::size_t>(n) /
                                                     static_cast<std::size_t>(parts);
    box.count[d] =
        length * static_cast<std::size_t>(n + 1) / static_cast<std::size_t>(parts) - first;
    box.start[d] = first;
  };
  if (rank >= active) {
    box.count.assign(box.count.size(), 0);
  } else if (places.size() == 1) {
    cut(places[0], rank, active);
  } else {
    cut(places[0], rank / (active / rows), rows);
    cut(places[1], rank % (active / rows), active / rows);
  }
  return box;
}

inline std::vector<Box> patches(const Schema& schema, std::size_t v, int rank, int size,
                                std::size_t) {
  return {patch(schema, v, rank, size)};
}
/// From the second record on, the ranks have changed places.
inline std::vector<Box> changing_patches(const Schema& schema, std::size_t v, int rank, int size,
                                         std::size_t record) {
  return {patch(schema, v, record % 2 == 0 ? rank : size - 1 - rank, size)};
}
/// Two puts: the two halves of a patch.
inline std::vector<Box> halves(const Schema& schema, std::size_t v, int rank, int size,
                               std::size_t) {
  Box first = patch(schema, v, rank, size), second = first;
  first.count[0] /= 2;
  second.start[0] += first.count[0];
  second.count[0] -= first.count[0];
  return {second, first};
}

inline std::size_t number(const std::vector<std::size_t>& record) {
  return record.empty() ? io::no_record : record[0];
}

template <class T>
void put_as(io::File& file, std::size_t v, const std::vector<std::size_t>& record, const Box& box,
            bool turned) {
  const Schema& schema = file.schema();
  const Box whole = io::whole_box(schema, v);
  // in memory: as in the file, or dimensions in the opposite order, each one longer
  io::Block block{box.start, box.count, std::vector<std::ptrdiff_t>(box.count.size())};
  std::ptrdiff_t stride = 1;
  for (std::size_t n = 0; n < box.count.size(); ++n) {
    const std::size_t d = turned ? n : box.count.size() - 1 - n;
    block.stride[d] = stride;
    stride *= static_cast<std::ptrdiff_t>(box.count[d] + 1);
  }
  std::vector<T> memory(static_cast<std::size_t>(stride), T(-77));
  for (std::size_t e = 0; e < box.elements(); ++e) {
    std::size_t rest = e, at = 0, element = 0, next = 1;
    for (std::size_t d = box.count.size(); d-- > 0; next *= whole.count[d]) {
      at += (rest % box.count[d]) * static_cast<std::size_t>(block.stride[d]);
      element += (box.start[d] + rest % box.count[d]) * next;
      rest /= box.count[d];
    }
    memory[at] = static_cast<T>(value(schema, v, record.empty() ? 0 : record[0], element));
  }
  file.put(schema.variables[v].name, number(record), block, memory.data());
}

template <class T>
void put_everywhere(io::File& file, std::size_t v, const std::vector<std::size_t>& record) {
  std::vector<T> values(io::whole_box(file.schema(), v).elements());
  for (std::size_t e = 0; e < values.size(); ++e)
    values[e] = static_cast<T>(value(file.schema(), v, record.empty() ? 0 : record[0], e));
  file.put_all(file.schema().variables[v].name, number(record), values);
}

/// All variables with records, or (record empty) all without.
inline void put(io::File& file, const std::vector<std::size_t>& record, const Cut& cut,
                MPI_Comm comm) {
  const Schema& schema = file.schema();
  for (std::size_t v = 0; v < schema.variables.size(); ++v) {
    const io::Variable& variable = schema.variables[v];
    if (schema.has_records(variable) == record.empty()) continue;
    const bool is_cut =
        variable.dimensions.size() > 1 && !io::distributed_places(schema, v).empty();
    io::with_type(variable.type, [&](auto type) {
      using T = std::conditional_t<std::is_floating_point_v<decltype(type)>, double,
                                   decltype(type)>; // float32 from double
      if (!is_cut) return put_everywhere<T>(file, v, record);
      for (const Box& box :
           cut(schema, v, rank_in(comm), size_of(comm), record.empty() ? 0 : record[0]))
        put_as<T>(file, v, record, box, v % 2 == 0);
    });
  }
  if (!record.empty()) file.end_record();
}

/// Open, write, close.
inline void write(io::Writer& writer, const std::string& path, const Schema& schema,
                  std::size_t records, const Cut& cut = patches, MPI_Comm comm = MPI_COMM_WORLD) {
  const auto file = writer.open(path, schema);
  put(*file, {}, cut, comm);
  for (std::size_t t = 0; t < records; ++t) put(*file, {t}, cut, comm);
  file->close();
}

/// The file alone.nc, as one rank writes it.
inline void write_alone(const Scratch& scratch, const Schema& schema, std::size_t records) {
  scratch.on_rank_0([&] {
    write(*writer_of("serial", MPI_COMM_SELF), scratch / "alone.nc", schema, records, patches,
          MPI_COMM_SELF);
  });
}

/// The number of values of a file that are not those of the pattern, on any rank. Collective.
inline std::size_t wrong_values(const std::string& path, const Schema& schema,
                                std::size_t records) {
  const io::Reader in(path, MPI_COMM_WORLD);
  std::size_t wrong = in.records() != records;
  for (std::size_t v = 0; v < schema.variables.size(); ++v) {
    const Box box = io::whole_box(schema, v);
    const bool has_records = schema.has_records(schema.variables[v]);
    for (std::size_t t = 0; t < (has_records ? records : 1); ++t) {
      const Box place = has_records ? box.in_record(t) : box;
      const std::vector<double> values =
          in.read_block(schema.variables[v].name, place.start, place.count);
      for (std::size_t e = 0; e < values.size(); ++e) wrong += values[e] != value(schema, v, t, e);
    }
  }
  return wrong;
}

/// A file has the values of the pattern, and the bytes of alone.nc.
inline void check_as_alone(const Scratch& scratch, const std::string& name, const Schema& schema,
                           std::size_t records) {
  CHECK(wrong_values(scratch / name, schema, records) == 0);
  scratch.on_rank_0([&] { CHECK(file_hash(scratch / name) == file_hash(scratch / "alone.nc")); });
}

} // namespace pattern
