// Values: checks, conversions and missing values of what the ways to read bring. See reader.hpp;
// metadata: read/metadata.cpp.
#include "io/reader.hpp"

#include "io/agree.hpp"
#include "io/layouts/topology.hpp"
#include "io/registry.hpp"

#include <netcdf.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace nunatak::io {

namespace {

/// f(a value of the C++ type that a NetCDF type of numbers stands for); false for other types.
template <class F> bool with_type(nc_type type, const F& f) {
  switch (type) {
  case NC_BYTE:
    return f(static_cast<signed char>(0)), true;
  case NC_UBYTE:
    return f(static_cast<unsigned char>(0)), true;
  case NC_SHORT:
    return f(short{0}), true;
  case NC_USHORT:
    return f(static_cast<unsigned short>(0)), true;
  case NC_INT:
    return f(int{0}), true;
  case NC_UINT:
    return f(0U), true;
  case NC_INT64:
    return f(std::int64_t{0}), true;
  case NC_UINT64:
    return f(std::uint64_t{0}), true;
  case NC_FLOAT:
    return f(0.0F), true;
  case NC_DOUBLE:
    return f(0.0), true;
  }
  return false;
}

/// A type of whole numbers that int64 holds.
bool is_integer(nc_type type) {
  return type == NC_BYTE || type == NC_SHORT || type == NC_INT || type == NC_INT64 ||
         type == NC_UBYTE || type == NC_USHORT || type == NC_UINT;
}

/// What the library fills a variable with that has no _FillValue; bytes use all their values.
std::optional<double> default_fill(nc_type type) {
  if (type == NC_FLOAT) return static_cast<double>(NC_FILL_FLOAT);
  if (type == NC_DOUBLE) return NC_FILL_DOUBLE;
  return std::nullopt;
}
std::optional<std::int64_t> default_fill_int(nc_type type) {
  if (type == NC_SHORT) return NC_FILL_SHORT;
  if (type == NC_INT) return NC_FILL_INT;
  if (type == NC_INT64) return NC_FILL_INT64;
  return std::nullopt;
}

/// What `automatic` stands for. Collective.
ReadBy chosen(ReadBy by, MPI_Comm comm, const ReadOptions& options) {
  if (by != ReadBy::automatic) return by;
  return make_topology(comm, options.ranks_per_node).n_nodes == 1 ? ReadBy::each : ReadBy::direct;
}

} // namespace

Reader::Reader(std::string path, MPI_Comm comm, ReadOptions options)
    : m_path(std::move(path)), m_comm(comm) {
  const double begin = MPI_Wtime();
  m_by = chosen(options.by, comm, options);
  agree(m_comm, [&] {
    m_source = readers()[static_cast<std::size_t>(m_by)].open(m_path, m_comm, options);
  });
  m_open_seconds = MPI_Wtime() - begin;
}

Reader::~Reader() = default;

ReadStatistics Reader::statistics() const {
  ReadStatistics statistics = m_source->statistics();
  statistics.open_seconds = m_open_seconds;
  return statistics;
}

const Contents& Reader::contents() const { return m_source->contents(); }

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

/// The values of a box, as they are in the file but for their type. Collective; a failure may be
/// this rank's alone.
template <class T> std::vector<T> Reader::read_as(std::size_t variable, const Box& box) const {
  std::vector<T> values(box.elements());
  with_type(contents().variables[variable].nc_type, [&](auto zero) {
    using Stored = decltype(zero);
    if constexpr (std::is_same_v<Stored, T>) {
      m_source->read(variable, box, sizeof(T), reinterpret_cast<std::byte*>(values.data()));
    } else {
      std::vector<Stored> stored(values.size());
      m_source->read(variable, box, sizeof(Stored), reinterpret_cast<std::byte*>(stored.data()));
      std::transform(stored.begin(), stored.end(), values.begin(),
                     [](Stored v) { return static_cast<T>(v); });
    }
  });
  return values;
}

/// _FillValue (else the default of the type) and missing_value, exact to 64 bits.
std::vector<std::int64_t> Reader::fill_values_int(const std::string& variable) const {
  std::vector<std::int64_t> values;
  for (const char* name : {"_FillValue", "missing_value"}) {
    const auto* a = attribute(variable, name);
    if (a != nullptr) values.insert(values.end(), a->integers.begin(), a->integers.end());
  }
  const auto unwritten = default_fill_int(contents().variables[id(variable)].nc_type);
  if (unwritten && !attribute(variable, "_FillValue")) values.push_back(*unwritten);
  return values;
}

