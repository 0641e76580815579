#include "io/durable/value_sums.hpp"

#include "io/base/agree.hpp"
#include "io/base/topology.hpp"
#include "io/base/watchdog.hpp"
#include "io/layouts/partition.hpp"
#include "io/read/source.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <memory>

namespace nunatak::io {

std::string sum_text(std::uint64_t sum) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, sum);
  return text;
}

std::uint64_t share_in_digest(const std::string& variable, std::size_t record, std::uint64_t sum) {
  std::uint64_t name = 0xcbf29ce484222325; // FNV-1a
  for (const char c : variable) name = (name ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return (2 * (name ^ (record + 1) * ValueSum::K) + 1) * sum; // times an odd number
}

std::uint64_t digest_of(const Sums& sums, const Schema& schema) {
  std::uint64_t digest = 0;
  for (const Variable& v : schema.variables) {
    const auto found = sums.find(v.name);
    for (std::size_t n = 0; found != sums.end() && n < found->second.size(); ++n)
      digest += share_in_digest(v.name, schema.has_records(v) ? n : no_record, found->second[n]);
  }
  return digest;
}

void ValueSums::add(std::size_t v, std::size_t record, std::uint64_t sum) {
  const std::size_t n = record == no_record ? 0 : record;
  if (n < m_first) return; // put twice: an error of check_complete()
  auto& sums = m_sums[v];
  if (sums.size() <= n - m_first) sums.resize(n - m_first + 1, 0);
  sums[n - m_first] += sum;
}

Sums ValueSums::reduce(MPI_Comm comm, const Schema& schema, std::size_t records) const {
  const auto n_of = [&](std::size_t v) -> std::size_t {
    if (schema.has_records(schema.variables[v])) return records - m_first;
    return m_first == 0 ? 1 : 0;
  };
  std::vector<std::uint64_t> all;
  for (std::size_t v = 0; v < m_sums.size(); ++v) {
    const std::size_t end = all.size() + n_of(v);
    const auto n = static_cast<std::ptrdiff_t>(std::min(m_sums[v].size(), n_of(v)));
    all.insert(all.end(), m_sums[v].begin(), m_sums[v].begin() + n);
    all.resize(end, 0);
  }
  const int rank = rank_in(comm);
  MPI_Reduce(rank == 0 ? MPI_IN_PLACE : all.data(), all.data(), static_cast<int>(all.size()),
             MPI_UINT64_T, MPI_SUM, 0, comm);
  Sums sums;
  auto next = all.begin();
  for (std::size_t v = 0; rank == 0 && v < m_sums.size(); ++v) {
    const auto end = next + static_cast<std::ptrdiff_t>(n_of(v));
    if (n_of(v) > 0) sums[schema.variables[v].name].assign(next, end);
    next = end;
  }
  return sums;
}

void ValueSums::forget(std::size_t records) {
  m_first = records;
  for (auto& sums : m_sums) sums.clear();
}

/// Variables are cut into pieces of at most 16 MiB, dealt round-robin to the readers.
FoundSums find_sums(MPI_Comm comm, const std::string& path, std::size_t records) {
  constexpr std::size_t piece_bytes = 16 << 20, pieces_between = 64;
  const Watchdog::Scope scope(path, "checksum");
  const int rank = rank_in(comm);
  std::unique_ptr<ReadSource> source;
  const auto open = [&]() -> ReadSource& {
    if (!source) source = open_source(ReadBy::each, path, MPI_COMM_SELF, {});
    return *source;
  };
  Contents contents;
  on_rank_0(comm, [&] { contents = open().contents(); });
  broadcast(contents, comm);
  const Schema schema = schema_of(contents, path);
  if (const int d = contents.record_dimension; d >= 0)
    records = std::min(records, contents.dimensions[static_cast<std::size_t>(d)].length);
  const Topology machine = make_topology(comm, 0);
  const std::vector<int> readers =
      machine.n_nodes == 1 ? machine.ranks_by_node().front() : aggregators(machine, 1);
  std::vector<std::uint64_t> sums; // all records of the first variable, then of the next
  std::size_t n = 0;               // pieces so far
  Buffer buffer;
  KeptError error;
  const auto add_piece = [&](std::size_t v, std::size_t record, const Box& box) {
    const Type type = schema.variables[v].type;
    if (readers[n % readers.size()] == rank && !error.is_set()) {
      error.keep([&] {
        std::byte* const values = buffer.of_size(box.elements() * bytes_of(type));
        open().read(v, box.in_record(record), type, values);
        sums.back() += summed({row_major(box, values, type)}, type, schema.record_shape(v),
                              [](const Slabs&) {});
      });
    }
    if (++n % (pieces_between * readers.size()) != 0) return;
    MPI_Barrier(comm);
    Watchdog::of_process().advance(); // of ranks that do not read, too
  };
  const auto sums_of = [&](std::size_t v) {
    return schema.has_records(schema.variables[v]) ? records : 1;
  };
  for (std::size_t v = 0; v < schema.variables.size(); ++v) {
    const bool has_records = schema.has_records(schema.variables[v]);
    const std::vector<Box> pieces =
        cut(whole_box(schema, v), piece_bytes / bytes_of(schema.variables[v].type));
    for (std::size_t record = 0; record < sums_of(v); ++record) {
      sums.push_back(0);
      for (const Box& box : pieces) add_piece(v, has_records ? record : no_record, box);
    }
  }
  agree(comm, [&] { error.rethrow(); });
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_UINT64_T, MPI_SUM,
                comm);
  FoundSums found{{}, fingerprint(contents), schema};
  auto next = sums.begin();
  for (std::size_t v = 0; v < schema.variables.size(); ++v) {
    const auto end = next + static_cast<std::ptrdiff_t>(sums_of(v));
    found.sums[schema.variables[v].name].assign(next, end);
    next = end;
  }
  return found;
}

std::string fingerprint(Contents contents) {
  for (Contents::Dimension& d : contents.dimensions) d.length *= d.unlimited ? 0 : 1;
  for (Contents::Attribute& a : contents.attributes) {
    if (a.name != "history") continue;
    a.text.clear();
    a.length = 0;
  }
  std::vector<std::uint8_t> bytes = message_of(contents);
  bytes.resize((bytes.size() + 7) / 8 * 8, 0);
  std::vector<std::uint64_t> words(bytes.size() / 8);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  ValueSum sum(Indices{words.size()});
  std::uint64_t key = ValueSum::K;
  for (const std::uint64_t word : words) {
    sum.add(word, key);
    key += ValueSum::K;
  }
  return sum_text(sum.value());
}

} // namespace nunatak::io
