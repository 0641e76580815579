#include "io/durable/found_sums.hpp"

#include "io/agree.hpp"
#include "io/durable/durable.hpp"
#include "io/formats/define.hpp"
#include "io/layouts/partition.hpp"
#include "io/layouts/subfile_set.hpp"
#include "io/layouts/topology.hpp"
#include "io/pack.hpp"
#include "io/read/source.hpp"

#include <zlib.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace nunatak::io {

namespace {

/// The type that files of ours have; none of other files' texts and unsigned numbers, which have no
/// sums.
std::optional<Type> type_of_nc(int nc_type) {
  const auto type = std::find_if(all_types.begin(), all_types.end(),
                                 [&](Type t) { return nc_type_of(t) == nc_type; });
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
  std::string name;
  Type type;
  bool has_records = false;
  std::vector<std::size_t> shape = {};      ///< but for the records
  std::size_t sums = 1;                     ///< one for each record
  std::vector<SubfileSet::Part> parts = {}; ///< where its values are, each once
};

/// Those of a box of a part and of a record.
using Read = std::function<void(const Summed&, std::size_t record, const SubfileSet::Part&,
                                std::byte* values)>;

std::vector<Summed> variables_of(const Contents& contents, std::size_t records) {
  std::vector<Summed> all;
  for (std::size_t v = 0; v < contents.variables.size(); ++v) {
    const std::optional<Type> type = type_of_nc(contents.variables[v].nc_type);
    if (!type) continue;
    Summed summed{v, contents.variables[v].name, *type};
    for (const std::size_t axis : contents.variables[v].axes) {
      const std::size_t length = contents.dimensions[axis].length;
      if (static_cast<int>(axis) == contents.record_dimension) {
        summed.has_records = true, summed.sums = std::min(records, length);
      } else {
        summed.shape.push_back(length);
      }
    }
    summed.parts = {{0, {std::vector<std::size_t>(summed.shape.size(), 0), summed.shape}}};
    all.push_back(std::move(summed));
  }
  return all;
}

std::vector<Summed> variables_of(const Schema& schema, std::size_t records) {
  std::vector<Summed> all;
  for (std::size_t v = 0; v < schema.variables.size(); ++v) {
    const Variable& variable = schema.variables[v];
    const bool has_records = schema.has_records(variable);
    const Box whole = whole_box(schema, v);
    all.push_back({v,
                   variable.name,
                   variable.type,
                   has_records,
                   whole.count,
                   has_records ? records : 1,
                   {{0, whole}}});
  }
  return all;
}

/// In the indices of the file: with the record first.
Box with_record(const Summed& variable, std::size_t record, Box box) {
  if (variable.has_records)
    box.start.insert(box.start.begin(), record), box.count.insert(box.count.begin(), 1);
  return box;
}

/// The variables are cut into pieces of at most 16 MiB, dealt in turn to the ranks, or, if they are
/// on several nodes, to one of each.
Sums sum_up(MPI_Comm comm, const std::vector<Summed>& variables, const Read& read) {
  constexpr std::size_t piece_bytes = 16 << 20;
  const int rank = rank_in(comm);
  const Topology machine = make_topology(comm, 0);
  const std::vector<int> readers =
      machine.n_nodes == 1 ? machine.ranks_by_node().front() : aggregators(machine, 1);
  std::vector<std::uint64_t> sums; // of all records of the first variable, then of the next
  std::size_t n = 0;               // pieces so far
  Buffer buffer;
  KeptError error;
  const auto add = [&](const Summed& variable, std::size_t record, const SubfileSet::Part& piece) {
    std::byte* const values = buffer.of_size(piece.box.elements() * bytes_of(variable.type));
    read(variable, record, piece, values);
    ValueSum sum(variable.shape);
    const Box& box = piece.box;
    add_to_sum({box.start, box.count, contiguous_strides(box.count), values, variable.type, false,
                false, &sum});
    sums.back() += sum.value();
  };
  for (const Summed& variable : variables) {
    for (std::size_t record = 0; record < variable.sums; ++record) {
      sums.push_back(0);
      for (const SubfileSet::Part& part : variable.parts) {
        for (const Box& piece : cut(part.box, piece_bytes / bytes_of(variable.type))) {
          if (readers[n++ % readers.size()] != rank || error.is_set()) continue;
          error.keep([&] { add(variable, record, {part.subfile, piece}); });
        }
      }
    }
  }
  agree(comm, [&] { error.rethrow(); });
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_UINT64_T, MPI_SUM,
                comm);
  Sums found;
  auto next = sums.begin();
  for (const Summed& variable : variables) {
    const auto end = next + static_cast<std::ptrdiff_t>(variable.sums);
    found[variable.name].assign(next, end);
    next = end;
  }
  return found;
}

Sums sums_of_subfiles(MPI_Comm comm, const std::string& path, std::size_t records) {
  SubfileSet subfiles(comm, path);
  std::vector<Summed> variables =
      variables_of(subfiles.schema(), std::min(records, subfiles.records()));
  for (Summed& variable : variables) variable.parts = subfiles.parts(variable.v);
  return sum_up(
      comm, variables,
      [&](const Summed& variable, std::size_t record, const auto& part, std::byte* values) {
        subfiles.read(variable.v, record, part.subfile, part.box, values);
      });
}

} // namespace

std::string metadata_checksum(Contents contents) {
  for (Contents::Dimension& d : contents.dimensions) d.length *= d.unlimited ? 0 : 1;
  const std::vector<std::uint8_t> bytes = message_of(contents);
  return checksum_text(
      static_cast<std::uint32_t>(crc32(0, bytes.data(), static_cast<uInt>(bytes.size()))));
}

FoundSums find_sums(MPI_Comm comm, const std::string& path, std::size_t records,
                    const std::string& of) {
  if (!of.empty()) return {sums_of_subfiles(comm, of, records), ""};
  Source source(path);
  Contents contents;
  on_rank_0(comm, [&] { contents = source.open().contents(); });
  broadcast(contents, comm);
  const auto read = [&](const Summed& variable, std::size_t record, const auto& part,
                        std::byte* values) {
    source.open().read(variable.v, with_record(variable, record, part.box), bytes_of(variable.type),
                       values);
  };
  return {sum_up(comm, variables_of(contents, records), read), metadata_checksum(contents)};
}

} // namespace nunatak::io
