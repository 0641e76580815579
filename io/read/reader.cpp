#include "io/read/reader.hpp"

#include "io/base/agree.hpp"
#include "io/base/topology.hpp"
#include "io/base/watchdog.hpp"

#include <netcdf.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <sstream>

namespace nunatak::io {

namespace {

/// f(a value of the C++ type of a numeric NetCDF type); false for other types.
template <class F> bool with_type(nc_type type, const F& f) {
  const auto is = [&](nc_type other, auto zero) {
    if (type == other) f(zero);
    return type == other;
  };
  return is(NC_BYTE, std::int8_t{0}) || is(NC_UBYTE, std::uint8_t{0}) ||
         is(NC_SHORT, std::int16_t{0}) || is(NC_USHORT, std::uint16_t{0}) ||
         is(NC_INT, std::int32_t{0}) || is(NC_UINT, std::uint32_t{0}) ||
         is(NC_INT64, std::int64_t{0}) || is(NC_UINT64, std::uint64_t{0}) || is(NC_FLOAT, 0.0F) ||
         is(NC_DOUBLE, 0.0);
}

/// The type of as many bits, signed.
template <class T> Type stored_as(T /*zero*/) {
  if constexpr (std::is_integral_v<T>) {
    return type_of<std::make_signed_t<T>>();
  } else {
    return type_of<T>();
  }
}

/// int64 holds all values of the type.
bool is_integer(nc_type type) { return type != NC_FLOAT && type != NC_DOUBLE && type != NC_UINT64; }

/// The method that `automatic` selects. Collective.
ReadBy chosen(ReadBy by, MPI_Comm comm, const ReadOptions& options) {
  if (by != ReadBy::automatic) return by;
  return make_topology(comm, options.ranks_per_node).n_nodes == 1 ? ReadBy::each : ReadBy::direct;
}

template <class T> std::vector<std::string> names_of(const std::vector<T>& list) {
  std::vector<std::string> names;
  for (const T& element : list) names.push_back(element.name);
  return names;
}

} // namespace

Reader::Reader(std::string path, MPI_Comm comm, ReadOptions options)
    : m_path(std::move(path)), m_comm(comm), m_missing(options.missing) {
  const Watchdog::Scope scope(m_path, "open");
  const double begin = MPI_Wtime();
  m_by = chosen(options.by, comm, options);
  agree(m_comm, [&] { m_source = open_source(m_by, m_path, m_comm, options); });
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

const Contents& Reader::contents() const { return m_source->contents(); }

void Reader::fail(const std::string& what) const { throw Error("file '" + m_path + "': " + what); }

std::size_t Reader::id(const std::string& variable) const {
  const auto& all = contents().variables;
  if (const auto* v = find(all, variable)) return static_cast<std::size_t>(v - all.data());
  const std::string nearest = nearest_name(variable, names_of(all));
  fail("expected a variable '" + variable + "', found none of that name" +
       (nearest.empty() ? "" : " (did you mean '" + nearest + "'?)"));
}

std::vector<std::string> Reader::variables() const { return names_of(contents().variables); }

bool Reader::has(const std::string& variable) const {
  return find(contents().variables, variable) != nullptr;
}

std::vector<Reader::Axis> Reader::dimensions(const std::string& variable) const {
  std::vector<Axis> axes;
  for (const std::size_t d : contents().variables[id(variable)].axes)
    axes.push_back(contents().dimensions[d]);
  return axes;
}

std::string Reader::shape(const std::string& variable) const {
  std::vector<std::string> words;
  for (const Axis& axis : dimensions(variable))
    words.push_back(axis.name + " = " + std::to_string(axis.length));
  return joined(words);
}

std::string Reader::type(const std::string& variable) const {
  return contents().variables[id(variable)].type;
}

std::size_t Reader::records() const {
  const int d = contents().record_dimension;
  return d < 0 ? 0 : contents().dimensions[static_cast<std::size_t>(d)].length;
}

const Contents::Attribute* Reader::attribute(const std::string& variable,
                                             const std::string& name) const {
  return find(variable.empty() ? contents().attributes
                               : contents().variables[id(variable)].attributes,
              name);
}

std::optional<std::string> Reader::attribute_type(const std::string& variable,
                                                  const std::string& name) const {
  const auto* a = attribute(variable, name);
  return a == nullptr ? std::nullopt : std::optional(a->type);
}

std::optional<std::string> Reader::text(const std::string& variable,
                                        const std::string& name) const {
  const auto* a = attribute(variable, name);
  if (a == nullptr) return std::nullopt;
  if (!a->is_text) {
    fail("attribute '" + variable + ":" + name + "': expected text, found " +
         std::to_string(a->length) + " number(s)");
  }
  return plain_text(*a);
}

std::optional<std::vector<double>> Reader::numbers(const std::string& variable,
                                                   const std::string& name) const {
  const auto* a = attribute(variable, name);
  if (a == nullptr) return std::nullopt;
  if (!a->is_number)
    fail("attribute '" + variable + ":" + name + "': expected numbers, found values of type " +
         a->type);
  return a->numbers;
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
  if (!with_type(contents().variables[id(variable)].nc_type, [](auto) {})) {
    fail("variable '" + variable + "': expected numbers, found values of type " + type(variable));
  }
}

/// Memory for the values of a box, which the variable must have.
template <class T>
std::vector<T> Reader::allocate(const std::string& variable, const Box& box) const {
  check_block(variable, box);
  double elements = 1.0;
  for (const std::size_t n : box.count) elements *= static_cast<double>(n);
  try {
    if (elements < 0x1p48) return std::vector<T>(box.elements());
  } catch (const std::bad_alloc&) { // the same error as above
  }
  fail("variable '" + variable + "': expected memory for " + in_words(box.count) +
       " values, found none");
}

Packing Reader::packing(const std::string& variable) const {
  Packing packing(contents().variables[id(variable)], m_path);
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
template <class T>
void Reader::read_as(const std::string& variable, const Box& box, int nc_type,
                     std::vector<T>& values) const {
  with_type(nc_type, [&](auto stored) {
    static_assert(sizeof stored <= sizeof(T));
    const std::size_t n = values.size();
    auto* const to = reinterpret_cast<std::byte*>(values.data());
    std::byte* const from = to + n * (sizeof(T) - sizeof stored);
    m_source->read(id(variable), box, stored_as(stored), from);
    if constexpr (std::is_same_v<decltype(stored), T>) return;
    for (std::size_t i = 0; i < n; ++i) {
      std::memcpy(&stored, from + i * sizeof stored, sizeof stored);
      const T value = static_cast<T>(stored);
      std::memcpy(to + i * sizeof(T), &value, sizeof(T));
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
    values = allocate<double>(variable, box);
    packing = this->packing(variable);
  });
  agree(m_comm, [&] {
    read_as(variable, box, packing->nc_type, values);
    packing->unpack(values);
  });
  check_limits(variable, *packing, values);
  return values;
}

std::vector<std::int64_t> Reader::read_block_int(const std::string& variable, const Indices& start,
                                                 const Indices& count) const {
  const Box box{start, count};
  std::optional<Packing> packing;
  std::vector<std::int64_t> values;
  std::vector<double> numbers;
  const Watchdog::Scope scope(m_path, "read");
  agree(m_comm, [&] {
    values = allocate<std::int64_t>(variable, box);
    packing = this->packing(variable);
    if (!is_integer(packing->nc_type) || packing->is_packed)
      numbers = allocate<double>(variable, box);
  });
  agree(m_comm, [&] {
    if (is_integer(packing->nc_type) && !packing->is_packed) {
      read_as(variable, box, packing->nc_type, values);
      return;
    }
    read_as(variable, box, packing->nc_type, numbers);
    packing->unpack(numbers);
    for (std::size_t n = 0; n < numbers.size(); ++n) {
      const double v = packing->id(numbers[n]);
      if (!(std::abs(v) < 0x1p53 && v == std::trunc(v))) {
        fail("variable '" + variable + "': expected whole numbers, found " +
             std::to_string(numbers[n]));
      }
      values[n] = static_cast<std::int64_t>(v);
    }
  });
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
