#include "io/write/join.hpp"

#include "common/names.hpp"
#include "common/text.hpp"
#include "io/base/agree.hpp"
#include "io/data/message_bytes.hpp"
#include "io/layouts/split_files.hpp"
#include "io/read/source.hpp"
#include "io/write/writer.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace nunatak::io {

namespace {

constexpr std::size_t most_open = 256; // files per rank; systems allow 1024 or more

bool is_decomposition(const Attribute& a) { return a.name.rfind(decomposition_attribute, 0) == 0; }

/// The attribute with a file's part of a dimension; nullptr if the dimension is not cut.
const Attribute* decomposition_of(const Schema& schema, const std::string& dimension) {
  const Variable* const v = find(schema.variables, dimension);
  if (v != nullptr && v->dimensions == std::vector<std::string>{dimension})
    return find(v->attributes, decomposition_attribute);
  return find(schema.attributes, std::string(decomposition_attribute) + "_" + dimension);
}

/// The subfiles of a set, which belong together and cover everything.
///
///   run.nc.0000  x 1..6      thk:   boxes (y 0..6, x 0..5) of 0, (y 0..6, x 6..10) of 1
///   run.nc.0001  x 7..11     y, z:  in both; read from 0
class Subfiles {
public:
  /// Collective: subfile n is read by rank n modulo the number of ranks.
  Subfiles(MPI_Comm comm, const std::string& path) : m_path(path) {
    Schema first;
    on_rank_0(comm, [&] { first = source(0).schema(); });
    broadcast_value(first, comm);
    const Attribute* const attribute = find(first.attributes, subfiles_attribute);
    const auto number = attribute == nullptr ? std::vector<std::int64_t>{} : attribute->integers();
    if (number.size() != 1 || number[0] < 1)
      fail(0, std::string("expected the attribute ") + subfiles_attribute +
                  ", the number of subfiles, found none");
    m_size = static_cast<std::size_t>(number[0]);
    on_rank_0(comm, [&] { source(m_size - 1); }); // before memory is needed for so many
    Ranges ranges;
    m_whole = whole_of(0, first, ranges);
    m_ranges.assign(m_size * ranges.size(), 0);
    agree(comm, [&] {
      const auto rank = static_cast<std::size_t>(rank_in(comm)),
                 n_ranks = static_cast<std::size_t>(size_of(comm));
      for (std::size_t n = rank; n < m_size; n += n_ranks) {
        compare(n, whole_of(n, source(n).schema(), ranges));
        std::copy(ranges.begin(), ranges.end(),
                  m_ranges.begin() + static_cast<std::ptrdiff_t>(n * ranges.size()));
      }
    });
    MPI_Allreduce(MPI_IN_PLACE, m_ranges.data(), static_cast<int>(m_ranges.size()), MPI_UINT64_T,
                  MPI_SUM, comm);
    m_whole.require_written_types(path_of(0));
    std::vector<Attribute>& of_file = m_whole.attributes;
    of_file.erase(std::find_if(of_file.begin(), of_file.end(),
                               [](const Attribute& a) { return a.name == subfiles_attribute; }));
    for (std::size_t v = 0; v < m_whole.variables.size(); ++v) m_parts.push_back(make_parts(v));
  }

  std::size_t size() const { return m_size; }
  /// The whole has global lengths and no decomposition attributes; cut dimensions are distributed.
  const Schema& schema() const { return m_whole; }

  struct Piece {
    std::size_t subfile;
    Box box; ///< in the whole, without records
  };
  /// Where the values of variable v are, each once, in the order of the subfiles.
  const std::vector<Piece>& parts(std::size_t v) const { return m_parts[v]; }

