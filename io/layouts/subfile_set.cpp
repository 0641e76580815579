#include "io/layouts/subfile_set.hpp"

#include "io/agree.hpp"
#include "io/layouts/split_files.hpp"

#include <algorithm>
#include <iomanip>
#include <set>
#include <sstream>

namespace nunatak::io {

namespace {

constexpr std::size_t most_open = 256; // files per rank; systems allow 1024 or more

bool is_of_decomposition(const std::string& attribute) {
  return attribute == subfiles_attribute || attribute.rfind(decomposition_attribute, 0) == 0;
}

const Contents::Attribute* find(const std::vector<Contents::Attribute>& attributes,
                                const std::string& name) {
  const auto found = std::find_if(attributes.begin(), attributes.end(),
                                  [&](const auto& a) { return a.name == name; });
  return found == attributes.end() ? nullptr : &*found;
}

/// The attribute with a file's part of a dimension; nullptr if the dimension is not cut.
const Contents::Attribute* decomposition_of(const Contents& contents, std::size_t dimension) {
  const std::string& name = contents.dimensions[dimension].name;
  for (const Contents::Variable& v : contents.variables) {
    if (v.name == name && v.axes == std::vector<std::size_t>{dimension})
      return find(v.attributes, decomposition_attribute);
  }
  return find(contents.attributes, std::string(decomposition_attribute) + "_" + name);
}

Type type_of_word(const std::string& word, const std::string& what) {
  for (const auto& [name, type] : {std::pair{"byte", Type::int8},
                                   {"short", Type::int16},
                                   {"int", Type::int32},
                                   {"int64", Type::int64},
                                   {"float", Type::float32},
                                   {"double", Type::float64}}) {
    if (word == name) return type;
  }
  throw Error(what + ": expected byte, short, int, int64, float or double, found " + word);
}

std::vector<Attribute> attributes_of(const std::vector<Contents::Attribute>& given,
                                     const std::string& owner) {
  std::vector<Attribute> attributes;
  for (const Contents::Attribute& a : given) {
    if (is_of_decomposition(a.name)) continue;
    if (a.is_text) {
      attributes.emplace_back(a.name, a.text);
      continue;
    }
    with_type(type_of_word(a.type, "attribute '" + owner + ":" + a.name + "'"), [&](auto zero) {
      using T = decltype(zero);
      if constexpr (std::is_integral_v<T>) {
        attributes.emplace_back(a.name, std::vector<T>(a.integers.begin(), a.integers.end()));
      } else {
        attributes.emplace_back(a.name, std::vector<T>(a.numbers.begin(), a.numbers.end()));
      }
    });
  }
  return attributes;
}

/// Name, type and value of each except those of the decomposition, as text.
std::string in_words(const std::vector<Contents::Attribute>& attributes) {
  std::ostringstream words;
  words << std::setprecision(17);
  for (const Contents::Attribute& a : attributes) {
    if (is_of_decomposition(a.name)) continue;
    words << (words.tellp() > 0 ? ", " : "") << a.name << " (" << a.type << ") " << a.text;
    for (const double n : a.numbers) words << " " << n;
  }
  return words.tellp() > 0 ? words.str() : "none";
}

} // namespace

SubfileSet::SubfileSet(MPI_Comm comm, const std::string& path) : m_path(path) {
  const int rank = rank_in(comm), n_ranks = size_of(comm);
  on_rank_0(comm, [&] { m_first = source(0).contents(); });
  broadcast(m_first, comm);
  const Contents::Attribute* number = find(m_first.attributes, subfiles_attribute);
  if (number == nullptr || number->integers.size() != 1 || number->integers[0] < 1) {
    fail(0,
         std::string("expected the attribute ") + subfiles_attribute +
             ", the number of subfiles, found " +
             (number == nullptr ? "none" : std::to_string(number->integers.size()) + " numbers"));
  }
  m_size = static_cast<std::size_t>(number->integers[0]);
  if (m_first.record_dimension >= 0)
    m_records = m_first.dimensions[static_cast<std::size_t>(m_first.record_dimension)].length;
  for (std::size_t d = 0; d < m_first.dimensions.size(); ++d) {
    if (decomposition_of(m_first, d) != nullptr) m_cut.push_back(d);
  }
  m_ranges.resize(m_size * m_cut.size());
  // whole, first, last + 1; 0 for subfiles of other ranks
  std::vector<std::int64_t> numbers(3 * m_ranges.size(), 0);
  agree(comm, [&] {
    for (auto n = static_cast<std::size_t>(rank); n < m_size;
         n += static_cast<std::size_t>(n_ranks)) {
      const Contents& contents = source(n).contents();
      compare(n, contents);
      for (std::size_t c = 0; c < m_cut.size(); ++c) {
        const Range range = range_of(n, contents, m_cut[c]);
        const std::size_t at = 3 * (n * m_cut.size() + c);
        numbers[at] = range.whole, numbers[at + 1] = range.first, numbers[at + 2] = range.last + 1;
      }
    }
  });
  MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_INT64_T,
                MPI_SUM, comm);
  for (std::size_t n = 0; n < m_ranges.size(); ++n)
    m_ranges[n] = {numbers[3 * n], numbers[3 * n + 1], numbers[3 * n + 2] - 1};
  for (std::size_t n = 0; n < m_ranges.size(); ++n) { // the same on all ranks
    const std::size_t c = n % m_cut.size();
    if (m_ranges[n].whole != m_ranges[c].whole) {
      fail(n / m_cut.size(), "dimension '" + m_first.dimensions[m_cut[c]].name +
                                 "': expected a part of " + std::to_string(m_ranges[c].whole) +
                                 ", as in the first subfile, found of " +
                                 std::to_string(m_ranges[n].whole));
    }
  }
  make_schema();
  find_parts();
}

