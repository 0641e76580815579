// See join.hpp.
#include "io/layouts/join.hpp"

#include "io/agree.hpp"
#include "io/layouts/piece_set.hpp"
#include "io/writer.hpp"

#include <algorithm>

namespace nunatak::io {

namespace {

/// Put values of variable v that lie in memory as in the file; nullptr: nothing.
template <class T> void put_as(File& file, std::size_t v, std::size_t record, const Box& box, const std::byte* data) {
  const Variable& variable = file.schema().variables[v];
  const Block block{box.start, box.count, {}};
  const T* const values = reinterpret_cast<const T*>(data);
  if (file.schema().has_records(variable)) {
    file.put(variable.name, record, block, values);
  } else {
    file.put(variable.name, block, values);
  }
}

void put(File& file, std::size_t v, std::size_t record, const Box& box, const std::byte* data) {
  switch (file.schema().variables[v].type) {
  case Type::int8:
    return put_as<std::int8_t>(file, v, record, box, data);
  case Type::int16:
    return put_as<std::int16_t>(file, v, record, box, data);
  case Type::int32:
    return put_as<std::int32_t>(file, v, record, box, data);
  case Type::int64:
    return put_as<std::int64_t>(file, v, record, box, data);
  case Type::float32:
    return put_as<float>(file, v, record, box, data);
  case Type::float64:
    return put_as<double>(file, v, record, box, data);
  }
}

/// One record of a variable, or all of one without records. All ranks put equally often.
void copy_variable(MPI_Comm comm, PieceSet& pieces, File& file, std::size_t v, std::size_t record, std::size_t buffer) {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const std::size_t bytes = bytes_of(file.schema().variables[v].type), limit = std::max<std::size_t>(1, buffer / bytes);
  struct Step {
    std::size_t piece;
    Box box;
  };
  std::vector<std::vector<Step>> steps(static_cast<std::size_t>(size)); // of all ranks: each knows how many there are
  for (const PieceSet::Part& part : pieces.parts(v)) {
    for (const Box& box : cut(part.box, limit)) steps[part.piece % steps.size()].push_back({part.piece, box});
  }
  std::size_t most = 0;
  for (const auto& of_rank : steps) most = std::max(most, of_rank.size());
  const std::vector<Step>& mine = steps[static_cast<std::size_t>(rank)];
  Buffer values;
  for (std::size_t n = 0; n < most; ++n) {
    std::byte* data = nullptr;
    Box box;
    agree(comm, [&] {
      if (n >= mine.size()) return;
      box = mine[n].box;
      data = values.of_size(box.elements() * bytes);
      pieces.read(v, record, mine[n].piece, box, data);
    });
    put(file, v, record, box, data);
  }
}

} // namespace

Joined join(MPI_Comm comm, const std::string& path, const std::string& output, const Options& options) {
  PieceSet pieces(comm, path);
  Writer writer(comm, options);
  const auto file = writer.open(output, pieces.schema());
  const auto copy = [&](bool has_records, std::size_t record) {
    for (std::size_t v = 0; v < pieces.schema().variables.size(); ++v) {
      if (pieces.schema().has_records(pieces.schema().variables[v]) == has_records)
        copy_variable(comm, pieces, *file, v, record, options.buffer);
    }
  };
  copy(false, 0);
  for (std::size_t t = 0; t < pieces.records(); ++t) {
    copy(true, t);
    file->end_record();
  }
  file->close();
  return {pieces.size(), pieces.records()};
}

} // namespace nunatak::io
