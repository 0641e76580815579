#include "io/read/nc_file.hpp"

#include "common/names.hpp"
#include "io/disk/classic_header.hpp"
#include "io/formats/define.hpp"

#include <netcdf.h>

#include <filesystem>

namespace nunatak::io {

namespace {

constexpr auto checked = check_status<NetcdfC>;

Attribute attribute_of(int nc, int variable, int number, const std::string& path) {
  char name[NC_MAX_NAME + 1] = {}, type_name[NC_MAX_NAME + 1] = {};
  nc_type nc_type = NC_NAT;
  std::size_t length = 0;
  checked(nc_inq_attname(nc, variable, number, name), path, "name of an attribute");
  const std::string what = std::string("attribute '") + name + "'";
  checked(nc_inq_att(nc, variable, name, &nc_type, &length), path, what);
  checked(nc_inq_type(nc, nc_type, type_name, nullptr), path, what);
  const Type type = type_named(type_name);
  Attribute attribute(name, "");
  if (type == Type::text) {
    std::string text(length, '\0');
    checked(nc_get_att_text(nc, variable, name, text.data()), path, what);
    attribute.value = std::move(text);
  } else if (type == Type::string && length == 1) {
    char* value = nullptr;
    checked(nc_get_att_string(nc, variable, name, &value), path, what);
    attribute.value = std::string(value != nullptr ? value : "");
    nc_free_string(1, &value);
  } else if (!with_number(type, [&](auto zero) {
               std::vector<decltype(zero)> numbers(length);
               checked(nc_get_att(nc, variable, name, numbers.data()), path, what);
               attribute.value = std::move(numbers);
             })) {
    attribute.value = std::vector<std::string>(length);
  }
  return attribute;
}

std::vector<Attribute> attributes_of(int nc, int variable, const std::string& path) {
  int n = 0;
  checked(variable == NC_GLOBAL ? nc_inq_natts(nc, &n) : nc_inq_varnatts(nc, variable, &n), path,
          "number of attributes");
  std::vector<Attribute> attributes;
  for (int number = 0; number < n; ++number)
    attributes.push_back(attribute_of(nc, variable, number, path));
  return attributes;
}

} // namespace

NcFile::NcFile(const std::string& path) : m_path(path) {
  const auto fail = [&](const std::string& what) { throw Error("file '" + path + "': " + what); };
  require_path(path, "file '" + path + "': ");
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    fail(std::filesystem::exists(path + ".0000", ignored)
             ? "no such file; found subfiles (layout file-per-aggregator): join them with "
               "nunatak-join"
             : "no such file");
  }
  if (!std::filesystem::is_regular_file(path, ignored))
    fail("expected a NetCDF file, found something that is not a file");
  const auto layout = read_classic_layout(path);
  m_is_classic = layout.has_value();
  const std::uint64_t needed = layout ? layout->size(layout->records) : 0;
  const std::uint64_t found = std::filesystem::file_size(path, ignored);
  if (found < needed) {
    fail("truncated: its header promises " + std::to_string(needed) + " bytes, found " +
         std::to_string(found));
  }
  // NetCDF-C takes text before a colon for a protocol or a drive
  const std::string name =
      path.find(':') == std::string::npos || path[0] == '/' ? path : "./" + path;
  // of NetCDF-C for classic files: most headers; by default a page, with a call for each
  std::size_t buffer = 32 << 10;
  checked(nc__open(name.c_str(), NC_NOWRITE, &buffer, &m_id), path,
          "expected a complete NetCDF file (classic, CDF-2, CDF-5 or NetCDF-4/HDF5)");
}

NcFile::~NcFile() { nc_close(m_id); }

Schema NcFile::schema() const {
  Schema schema;
  int n_dimensions = 0, n_variables = 0, n_unlimited = 0;
  char name[NC_MAX_NAME + 1] = {};
  checked(nc_inq_dimids(m_id, &n_dimensions, nullptr, 0), m_path, "dimensions");
  std::vector<int> ids(static_cast<std::size_t>(n_dimensions));
  checked(nc_inq_dimids(m_id, &n_dimensions, ids.data(), 0), m_path, "dimensions");
  checked(nc_inq_unlimdims(m_id, &n_unlimited, nullptr), m_path, "unlimited dimensions");
  std::vector<int> grow(static_cast<std::size_t>(n_unlimited));
  checked(nc_inq_unlimdims(m_id, &n_unlimited, grow.data()), m_path, "unlimited dimensions");
  for (const int id : ids) {
    std::size_t length = 0;
    checked(nc_inq_dim(m_id, id, name, &length), m_path, "a dimension");
    const bool grows = std::find(grow.begin(), grow.end(), id) != grow.end();
    schema.dimensions.push_back({name, grows ? unlimited : length, false, grows ? length : 0});
  }
  checked(nc_inq_nvars(m_id, &n_variables), m_path, "number of variables");
  for (int id = 0; id < n_variables; ++id) {
    Variable& v = schema.variables.emplace_back();
    nc_type type = NC_NAT;
    int rank = 0, axes[NC_MAX_VAR_DIMS] = {};
    checked(nc_inq_var(m_id, id, name, &type, &rank, axes, nullptr), m_path, "a variable");
    v.name = name;
    checked(nc_inq_type(m_id, type, name, nullptr), m_path, "type of '" + v.name + "'");
    v.type = type_named(name);
    for (int n = 0; n < rank; ++n) {
      const auto place = std::find(ids.begin(), ids.end(), axes[n]) - ids.begin();
      v.dimensions.push_back(schema.dimensions[static_cast<std::size_t>(place)].name);
    }
    v.attributes = attributes_of(m_id, id, m_path);
  }
  schema.attributes = attributes_of(m_id, NC_GLOBAL, m_path);
  return schema;
}

} // namespace nunatak::io