std::string SubfileSet::path_of(std::size_t subfile) const {
  return m_path + subfile_suffix(subfile);
}

void SubfileSet::fail(std::size_t subfile, const std::string& what) const {
  throw Error("file '" + path_of(subfile) + "': " + what);
}

ReadSource& SubfileSet::source(std::size_t subfile) {
  const auto found = m_open.find(subfile);
  if (found != m_open.end()) return *found->second;
  if (m_open.size() >= most_open) m_open.clear();
  try {
    return *(m_open[subfile] = read_each(path_of(subfile), MPI_COMM_SELF, {}));
  } catch (const Error& e) {
    m_open.erase(subfile);
    const std::string which =
        m_size == 0 ? "the first subfile" : "one of " + std::to_string(m_size) + " subfiles";
    throw Error(std::string(e.what()) + " (" + which + " of '" + m_path + "')");
  }
}

SubfileSet::Range SubfileSet::range_of(std::size_t subfile, const Contents& contents,
                                       std::size_t dimension) const {
  const Contents::Dimension& d = contents.dimensions[dimension];
  const std::string what = std::string(decomposition_attribute) + " of dimension '" + d.name + "'";
  const Contents::Attribute* const a = decomposition_of(contents, dimension);
  if (a == nullptr || a->integers.size() != 4)
    fail(subfile, "expected " + what + ", four whole numbers, found none");
  const std::vector<std::int64_t>& n = a->integers;
  const auto length = static_cast<std::int64_t>(d.length);
  if (n[0] != 1 || n[2] < 1 || n[3] > n[1] || n[3] - n[2] + 1 != length) {
    std::string found;
    for (const std::int64_t number : n) found += " " + std::to_string(number);
    fail(subfile, what + ": expected 1, its whole length, and first and last index of the " +
                      std::to_string(length) + " in this file, found" + found);
  }
  return {n[1], n[2] - 1, n[3] - 1};
}

/// Everything except the place must be as in the first subfile.
void SubfileSet::compare(std::size_t subfile, const Contents& contents) const {
  const auto expect = [&](const std::string& what, const std::string& expected,
                          const std::string& found) {
    if (expected != found)
      fail(subfile, what + ": expected " + expected + ", as in the first subfile, found " + found);
  };
  const auto count = [](const auto& list) { return std::to_string(list.size()); };
  const Contents::Attribute* number = find(contents.attributes, subfiles_attribute);
  expect(subfiles_attribute, std::to_string(m_size),
         number != nullptr && number->integers.size() == 1 ? std::to_string(number->integers[0])
                                                           : "none");
  expect("number of dimensions", count(m_first.dimensions), count(contents.dimensions));
  for (std::size_t d = 0; d < m_first.dimensions.size(); ++d) {
    const Contents::Dimension &first = m_first.dimensions[d], &other = contents.dimensions[d];
    expect("dimension", first.name, other.name);
    if (decomposition_of(m_first, d) == nullptr || first.unlimited)
      expect("length of '" + first.name + "'", std::to_string(first.length),
             std::to_string(other.length));
  }
  expect("number of variables", count(m_first.variables), count(contents.variables));
  for (std::size_t v = 0; v < m_first.variables.size(); ++v) {
    const Contents::Variable &first = m_first.variables[v], &other = contents.variables[v];
    expect("variable", first.name, other.name);
    expect("type of '" + first.name + "'", first.type, other.type);
    if (first.axes != other.axes)
      fail(subfile, "variable '" + first.name +
                        "': expected the dimensions of the first subfile, found others");
    expect("attributes of '" + first.name + "'", in_words(first.attributes),
           in_words(other.attributes));
  }
  expect("attributes", in_words(m_first.attributes), in_words(contents.attributes));
}

