// See found_sums.hpp.
#include "io/durable/found_sums.hpp"

#include "io/agree.hpp"
#include "io/durable/durable.hpp"
#include "io/formats/nc_type.hpp"
#include "io/layouts/topology.hpp"
#include "io/pack.hpp"
#include "io/read/source.hpp"

#include <zlib.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

namespace nunatak::io {

namespace {

/// The type that files of ours have; none of other files' texts and unsigned numbers, which have no sums.
std::optional<Type> type_of_nc(int nc_type) {
  const auto type = std::find_if(all_types.begin(), all_types.end(), [&](Type t) { return nc_type_of(t) == nc_type; });
  return type == all_types.end() ? std::nullopt : std::optional(*type);
}

/// The file, opened by a rank when it first needs it.
class Source {
public:
  explicit Source(const std::string& path) : m_path(path) {}
  ReadSource& open() {
    if (!m_source) m_source = read_each(m_path, MPI_COMM_SELF, {});
    return *m_source;
  }

private:
  const std::string& m_path;
  std::unique_ptr<ReadSource> m_source;
};

/// A variable whose values are summed.
struct Summed {
  std::size_t v;
  Type type;
  bool has_records = false;
  std::vector<std::size_t> shape = {}; ///< but for the records
  std::size_t sums = 1;                ///< one for each record
};

std::vector<Summed> variables_of(const Contents& contents, std::size_t records) {
  std::vector<Summed> all;
  for (std::size_t v = 0; v < contents.variables.size(); ++v) {
    const std::optional<Type> type = type_of_nc(contents.variables[v].nc_type);
    if (!type) continue;
    Summed summed{v, *type};
    for (const std::size_t axis : contents.variables[v].axes) {
      const std::size_t length = contents.dimensions[axis].length;
      if (static_cast<int>(axis) == contents.record_dimension) {
        summed.has_records = true, summed.sums = std::min(records, length);
      } else {
        summed.shape.push_back(length);
      }
    }
    all.push_back(std::move(summed));
  }
  return all;
}

/// Of a piece of record `record`.
std::uint64_t sum_of_piece(ReadSource& source, const Summed& variable, std::size_t record, Box piece, Buffer& buffer) {
  if (variable.has_records) piece.start.insert(piece.start.begin(), record), piece.count.insert(piece.count.begin(), 1);
  std::byte* const values = buffer.of_size(piece.elements() * bytes_of(variable.type));
  source.read(variable.v, piece, bytes_of(variable.type), values);
  ValueSum sum(variable.shape);
  add_to_sum({piece.start, piece.count, contiguous_strides(piece.count), values, variable.type, false, false, &sum});
  return sum.value();
}

} // namespace

std::string metadata_checksum(Contents contents) {
  for (Contents::Dimension& d : contents.dimensions) d.length *= d.unlimited ? 0 : 1;
  const std::vector<std::uint8_t> bytes = message_of(contents);
  return checksum_text(static_cast<std::uint32_t>(crc32(0, bytes.data(), static_cast<uInt>(bytes.size()))));
}

FoundSums find_sums(MPI_Comm comm, const std::string& path, std::size_t records) {
  constexpr std::size_t piece_bytes = 16 << 20;
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const Topology machine = make_topology(comm, 0);
  const std::vector<int> readers = machine.n_nodes == 1 ? machine.ranks_by_node().front() : aggregators(machine, 1);
  Source source(path);
  Contents contents;
  on_rank_0(comm, [&] { contents = source.open().contents(); });
  broadcast(contents, comm);

  const std::vector<Summed> variables = variables_of(contents, records);
  std::vector<std::uint64_t> sums; // of all records of the first variable, then of the next
  std::size_t n = 0;               // pieces so far, dealt to the readers in turn
  Buffer buffer;
  KeptError error;
  for (const Summed& variable : variables) {
    const Box whole{std::vector<std::size_t>(variable.shape.size(), 0), variable.shape};
    const std::vector<Box> pieces = cut(whole, piece_bytes / bytes_of(variable.type));
    for (std::size_t record = 0; record < variable.sums; ++record) {
      sums.push_back(0);
      for (const Box& piece : pieces) {
        if (readers[n++ % readers.size()] != rank || error.is_set()) continue;
        error.keep([&] { sums.back() += sum_of_piece(source.open(), variable, record, piece, buffer); });
      }
    }
  }
  agree(comm, [&] { error.rethrow(); });
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_UINT64_T, MPI_SUM, comm);

  FoundSums found;
  found.metadata = metadata_checksum(contents);
  auto next = sums.begin();
  for (const Summed& variable : variables) {
    const auto end = next + static_cast<std::ptrdiff_t>(variable.sums);
    found.sums[contents.variables[variable.v].name].assign(next, end);
    next = end;
  }
  return found;
}

} // namespace nunatak::io
