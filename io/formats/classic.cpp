#include "io/formats/classic.hpp"

#include "io/formats/define.hpp"

#include <netcdf.h>

namespace nunatak::io {

namespace {

constexpr std::size_t longest_dimension = 2147483647, largest_variable = 4294967292; // bytes

bool is_int64(const Attribute::Value& value) {
  return std::holds_alternative<std::vector<std::int64_t>>(value);
}

/// What CDF-2 cannot hold; "" if it holds everything.
std::string beyond_cdf2(const Schema& schema) {
  const std::string type = ": expected a type that CDF-2 has, found int64";
  for (const Dimension& d : schema.dimensions) {
    if (d.length <= longest_dimension || d.length == unlimited) continue;
    return "dimension '" + d.name + "': expected a length of at most 2147483647 in CDF-2, found " +
           std::to_string(d.length);
  }
  for (const Attribute& a : schema.attributes) {
    if (is_int64(a.value)) return "attribute ':" + a.name + "'" + type;
  }
  for (const Variable& v : schema.variables) {
    if (v.type == Type::int64) return "variable '" + v.name + "'" + type;
    for (const Attribute& a : v.attributes) {
      if (is_int64(own_type(a, v))) return "attribute '" + v.name + ":" + a.name + "'" + type;
    }
    if (schema.bytes(v) <= largest_variable) continue;
    return "variable '" + v.name + "': expected at most 4294967292 bytes" +
           (schema.has_records(v) ? " in a record" : "") + " of CDF-2, found " +
           std::to_string(schema.bytes(v));
  }
  return "";
}

void define(int ncid, const std::string& path, const Schema& schema, const Options& options) {
  const auto check = [&](int status, const std::string& what) {
    check_status<NetcdfC>(status, path, what);
  };
  int old_fill = 0;
  check(nc_set_fill(ncid, NC_NOFILL, &old_fill), "fill mode");
  const Definition<NetcdfC> definition(ncid, path, schema);
  definition.dimensions();
  for (std::size_t v = 0; v < schema.variables.size() && options.define == "upfront"; ++v)
    definition.variable(v);
  definition.attributes();
  check(nc__enddef(ncid, options.header, options.align, 0, options.align), "header");
}

} // namespace

std::string classic_kind(const Schema& schema) {
  const std::string reason = beyond_cdf2(schema);
  return reason.empty() ? "CDF-2" : "CDF-5, which GDAL does not read; " + reason;
}

int classic_mode(const Schema& schema) {
  return beyond_cdf2(schema).empty() ? NC_64BIT_OFFSET : NC_64BIT_DATA;
}

void create_classic(const std::string& path, const Schema& schema, const Options& options) {
  int ncid = -1;
  check_status<NetcdfC>(nc_create(path.c_str(), NC_CLOBBER | classic_mode(schema), &ncid), path,
                        "cannot create it");
  try {
    define(ncid, path, schema, options);
  } catch (...) {
    nc_close(ncid);
    throw;
  }
  check_status<NetcdfC>(nc_close(ncid), path, "close");
}

} // namespace nunatak::io