void SubfileSet::make_schema() {
  for (std::size_t d = 0; d < m_first.dimensions.size(); ++d) {
    const Contents::Dimension& dimension = m_first.dimensions[d];
    m_schema.dimensions.push_back(
        {dimension.name, dimension.unlimited ? unlimited : dimension.length});
    for (std::size_t c = 0; c < m_cut.size(); ++c) {
      if (m_cut[c] == d)
        m_schema.dimensions.back() = {dimension.name, static_cast<std::size_t>(m_ranges[c].whole),
                                      true};
    }
  }
  for (const Contents::Variable& v : m_first.variables) {
    Variable variable{v.name,
                      type_of_word(v.type, "file '" + path_of(0) + "': variable '" + v.name + "'"),
                      {},
                      {}};
    for (const std::size_t d : v.axes) variable.dimensions.push_back(m_first.dimensions[d].name);
    variable.attributes = attributes_of(v.attributes, v.name);
    m_schema.variables.push_back(variable);
  }
  m_schema.attributes = attributes_of(m_first.attributes, "");
}

void SubfileSet::find_parts() {
  std::set<std::vector<std::size_t>> checked; // combinations of cut dimensions
  for (std::size_t v = 0; v < m_schema.variables.size(); ++v) {
    const std::vector<std::size_t>& axes = m_first.variables[v].axes;
    const std::size_t lead = m_schema.has_records(m_schema.variables[v]) ? 1 : 0;
    std::set<std::vector<std::size_t>> starts;
    std::vector<std::size_t> cut_axes;
    std::vector<Part> parts;
    for (std::size_t n = 0; n < m_size; ++n) {
      Part part{n, {}};
      for (std::size_t a = lead; a < axes.size(); ++a) {
        const auto c = static_cast<std::size_t>(std::find(m_cut.begin(), m_cut.end(), axes[a]) -
                                                m_cut.begin());
        if (c == m_cut.size()) {
          part.box.start.push_back(0);
          part.box.count.push_back(m_first.dimensions[axes[a]].length);
          continue;
        }
        const Range& range = m_ranges[n * m_cut.size() + c];
        part.box.start.push_back(static_cast<std::size_t>(range.first));
        part.box.count.push_back(static_cast<std::size_t>(range.last - range.first + 1));
        if (n == 0) cut_axes.push_back(axes[a]);
      }
      std::vector<std::size_t> key = part.box.start;
      key.insert(key.end(), part.box.count.begin(), part.box.count.end());
      if (starts.insert(key).second) parts.push_back(part); // else an earlier subfile has it
    }
    m_parts.push_back(std::move(parts));
    if (checked.insert(cut_axes).second) check_cover(v);
  }
}

/// The parts of a variable must not overlap and must have every element.
void SubfileSet::check_cover(std::size_t v) const {
  const std::vector<Part>& parts = m_parts[v];
  const std::string what = "variable '" + m_schema.variables[v].name + "'";
  const std::size_t expected =
      m_schema.bytes(m_schema.variables[v]) / bytes_of(m_schema.variables[v].type);
  std::size_t found = 0;
  for (const Part& part : parts) {
    found += part.box.elements();
    for (const Part& other : parts) {
      if (other.subfile >= part.subfile) break;
      if (meet(part.box, other.box).elements() == 0) continue;
      fail(part.subfile, what +
                             ": expected a part that no other subfile has, found some of it in '" +
                             path_of(other.subfile) + "'");
    }
  }
  if (found != expected) {
    throw Error("file '" + m_path + "': " + what + ": expected " + std::to_string(expected) +
                " values in " + std::to_string(m_size) + " subfiles, found " +
                std::to_string(found));
  }
}

void SubfileSet::read(std::size_t v, std::size_t record, std::size_t subfile, const Box& box,
                      std::byte* values) {
  Box local = box;
  const std::vector<std::size_t>& axes = m_first.variables[v].axes;
  const std::size_t lead = axes.size() - box.count.size();
  for (std::size_t a = lead; a < axes.size(); ++a) {
    const auto c =
        static_cast<std::size_t>(std::find(m_cut.begin(), m_cut.end(), axes[a]) - m_cut.begin());
    if (c < m_cut.size())
      local.start[a - lead] -= static_cast<std::size_t>(m_ranges[subfile * m_cut.size() + c].first);
  }
  if (lead == 1) {
    local.start.insert(local.start.begin(), record);
    local.count.insert(local.count.begin(), 1);
  }
  source(subfile).read(v, local, bytes_of(m_schema.variables[v].type), values);
}

} // namespace nunatak::io