  /// Values, as stored, of a box (of the whole, in a part of v) from a subfile, row-major. Local.
  void read(std::size_t v, std::size_t record, std::size_t subfile, Box box, std::byte* values) {
    const std::vector<std::string>& axes = m_whole.variables[v].dimensions;
    for (std::size_t a = lead(v); a < axes.size(); ++a)
      box.start[a - lead(v)] -= range(subfile, axes[a])[0];
    source(subfile).read(v, box.in_record(record), m_whole.variables[v].type, values);
  }

private:
  using Ranges = std::vector<std::size_t>; ///< first index and length, of each dimension

  std::string path_of(std::size_t subfile) const { return m_path + subfile_suffix(subfile); }
  [[noreturn]] void fail(std::size_t subfile, const std::string& what) const {
    throw Error("file '" + path_of(subfile) + "': " + what);
  }
  std::size_t lead(std::size_t v) const { return m_whole.has_records(m_whole.variables[v]); }
  /// First index and length of a dimension in a subfile.
  const std::size_t* range(std::size_t subfile, const std::string& dimension) const {
    return &m_ranges[2 * (subfile * m_whole.dimensions.size() + m_whole.dimension(dimension))];
  }

  ReadSource& source(std::size_t subfile) {
    const auto found = m_open.find(subfile);
    if (found != m_open.end()) return *found->second;
    if (m_open.size() >= most_open) m_open.clear();
    try {
      return *(m_open[subfile] = open_source(ReadBy::each, path_of(subfile), MPI_COMM_SELF, {}));
    } catch (const Error& e) {
      m_open.erase(subfile);
      const std::string which =
          m_size == 0 ? "the first subfile" : "one of " + std::to_string(m_size) + " subfiles";
      throw Error(std::string(e.what()) + " (" + which + " of '" + m_path + "')");
    }
  }

  /// What a subfile says about the whole, and its `ranges` of it.
  Schema whole_of(std::size_t subfile, Schema schema, Ranges& ranges) const {
    ranges.clear();
    std::vector<Dimension> of_whole = schema.dimensions;
    for (Dimension& dimension : of_whole) {
      const auto length = static_cast<std::int64_t>(dimension.extent());
      std::vector<std::int64_t> n = {1, length, 1, length};
      if (const Attribute* const a = decomposition_of(schema, dimension.name)) {
        dimension.distributed = true;
        n = a->integers();
      }
      if (n.size() != 4 || n[0] != 1 || n[2] < 1 || n[3] > n[1] || n[3] - n[2] + 1 != length) {
        std::string found;
        for (const std::int64_t number : n) found += " " + std::to_string(number);
        fail(subfile, std::string(decomposition_attribute) + " of dimension '" + dimension.name +
                          "': expected 1, its whole length, and first and last index of the " +
                          std::to_string(length) + " in this file, found" + found);
      }
      if (dimension.length != unlimited) dimension.length = static_cast<std::size_t>(n[1]);
      ranges.push_back(static_cast<std::size_t>(n[2] - 1));
      ranges.push_back(static_cast<std::size_t>(length));
    }
    schema.dimensions = of_whole;
    const auto remove_decomposition = [](std::vector<Attribute>& attributes) {
      attributes.erase(std::remove_if(attributes.begin(), attributes.end(), is_decomposition),
                       attributes.end());
    };
    remove_decomposition(schema.attributes);
    for (Variable& v : schema.variables) remove_decomposition(v.attributes);
    return schema;
  }

  /// Error with the first line that differs.
  void compare(std::size_t subfile, const Schema& whole) const {
    std::vector<std::string> expected = m_whole.lines(), found = whole.lines();
    expected.emplace_back("nothing more");
    found.emplace_back("nothing more");
    const auto [a, b] = std::mismatch(expected.begin(), expected.end(), found.begin(), found.end());
    if (a != expected.end())
      fail(subfile,
           "expected " + printable(*a) + ", as in the first subfile, found " + printable(*b));
  }

