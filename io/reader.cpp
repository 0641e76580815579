// Reads NetCDF files with serial NetCDF-C on every rank. See reader.hpp.
#include "io/reader.hpp"

#include "io/classic_header.hpp"

#include <netcdf.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>

namespace nunatak::io {

namespace {

std::string in_words(const std::vector<std::size_t>& values) {
  std::string words = "(";
  for (std::size_t n = 0; n < values.size(); ++n) words += (n ? ", " : "") + std::to_string(values[n]);
  return words + ")";
}

std::size_t product(const std::vector<std::size_t>& count) {
  return std::accumulate(count.begin(), count.end(), std::size_t{1}, std::multiplies<>());
}

bool is_integer(nc_type type) {
  return type == NC_BYTE || type == NC_SHORT || type == NC_INT || type == NC_INT64 || type == NC_UBYTE || type == NC_USHORT ||
         type == NC_UINT;
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

} // namespace

Reader::Reader(std::string path, MPI_Comm comm) : m_path(std::move(path)), m_comm(comm) {
  try {
    agree(m_comm, [&] {
      std::error_code ignored;
      if (!std::filesystem::exists(m_path, ignored)) fail("no such file");
      if (!std::filesystem::is_regular_file(m_path, ignored)) fail("expected a NetCDF file, found something that is not a file");
      const auto needed = classic_file_size(m_path);
      const std::uint64_t found = std::filesystem::file_size(m_path);
      if (needed && found < *needed) {
        fail("truncated: its header promises " + std::to_string(*needed) + " bytes, found " + std::to_string(found));
      }
      const int status = nc_open(m_path.c_str(), NC_NOWRITE, &m_ncid);
      if (status != NC_NOERR) m_ncid = -1;
      check(status, "expected a complete NetCDF file (classic, CDF-2, CDF-5 or NetCDF-4/HDF5)");
    });
  } catch (...) {
    if (m_ncid >= 0) nc_close(m_ncid);
    throw;
  }
}

Reader::~Reader() { nc_close(m_ncid); }

void Reader::fail(const std::string& what) const { throw Error("file '" + m_path + "': " + what); }

void Reader::check(int status, const std::string& what) const {
  if (status != NC_NOERR) fail(what + "; found: " + nc_strerror(status));
}

int Reader::id(const std::string& variable) const {
  if (variable.empty()) return NC_GLOBAL;
  int varid = -1;
  if (nc_inq_varid(m_ncid, variable.c_str(), &varid) == NC_NOERR) return varid;
  std::string nearest;
  std::size_t best = std::max<std::size_t>(2, variable.size() / 3) + 1;
  for (const auto& name : variables()) {
    const std::size_t distance = edit_distance(name, variable);
    if (distance < best) best = distance, nearest = name;
  }
  fail("expected a variable '" + variable + "', found none of that name" +
       (nearest.empty() ? "" : " (did you mean '" + nearest + "'?)"));
}

std::vector<std::string> Reader::variables() const {
  int n = 0;
  check(nc_inq_nvars(m_ncid, &n), "list of variables");
  std::vector<std::string> names;
  for (int varid = 0; varid < n; ++varid) {
    char name[NC_MAX_NAME + 1] = {};
    check(nc_inq_varname(m_ncid, varid, name), "name of a variable");
    names.emplace_back(name);
  }
  return names;
}

bool Reader::has(const std::string& variable) const {
  int varid = -1;
  return nc_inq_varid(m_ncid, variable.c_str(), &varid) == NC_NOERR;
}

std::vector<Reader::Axis> Reader::dimensions(const std::string& variable) const {
  const int varid = id(variable);
  int rank = 0, n_unlimited = 0;
  check(nc_inq_varndims(m_ncid, varid, &rank), "dimensions of '" + variable + "'");
  std::vector<int> ids(static_cast<std::size_t>(rank));
  check(nc_inq_vardimid(m_ncid, varid, ids.data()), "dimensions of '" + variable + "'");
  check(nc_inq_unlimdims(m_ncid, &n_unlimited, nullptr), "unlimited dimensions");
  std::vector<int> unlimited(static_cast<std::size_t>(n_unlimited));
  check(nc_inq_unlimdims(m_ncid, &n_unlimited, unlimited.data()), "unlimited dimensions");
  std::vector<Axis> axes;
  for (const int dimid : ids) {
    char name[NC_MAX_NAME + 1] = {};
    std::size_t length = 0;
    check(nc_inq_dim(m_ncid, dimid, name, &length), "a dimension of '" + variable + "'");
    axes.push_back({name, length, std::find(unlimited.begin(), unlimited.end(), dimid) != unlimited.end()});
  }
  return axes;
}

std::string Reader::type(const std::string& variable) const {
  nc_type type = NC_NAT;
  char name[NC_MAX_NAME + 1] = {};
  check(nc_inq_vartype(m_ncid, id(variable), &type), "type of '" + variable + "'");
  check(nc_inq_type(m_ncid, type, name, nullptr), "type of '" + variable + "'");
  return name;
}

bool Reader::has_dimension(const std::string& dimension) const {
  int dimid = -1;
  return nc_inq_dimid(m_ncid, dimension.c_str(), &dimid) == NC_NOERR;
}

std::size_t Reader::length(const std::string& dimension) const {
  int dimid = -1;
  std::size_t length = 0;
  check(nc_inq_dimid(m_ncid, dimension.c_str(), &dimid), "expected a dimension '" + dimension + "'");
  check(nc_inq_dimlen(m_ncid, dimid, &length), "length of dimension '" + dimension + "'");
  return length;
}

std::size_t Reader::records() const {
  int dimid = -1;
  std::size_t length = 0;
  check(nc_inq_unlimdim(m_ncid, &dimid), "unlimited dimension");
  if (dimid >= 0) check(nc_inq_dimlen(m_ncid, dimid, &length), "length of the unlimited dimension");
  return length;
}

std::vector<std::string> Reader::attributes(const std::string& variable) const {
  const int varid = id(variable);
  int n = 0;
  check(variable.empty() ? nc_inq_natts(m_ncid, &n) : nc_inq_varnatts(m_ncid, varid, &n), "attributes of '" + variable + "'");
  std::vector<std::string> names;
  for (int number = 0; number < n; ++number) {
    char name[NC_MAX_NAME + 1] = {};
    check(nc_inq_attname(m_ncid, varid, number, name), "attributes of '" + variable + "'");
    names.emplace_back(name);
  }
  return names;
}

std::optional<std::string> Reader::attribute_type(const std::string& variable, const std::string& attribute) const {
  nc_type type = NC_NAT;
  char name[NC_MAX_NAME + 1] = {};
  if (nc_inq_atttype(m_ncid, id(variable), attribute.c_str(), &type) != NC_NOERR) return std::nullopt;
  check(nc_inq_type(m_ncid, type, name, nullptr), "type of attribute '" + variable + ":" + attribute + "'");
  return name;
}

std::optional<std::string> Reader::text(const std::string& variable, const std::string& attribute) const {
  const int varid = id(variable);
  const std::string what = "attribute '" + variable + ":" + attribute + "'";
  nc_type type = NC_NAT;
  std::size_t length = 0;
  if (nc_inq_att(m_ncid, varid, attribute.c_str(), &type, &length) != NC_NOERR) return std::nullopt;
  if (type == NC_STRING && length == 1) {
    char* value = nullptr;
    check(nc_get_att_string(m_ncid, varid, attribute.c_str(), &value), what);
    std::string result = value ? value : "";
    nc_free_string(1, &value);
    return result;
  }
  if (type != NC_CHAR) fail(what + ": expected text, found " + std::to_string(length) + " number(s)");
  std::string value(length, '\0');
  check(nc_get_att_text(m_ncid, varid, attribute.c_str(), value.data()), what);
  return value;
}

std::optional<std::vector<double>> Reader::numbers(const std::string& variable, const std::string& attribute) const {
  const int varid = id(variable);
  nc_type type = NC_NAT;
  std::size_t length = 0;
  if (nc_inq_att(m_ncid, varid, attribute.c_str(), &type, &length) != NC_NOERR) return std::nullopt;
  std::vector<double> values(length);
  check(nc_get_att_double(m_ncid, varid, attribute.c_str(), values.data()),
        "attribute '" + variable + ":" + attribute + "': expected numbers");
  return values;
}

std::optional<double> Reader::number(const std::string& variable, const std::string& attribute) const {
  const auto values = numbers(variable, attribute);
  if (!values) return std::nullopt;
  if (values->size() != 1) {
    fail("attribute '" + variable + ":" + attribute + "': expected one number, found " + std::to_string(values->size()));
  }
  return values->front();
}

void Reader::check_block(const std::string& variable, const std::vector<std::size_t>& start,
                         const std::vector<std::size_t>& count) const {
  const auto axes = dimensions(variable);
  if (start.size() != axes.size() || count.size() != axes.size()) {
    std::string shape;
    for (const auto& a : axes) shape += (shape.empty() ? "" : ", ") + a.name + " = " + std::to_string(a.length);
    fail("variable '" + variable + "': expected " + std::to_string(start.size()) + " dimensions, found " +
         std::to_string(axes.size()) + " (" + shape + ")");
  }
  for (std::size_t d = 0; d < axes.size(); ++d) {
    if (start[d] > axes[d].length || count[d] > axes[d].length - start[d]) {
      fail("variable '" + variable + "', dimension '" + axes[d].name + "': expected at least " +
           std::to_string(start[d] + count[d]) + " values, found " + std::to_string(axes[d].length) + " (block at " +
           in_words(start) + " of " + in_words(count) + ")");
    }
  }
}

/// _FillValue (else the default of the type) and missing_value, exact to 64 bits.
std::vector<std::int64_t> Reader::fill_values_int(const std::string& variable) const {
  const int varid = id(variable);
  nc_type type = NC_NAT;
  check(nc_inq_vartype(m_ncid, varid, &type), "type of '" + variable + "'");
  std::vector<std::int64_t> values;
  for (const char* attribute : {"_FillValue", "missing_value"}) {
    std::size_t length = 0;
    if (nc_inq_attlen(m_ncid, varid, attribute, &length) != NC_NOERR) continue;
    std::vector<long long> stored(length);
    check(nc_get_att_longlong(m_ncid, varid, attribute, stored.data()), "attribute '" + variable + ":" + attribute + "'");
    values.insert(values.end(), stored.begin(), stored.end());
  }
  const auto unwritten = default_fill_int(type);
  if (unwritten && !numbers(variable, "_FillValue")) values.push_back(*unwritten);
  return values;
}

std::vector<double> Reader::fill_values(const std::string& variable) const {
  nc_type type = NC_NAT;
  check(nc_inq_vartype(m_ncid, id(variable), &type), "type of '" + variable + "'");
  std::vector<double> values;
  if (is_integer(type)) {
    for (const std::int64_t v : fill_values_int(variable)) values.push_back(static_cast<double>(v));
    return values;
  }
  if (const auto fill = numbers(variable, "_FillValue")) {
    values = *fill;
  } else if (const auto unwritten = default_fill(type)) {
    values.push_back(*unwritten);
  }
  if (const auto missing = numbers(variable, "missing_value")) values.insert(values.end(), missing->begin(), missing->end());
  return values;
}

/// Values as stored, NaN where missing.
std::vector<double> Reader::read_unpacked(const std::string& variable, const std::vector<std::size_t>& start,
                                          const std::vector<std::size_t>& count) const {
  check_block(variable, start, count);
  std::vector<double> values(product(count));
  if (values.empty()) return values;
  check(nc_get_vara_double(m_ncid, id(variable), start.data(), count.data(), values.data()),
        "variable '" + variable + "': expected numbers at " + in_words(start) + " of " + in_words(count));
  for (const double fill : fill_values(variable)) {
    for (double& v : values) {
      if (v == fill) v = std::numeric_limits<double>::quiet_NaN();
    }
  }
  return values;
}

std::vector<double> Reader::read_block(const std::string& variable, const std::vector<std::size_t>& start,
                                       const std::vector<std::size_t>& count) const {
  std::vector<double> values;
  agree(m_comm, [&] {
    values = read_unpacked(variable, start, count);
    const auto scale = number(variable, "scale_factor"), offset = number(variable, "add_offset");
    if (scale || offset) {
      for (double& v : values) v = v * scale.value_or(1.0) + offset.value_or(0.0);
    }
  });
  return values;
}

std::vector<std::int64_t> Reader::read_block_int(const std::string& variable, const std::vector<std::size_t>& start,
                                                 const std::vector<std::size_t>& count,
                                                 std::optional<std::int64_t> missing) const {
  std::vector<std::int64_t> values;
  agree(m_comm, [&] {
    const int varid = id(variable);
    const std::string what = "variable '" + variable + "': expected whole numbers";
    nc_type type = NC_NAT;
    check(nc_inq_vartype(m_ncid, varid, &type), "type of '" + variable + "'");
    if (numbers(variable, "scale_factor") || numbers(variable, "add_offset")) fail(what + ", found a packed variable");
    check_block(variable, start, count);
    values.resize(product(count));
    if (values.empty()) return;
    if (is_integer(type)) {
      std::vector<long long> stored(values.size());
      check(nc_get_vara_longlong(m_ncid, varid, start.data(), count.data(), stored.data()), what);
      std::copy(stored.begin(), stored.end(), values.begin());
      if (!missing) return;
      for (const std::int64_t fill : fill_values_int(variable)) std::replace(values.begin(), values.end(), fill, *missing);
      return;
    }
    const std::vector<double> stored = read_unpacked(variable, start, count);
    for (std::size_t n = 0; n < stored.size(); ++n) {
      if (std::isnan(stored[n]) && missing) {
        values[n] = *missing;
      } else if (std::abs(stored[n]) < 9007199254740992.0 && stored[n] == std::trunc(stored[n])) {
        values[n] = static_cast<std::int64_t>(stored[n]);
      } else {
        fail(what + ", found " + std::to_string(stored[n]));
      }
    }
  });
  return values;
}

std::vector<double> Reader::read_record(const std::string& variable, const std::vector<std::size_t>& start,
                                        const std::vector<std::size_t>& count, std::optional<std::size_t> record) const {
  std::vector<std::size_t> full_start = start, full_count = count;
  agree(m_comm, [&] {
    const auto axes = dimensions(variable);
    if (axes.size() != start.size() + 1 || !(axes[0].unlimited || axes[0].name == "time")) return;
    if (axes[0].length == 0) fail("variable '" + variable + "': expected at least one record, found none");
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
