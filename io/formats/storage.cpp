#include "io/formats/storage.hpp"

#include "common/text.hpp"
#include "io/formats/define.hpp"

#include <netcdf.h>

#include <algorithm>
#include <map>

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

namespace {

constexpr std::size_t smallest = 4096, compressed = 1 << 20, largest = (4ULL << 30) - 1; // bytes

std::map<std::string, std::size_t> parse(const Schema& schema, const std::string& text) {
  std::map<std::string, std::size_t> lengths;
  for (const std::string& word : split(text, ',')) {
    const std::size_t equal = word.find('=');
    const std::string name = word.substr(0, equal),
                      digits = equal == std::string::npos ? "" : word.substr(equal + 1);
    const bool is_number = !digits.empty() && digits.size() < 19 &&
                           digits.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number || std::stoull(digits) == 0) {
      throw Error(
          "option -io_chunk: expected auto, record or lengths by dimension (y=64,x=64), found '" +
          text + "'");
    }
    if (find(schema.dimensions, name) == nullptr)
      throw Error("option -io_chunk: expected a dimension of the file (" +
                  joined(names_of(schema.dimensions)) + "), found '" + name + "'");
    lengths[name] = std::stoull(digits);
  }
  return lengths;
}

} // namespace

Indices chunk_shape(const Schema& schema, const Variable& variable, const Storage& storage) {
  const bool by_name = storage.chunk != "auto" && storage.chunk != "record",
             has_records = schema.has_records(variable);
  const std::size_t element = bytes_of(variable.type);
  Indices chunk = schema.shape(variable);
  if (has_records) chunk[0] = 1;
  bool is_named = false;
  if (by_name) {
    const auto lengths = parse(schema, storage.chunk);
    for (std::size_t d = 0; d < chunk.size(); ++d) {
      const auto found = lengths.find(variable.dimensions[d]);
      if (found == lengths.end()) continue;
      is_named = true;
      chunk[d] = d == 0 && has_records ? found->second : std::min(chunk[d], found->second);
    }
  }
  if (chunk.empty() || (!has_records && storage.deflate == 0 && !is_named)) return {};
  if (storage.chunk == "auto" && has_records) {
    std::size_t record = element;
    for (const std::size_t n : chunk) record *= n;
    chunk[0] = std::max<std::size_t>(1, smallest / record);
  }
  const std::size_t most = storage.chunk == "auto" && storage.deflate > 0 ? compressed : largest;
  return cut({Indices(chunk.size(), 0), chunk}, most / element).front().count;
}

std::uint64_t bytes_of_chunks(const Schema& schema, const Variable& variable,
                              const Storage& storage, std::uint64_t records) {
  const Indices chunk = chunk_shape(schema, variable, storage), shape = schema.shape(variable);
  std::uint64_t bytes = bytes_of(variable.type);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::uint64_t length = shape[d] == unlimited ? records : shape[d],
                        multiple = chunk.empty() ? 1 : chunk[d];
    bytes *= (length + multiple - 1) / multiple * multiple;
  }
  return bytes;
}

} // namespace nunatak::io