  /// Error if the parts of a variable overlap or leave gaps.
  std::vector<Piece> make_parts(std::size_t v) const {
    const std::vector<std::string>& axes = m_whole.variables[v].dimensions;
    const std::string what = "variable '" + m_whole.variables[v].name + "'";
    std::vector<Piece> parts;
    std::size_t found = 0;
    std::set<std::pair<Indices, Indices>> boxes;
    for (std::size_t n = 0; n < m_size; ++n) {
      Piece part{n, {}};
      for (std::size_t a = lead(v); a < axes.size(); ++a) {
        const std::size_t* const r = range(n, axes[a]);
        part.box.start.push_back(r[0]);
        part.box.count.push_back(r[1]);
      }
      const bool is_new = boxes.insert({part.box.start, part.box.count}).second;
      if (!is_new) continue; // an earlier subfile has it
      for (const Piece& other : parts) {
        if (!do_meet(part.box, other.box)) continue;
        fail(n, what + ": expected a part that no other subfile has, found some of it in '" +
                    path_of(other.subfile) + "'");
      }
      found += part.box.elements();
      parts.push_back(std::move(part));
    }
    const std::size_t expected =
        m_whole.bytes(m_whole.variables[v]) / bytes_of(m_whole.variables[v].type);
    if (found == expected) return parts;
    throw Error("file '" + m_path + "': " + what + ": expected " + std::to_string(expected) +
                " values in " + std::to_string(m_size) + " subfiles, found " +
                std::to_string(found));
  }

  std::string m_path;
  std::size_t m_size = 0;
  Schema m_whole;  ///< as subfile 0 describes it; without what is of subfiles
  Ranges m_ranges; ///< of all subfiles
  std::vector<std::vector<Piece>> m_parts;
  std::map<std::size_t, std::unique_ptr<ReadSource>> m_open;
};

/// One record of a variable, or all (no_record). All ranks call put equally often.
void copy_variable(MPI_Comm comm, Subfiles& subfiles, File& file, std::size_t v, std::size_t record,
                   std::size_t buffer) {
  const auto rank = static_cast<std::size_t>(rank_in(comm)),
             size = static_cast<std::size_t>(size_of(comm));
  const Variable& variable = file.schema().variables[v];
  const std::size_t bytes = bytes_of(variable.type),
                    limit = std::max<std::size_t>(1, buffer / bytes);
  std::vector<Subfiles::Piece> mine;
  for (const Subfiles::Piece& part : subfiles.parts(v)) {
    if (part.subfile % size != rank) continue;
    for (const Box& box : cut(part.box, limit)) mine.push_back({part.subfile, box});
  }
  std::uint64_t most = mine.size();
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_UINT64_T, MPI_MAX, comm);
  Buffer values;
  for (std::size_t n = 0; n < most; ++n) {
    std::byte* data = nullptr;
    Box box;
    agree(comm, [&] {
      if (n >= mine.size()) return;
      box = mine[n].box;
      data = values.of_size(box.elements() * bytes);
      subfiles.read(v, record, mine[n].subfile, box, data);
    });
    file.put(variable.name, record, {box.start, box.count, {}}, data, variable.type);
  }
}

} // namespace

Joined join(MPI_Comm comm, const std::string& path, const std::string& output,
            const Options& options) {
  Subfiles subfiles(comm, path);
  Writer writer(comm, options);
  const auto file = writer.open(output, subfiles.schema());
  const auto copy = [&](bool has_records, std::size_t record) {
    for (std::size_t v = 0; v < subfiles.schema().variables.size(); ++v) {
      if (subfiles.schema().has_records(subfiles.schema().variables[v]) == has_records)
        copy_variable(comm, subfiles, *file, v, record, options.copy_bytes());
    }
  };
  copy(false, no_record);
  for (std::size_t t = 0; t < subfiles.schema().records(); ++t) {
    copy(true, t);
    file->end_record();
  }
  file->close();
  writer.finish();
  return {subfiles.size(), subfiles.schema().records()};
}

} // namespace nunatak::io