/// NaN for missing values.
void Reader::mark_missing(const std::string& variable, std::vector<double>& values) const {
  const nc_type type = contents().variables[id(variable)].nc_type;
  std::vector<double> fills;
  if (is_integer(type)) {
    for (const std::int64_t fill : fill_values_int(variable))
      fills.push_back(static_cast<double>(fill));
  } else {
    for (const char* name : {"_FillValue", "missing_value"}) {
      if (const auto found = numbers(variable, name))
        fills.insert(fills.end(), found->begin(), found->end());
    }
    const auto unwritten = default_fill(type);
    if (unwritten && !attribute(variable, "_FillValue")) fills.push_back(*unwritten);
  }
  for (double fill : fills) {
    const bool fits = std::fabs(fill) <= static_cast<double>(std::numeric_limits<float>::max());
    if (type == NC_FLOAT && fits)
      fill = static_cast<double>(static_cast<float>(fill)); // given as double, stored as float
    std::replace(values.begin(), values.end(), fill, std::numeric_limits<double>::quiet_NaN());
  }
}

std::vector<double> Reader::read_block(const std::string& variable,
                                       const std::vector<std::size_t>& start,
                                       const std::vector<std::size_t>& count) const {
  const Box box{start, count};
  std::vector<double> values;
  agree(m_comm, [&] { check_block(variable, box); });
  agree(m_comm, [&] {
    values = read_as<double>(id(variable), box);
    mark_missing(variable, values);
    const auto scale = number(variable, "scale_factor"), offset = number(variable, "add_offset");
    if (!std::isfinite(scale.value_or(1.0)) || scale.value_or(1.0) == 0.0 ||
        !std::isfinite(offset.value_or(0.0))) {
      fail("variable '" + variable +
           "': expected a finite scale_factor other than 0 and a finite add_offset, found " +
           std::to_string(scale.value_or(1.0)) + " and " + std::to_string(offset.value_or(0.0)));
    }
    if (scale || offset) {
      for (double& v : values) v = v * scale.value_or(1.0) + offset.value_or(0.0);
    }
  });
  return values;
}

std::vector<std::int64_t> Reader::read_block_int(const std::string& variable,
                                                 const std::vector<std::size_t>& start,
                                                 const std::vector<std::size_t>& count,
                                                 std::optional<std::int64_t> missing) const {
  const Box box{start, count};
  const std::string what = "variable '" + variable + "': expected whole numbers";
  std::vector<std::int64_t> values;
  agree(m_comm, [&] {
    if (numbers(variable, "scale_factor") || numbers(variable, "add_offset"))
      fail(what + ", found a packed variable");
    check_block(variable, box);
  });
  agree(m_comm, [&] {
    const std::size_t v = id(variable);
    if (is_integer(contents().variables[v].nc_type)) {
      values = read_as<std::int64_t>(v, box);
      if (!missing) return;
      for (const std::int64_t fill : fill_values_int(variable))
        std::replace(values.begin(), values.end(), fill, *missing);
      return;
    }
    std::vector<double> numbers = read_as<double>(v, box);
    mark_missing(variable, numbers);
    values.resize(numbers.size());
    for (std::size_t n = 0; n < numbers.size(); ++n) {
      if (std::isnan(numbers[n]) && missing) {
        values[n] = *missing;
      } else if (std::abs(numbers[n]) < 9007199254740992.0 &&
                 numbers[n] == std::trunc(numbers[n])) {
        values[n] = static_cast<std::int64_t>(numbers[n]);
      } else {
        fail(what + ", found " + std::to_string(numbers[n]));
      }
    }
  });
  return values;
}

std::vector<double> Reader::read_record(const std::string& variable,
                                        const std::vector<std::size_t>& start,
                                        const std::vector<std::size_t>& count,
                                        std::optional<std::size_t> record) const {
  std::vector<std::size_t> full_start = start, full_count = count;
  agree(m_comm, [&] {
    const auto axes = dimensions(variable);
    if (axes.size() != start.size() + 1 || !(axes[0].unlimited || axes[0].name == "time")) return;
    if (axes[0].length == 0)
      fail("variable '" + variable + "': expected at least one record, found none");
    full_start.insert(full_start.begin(), record.value_or(axes[0].length - 1));
    full_count.insert(full_count.begin(), 1);
  });
  return read_block(variable, full_start, full_count);
}

std::vector<double> Reader::read_all(const std::string& variable) const {
  std::vector<std::size_t> start, count;
  agree(m_comm, [&] {
    for (const auto& axis : dimensions(variable)) start.push_back(0), count.push_back(axis.length);
  });
  return read_block(variable, start, count);
}

} // namespace nunatak::io
