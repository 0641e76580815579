#include "io/layouts/split_files.hpp"

#include "common/names.hpp"
#include "io/layouts/partition.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>

namespace nunatak::io {

FormatRow null_format(); // formats/null.cpp

namespace {

/// What aggregator `a` of `n` writes: local lengths, attributes added.
Schema subfile_schema(const Schema& whole, std::size_t a, std::size_t n) {
  const Rectangles rectangles(whole, n);
  Schema subfile = whole;
  subfile.attributes.emplace_back(subfiles_attribute, static_cast<std::int32_t>(n));
  for (std::size_t d = 0; d < whole.dimensions.size(); ++d) {
    if (!rectangles.is_cut(d)) continue;
    const Dimension& dimension = whole.dimensions[d];
    const auto range = rectangles.range(d, a);
    subfile.dimensions[d].length = range.count;
    const std::vector<std::int64_t> numbers = {
        1, static_cast<std::int64_t>(dimension.length), static_cast<std::int64_t>(range.first + 1),
        static_cast<std::int64_t>(range.first + range.count)};
    const auto add = [&](std::vector<Attribute>& attributes, const std::string& name) {
      attributes.emplace_back(name, numbers);
      if (dimension.length < std::numeric_limits<std::int32_t>::max()) // as of FMS
        attributes.back().value = std::vector<std::int32_t>(numbers.begin(), numbers.end());
    };
    const auto coordinate =
        std::find_if(subfile.variables.begin(), subfile.variables.end(), [&](const Variable& v) {
          return v.name == dimension.name &&
                 v.dimensions == std::vector<std::string>{dimension.name};
        });
    if (coordinate != subfile.variables.end()) {
      add(coordinate->attributes, decomposition_attribute);
    } else {
      add(subfile.attributes, std::string(decomposition_attribute) + "_" + dimension.name);
    }
  }
  return subfile;
}

class SplitFiles final : public Format {
public:
  SplitFiles(MPI_Comm comm, std::string path, const Schema& schema, const Options& options,
             const std::vector<int>& aggregators, OpenFunction& open_one, bool leaves_files)
      : m_path(std::move(path)), m_whole(schema), m_options(options), m_aggregators(aggregators),
        m_open_one(open_one), m_leaves_files(leaves_files),
        m_format(null_format().open(comm, m_path, schema, options)) {
    const int rank = rank_in(comm);
    m_self = static_cast<std::size_t>(std::find(m_aggregators.begin(), m_aggregators.end(), rank) -
                                      m_aggregators.begin());
  }

  void define() override {
    const std::size_t n = m_aggregators.size();
    const std::size_t most = Rectangles::most(m_whole, n);
    if (most > 0 && most < n) {
      throw Error("file '" + m_path + "': layout file-per-aggregator: expected at most " +
                  std::to_string(most) +
                  " aggregators, so that each has a cell of every dimension that is cut, found " +
                  std::to_string(n));
    }
    m_is_split = most > 0;
    if (!m_is_split) m_aggregators.resize(1);
    if (m_self >= m_aggregators.size()) return;
    m_schema = m_is_split ? subfile_schema(m_whole, m_self, n) : m_whole;
    const Rectangles rectangles(m_whole, n);
    for (std::size_t d = 0; d < m_whole.dimensions.size(); ++d)
      m_first.push_back(rectangles.range(d, m_self).first);
    m_format =
        m_open_one(MPI_COMM_SELF, with_suffix(m_path, m_is_split ? subfile_suffix(m_self) : ""),
                   m_schema, m_options);
    m_format->define();
    if (m_leaves_files && m_options.checksum == "values") m_sums.emplace(m_schema);
  }

  void put(std::size_t v, std::size_t record, const Slabs& slabs) override {
    if (m_self >= m_aggregators.size()) return m_format->put(v, record, slabs);
    Slabs local = slabs;
    const Variable& variable = m_schema.variables[v];
    const std::size_t lead = record != no_record ? 1 : 0;
    for (Hyperslab& slab : local) {
      for (std::size_t n = 0; n < slab.start.size() && slab.elements() > 0; ++n)
        slab.start[n] -= m_first[m_schema.dimension(variable.dimensions[lead + n])];
    }
    const auto write = [&](const Slabs& given) { m_format->put(v, record, given); };
    if (!m_sums) return write(local);
    m_sums->add(v, record, summed(local, variable.type, m_schema.record_shape(v), write));
  }

  void wait() override { m_format->wait(); }
  void close() override { m_format->close(); }
  std::uint64_t expected_size(std::uint64_t records) const override {
    return m_format->expected_size(records);
  }
  Sums own_sums(std::size_t records) const override {
    return m_sums->reduce(MPI_COMM_SELF, m_schema, records);
  }
  Work work() const override { return m_format->work(); }
  std::map<std::string, std::string> hints() const override { return m_format->hints(); }
  std::vector<OutputFile> files() const override {
    std::vector<OutputFile> files;
    if (!m_leaves_files) return files;
    for (std::size_t a = 0; a < m_aggregators.size(); ++a)
      files.push_back({m_is_split ? subfile_suffix(a) : "", m_aggregators[a]});
    return files;
  }

private:
  std::string m_path;
  const Schema& m_whole;
  Options m_options;
  std::vector<int> m_aggregators; ///< ranks
  OpenFunction& m_open_one;
  bool m_leaves_files;
  std::size_t m_self = 0; ///< index of this rank in m_aggregators, or their number
  bool m_is_split = true;
  Schema m_schema;                  ///< of this rank's file
  std::vector<std::size_t> m_first; ///< by dimension, first index of this file in the whole
  std::unique_ptr<Format> m_format; ///< on other ranks than aggregators null
  std::optional<ValueSums> m_sums;  ///< of this rank's file
};

} // namespace

std::unique_ptr<Format> make_split_files(MPI_Comm comm, const std::string& path,
                                         const Schema& schema, const Options& options,
                                         const std::vector<int>& aggregators,
                                         OpenFunction& open_one, bool leaves_files) {
  return std::make_unique<SplitFiles>(comm, path, schema, options, aggregators, open_one,
                                      leaves_files);
}

} // namespace nunatak::io
