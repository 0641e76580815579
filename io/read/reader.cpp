#include "io/read/reader.hpp"

#include "common/names.hpp"
#include "common/text.hpp"
#include "io/base/agree.hpp"
#include "io/base/topology.hpp"
#include "io/base/watchdog.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <sstream>

namespace nunatak::io {

namespace {

/// The type of as many bits, signed.
template <class T> Type stored_as(T /*zero*/) {
  if constexpr (std::is_integral_v<T>) {
    return type_of<std::make_signed_t<T>>();
  } else {
    return type_of<T>();
  }
}

} // namespace

Reader::Reader(std::string path, MPI_Comm comm, ReadOptions options)
    : m_path(std::move(path)), m_comm(comm), m_missing(options.missing), m_by(options.by) {
  const Watchdog::Scope scope(m_path, "open");
  const double begin = MPI_Wtime();
  if (m_by == ReadBy::automatic) {
    const bool one_node = make_topology(comm, options.ranks_per_node).n_nodes == 1;
    m_by = one_node ? ReadBy::each : ReadBy::direct;
  }
  agree(m_comm, [&] { m_source = open_source(m_by, m_path, m_comm, options); });
  if (!options.subfiles && find(schema().attributes, subfiles_attribute) != nullptr)
    fail("expected a whole file, found one of several subfiles: join them with nunatak-join");
  m_open_seconds = MPI_Wtime() - begin;
}

Reader::~Reader() {
  const Watchdog::Scope scope(m_path, "close");
  m_source.reset();
}

ReadStatistics Reader::statistics() const {
  ReadStatistics statistics = m_source->statistics();
  statistics.open_seconds = m_open_seconds;
  return statistics;
}

void Reader::fail(const std::string& what) const { throw Error("file '" + m_path + "': " + what); }

std::size_t Reader::id(const std::string& variable) const {
  const auto& all = schema().variables;
  if (const auto* v = find(all, variable)) return static_cast<std::size_t>(v - all.data());
  const std::string nearest = nearest_name(variable, names_of(all));
  fail("expected a variable '" + variable + "', found none of that name" +
       (nearest.empty() ? "" : " (did you mean '" + nearest + "'?)"));
}

std::vector<std::string> Reader::variables() const { return names_of(schema().variables); }

bool Reader::has(const std::string& variable) const {
  return find(schema().variables, variable) != nullptr;
}

std::vector<Reader::Axis> Reader::dimensions(const std::string& variable) const {
  std::vector<Axis> axes;
  for (const std::string& name : schema().variables[id(variable)].dimensions) {
    const Dimension& d = *find(schema().dimensions, name);
    axes.push_back({name, d.extent(), d.length == unlimited});
  }
  return axes;
}

std::string Reader::shape(const std::string& variable) const {
  std::vector<std::string> words;
  for (const Axis& axis : dimensions(variable))
    words.push_back(axis.name + " = " + std::to_string(axis.length));
  return joined(words);
}

std::string Reader::type(const std::string& variable) const {
  return name_of(schema().variables[id(variable)].type);
}

std::size_t Reader::records() const { return schema().records(); }

const Attribute* Reader::attribute(const std::string& variable, const std::string& name) const {
  return find(variable.empty() ? schema().attributes : schema().variables[id(variable)].attributes,
              name);
}

std::optional<std::string> Reader::attribute_type(const std::string& variable,
                                                  const std::string& name) const {
  const auto* a = attribute(variable, name);
  return a == nullptr ? std::nullopt : std::optional<std::string>(name_of(a->type()));
}

std::optional<std::string> Reader::text(const std::string& variable,
                                        const std::string& name) const {
  const auto* a = attribute(variable, name);
  if (a == nullptr) return std::nullopt;
  if (a->text() == nullptr) {
    fail("attribute '" + variable + ":" + name + "': expected text, found " +
         std::to_string(a->length()) + " number(s)");
  }
  return plain_text(*a->text());
}

std::optional<std::vector<double>> Reader::numbers(const std::string& variable,
                                                   const std::string& name) const {
  const auto* a = attribute(variable, name);
  if (a == nullptr) return std::nullopt;
  if (!is_number(a->type()))
    fail("attribute '" + variable + ":" + name + "': expected numbers, found values of type " +
         name_of(a->type()));
  return a->numbers();
}

std::optional<double> Reader::number(const std::string& variable, const std::string& name) const {
  const auto values = numbers(variable, name);
  if (!values) return std::nullopt;
  if (values->size() != 1) {
    fail("attribute '" + variable + ":" + name + "': expected one number, found " +
         std::to_string(values->size()));
  }
  return values->front();
}

void Reader::check_block(const std::string& variable, const Box& box) const {
  const auto axes = dimensions(variable);
  if (box.start.size() != axes.size() || box.count.size() != axes.size()) {
    fail("variable '" + variable + "': expected " + std::to_string(box.start.size()) +
         " dimensions, found " + std::to_string(axes.size()) + " (" + shape(variable) + ")");
  }
  for (std::size_t d = 0; d < axes.size(); ++d) {
    if (box.start[d] > axes[d].length || box.count[d] > axes[d].length - box.start[d]) {
      fail("variable '" + variable + "', dimension '" + axes[d].name + "': expected at least " +
           std::to_string(box.start[d] + box.count[d]) + " values, found " +
           std::to_string(axes[d].length) + " (block at " + in_words(box.start) + " of " +
           in_words(box.count) + ")");
    }
  }
  if (!is_number(schema().variables[id(variable)].type)) {
    fail("variable '" + variable + "': expected numbers, found values of type " + type(variable));
  }
}

/// Memory for the values of a box, which the variable must have.
std::vector<double> Reader::allocate(const std::string& variable, const Box& box) const {
  check_block(variable, box);
  double elements = 1.0;
  for (const std::size_t n : box.count) elements *= static_cast<double>(n);
  try {
    if (elements < 0x1p48) return std::vector<double>(box.elements());
  } catch (const std::bad_alloc&) { // the same error as above
  }
  fail("variable '" + variable + "': expected memory for " + in_words(box.count) +
       " values, found none");
}

Packing Reader::packing(const std::string& variable) const {
  Packing packing(schema().variables[id(variable)], m_path);
  std::vector<double>& fills = packing.fills;
  if (m_missing == Missing::not_zero)
    fills.erase(std::remove(fills.begin(), fills.end(), 0.0), fills.end());
  if (m_missing == Missing::none) {
    fills.clear();
    packing.missing.clear();
  }
  return packing;
}

/// The values of a box, converted only in type, in `values`. Collective; it may fail on one rank.
void Reader::read_as(const std::string& variable, const Box& box, Type type,
                     std::vector<double>& values) const {
  with_number(type, [&](auto stored) {
    const std::size_t n = values.size();
    auto* const to = reinterpret_cast<std::byte*>(values.data());
    std::byte* const from = to + n * (sizeof(double) - sizeof stored);
    m_source->read(id(variable), box, stored_as(stored), from);
    if constexpr (std::is_same_v<decltype(stored), double>) return;
    for (std::size_t i = 0; i < n; ++i) {
      std::memcpy(&stored, from + i * sizeof stored, sizeof stored);
      values[i] = static_cast<double>(stored);
    }
  });
}

/// Error on all ranks if a number of any rank lies beyond the limits of its variable. Collective.
void Reader::check_limits(const std::string& variable, const Packing& packing,
                          const std::vector<double>& values) const {
  if (std::isinf(packing.low) && std::isinf(packing.high)) return;
  double beyond[2] = {0.0, 0.0};
  for (const double v : values) {
    beyond[0] = std::fmax(beyond[0], packing.low - v);
    beyond[1] = std::fmax(beyond[1], v - packing.high);
  }
  MPI_Allreduce(MPI_IN_PLACE, beyond, 2, MPI_DOUBLE, MPI_MAX, m_comm);
  const double tolerance = packing.tolerance();
  if (beyond[0] <= tolerance && beyond[1] <= tolerance) return;
  std::ostringstream text;
  text << "variable '" << variable << "': expected values from " << packing.low << " to "
       << packing.high << ", its own valid range, found "
       << (beyond[0] > tolerance ? packing.low - beyond[0] : packing.high + beyond[1]);
  fail(text.str());
}

std::vector<double> Reader::read_block(const std::string& variable, const Indices& start,
                                       const Indices& count) const {
  const Box box{start, count};
  std::optional<Packing> packing;
  std::vector<double> values;
  const Watchdog::Scope scope(m_path, "read");
  agree(m_comm, [&] {
    values = allocate(variable, box);
    packing = this->packing(variable);
  });
  agree(m_comm, [&] {
    read_as(variable, box, packing->type, values);
    packing->unpack(values);
  });
  check_limits(variable, *packing, values);
  return values;
}

std::vector<double> Reader::read_record(const std::string& variable, const Indices& start,
                                        const Indices& count,
                                        std::optional<std::size_t> record) const {
  Box box{start, count};
  agree(m_comm, [&] {
    const auto axes = dimensions(variable);
    if (axes.size() != start.size() + 1 || !(axes[0].unlimited || axes[0].name == "time")) return;
    if (axes[0].length == 0)
      fail("variable '" + variable + "': expected at least one record, found none");
    box = box.in_record(record.value_or(axes[0].length - 1));
  });
  return read_block(variable, box.start, box.count);
}

std::vector<double> Reader::read_all(const std::string& variable) const {
  Indices count;
  agree(m_comm, [&] {
    const auto axes = dimensions(variable);
    if (axes.size() > Indices::most)
      fail("variable '" + variable + "': expected at most " + std::to_string(Indices::most) +
           " dimensions, found " + std::to_string(axes.size()));
    for (const auto& axis : axes) count.push_back(axis.length);
  });
  return read_block(variable, Indices(count.size(), 0), count);
}

} // namespace nunatak::io
