#include "io/read/contents.hpp"

#include "io/base/agree.hpp"
#include "io/data/value_sums.hpp"
#include "io/disk/classic_header.hpp"
#include "io/formats/define.hpp"

#include <netcdf.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <filesystem>

namespace nunatak::io {

namespace {

constexpr auto checked = check_status<NetcdfC>;

bool is_number(nc_type type) { return type >= NC_BYTE && type <= NC_UINT64 && type != NC_CHAR; }

Contents::Attribute attribute_of(int nc, int variable, int number, const std::string& path) {
  char name[NC_MAX_NAME + 1] = {}, type_name[NC_MAX_NAME + 1] = {};
  nc_type type = NC_NAT;
  Contents::Attribute a;
  checked(nc_inq_attname(nc, variable, number, name), path, "name of an attribute");
  const std::string what = std::string("attribute '") + name + "'";
  checked(nc_inq_att(nc, variable, name, &type, &a.length), path, what);
  checked(nc_inq_type(nc, type, type_name, nullptr), path, what);
  a.name = name;
  a.type = type_name;
  a.is_text = type == NC_CHAR || (type == NC_STRING && a.length == 1);
  a.is_number = is_number(type);
  if (type == NC_CHAR) {
    a.text.resize(a.length);
    checked(nc_get_att_text(nc, variable, name, a.text.data()), path, what);
  } else if (a.is_text) {
    char* value = nullptr;
    checked(nc_get_att_string(nc, variable, name, &value), path, what);
    a.text = value != nullptr ? value : "";
    nc_free_string(1, &value);
  } else if (a.is_number) {
    a.numbers.resize(a.length);
    checked(nc_get_att_double(nc, variable, name, a.numbers.data()), path, what);
    if (type == NC_FLOAT || type == NC_DOUBLE) {
      for (const double v : a.numbers) {
        if (v == std::trunc(v) && std::fabs(v) < 0x1p63)
          a.integers.push_back(static_cast<std::int64_t>(v));
      }
    } else {
      std::vector<long long> integers(a.length);
      const int status = nc_get_att_longlong(nc, variable, name, integers.data());
      if (status == NC_ERANGE) return a; // beyond int64
      checked(status, path, what);
      a.integers.assign(integers.begin(), integers.end());
    }
  }
  return a;
}

std::vector<Contents::Attribute> attributes_of(int nc, int variable, const std::string& path) {
  int n = 0;
  checked(variable == NC_GLOBAL ? nc_inq_natts(nc, &n) : nc_inq_varnatts(nc, variable, &n), path,
          "number of attributes");
  std::vector<Contents::Attribute> attributes;
  for (int number = 0; number < n; ++number)
    attributes.push_back(attribute_of(nc, variable, number, path));
  return attributes;
}

std::vector<Attribute> attributes_of(const std::vector<Contents::Attribute>& given,
                                     const std::string& owner) {
  std::vector<Attribute> attributes;
  for (const Contents::Attribute& a : given) {
    if (a.is_text) {
      attributes.emplace_back(a.name, a.text);
    } else {
      with_type(type_of_word(a.type, owner + ":" + a.name + "'"), [&](auto zero) {
        using T = decltype(zero);
        if constexpr (std::is_integral_v<T>) {
          attributes.emplace_back(a.name, std::vector<T>(a.integers.begin(), a.integers.end()));
        } else {
          attributes.emplace_back(a.name, std::vector<T>(a.numbers.begin(), a.numbers.end()));
        }
      });
    }
  }
  return attributes;
}

} // namespace

Type type_of_word(const std::string& word, const std::string& what) {
  const char* const words[] = {"byte", "short", "int", "int64", "float", "double"}; // as all_types
  const auto found = std::find(std::begin(words), std::end(words), word);
  if (found != std::end(words)) return all_types[static_cast<std::size_t>(found - words)];
  throw Error(what + ": expected byte, short, int, int64, float or double, found " + word);
}

Schema schema_of(const Contents& contents, const std::string& path) {
  Schema schema;
  for (const Contents::Dimension& d : contents.dimensions)
    schema.dimensions.push_back({d.name, d.unlimited ? unlimited : d.length});
  for (const Contents::Variable& v : contents.variables) {
    Variable& variable = schema.variables.emplace_back();
    variable.name = v.name;
    variable.type = type_of_word(v.type, "file '" + path + "': variable '" + v.name + "'");
    for (const std::size_t d : v.axes) variable.dimensions.push_back(contents.dimensions[d].name);
    variable.attributes = attributes_of(v.attributes, "file '" + path + "': attribute '" + v.name);
  }
  schema.attributes = attributes_of(contents.attributes, "file '" + path + "': attribute '");
  return schema;
}

std::string plain_text(const Contents::Attribute& attribute) {
  const std::string text = attribute.text.substr(0, attribute.text.find('\0'));
  const char* const white = " \t\r\n";
  const std::size_t first = text.find_first_not_of(white);
  return first == std::string::npos ? ""
                                    : text.substr(first, text.find_last_not_of(white) + 1 - first);
}

NcFile::NcFile(const std::string& path) {
  const auto fail = [&](const std::string& what) { throw Error("file '" + path + "': " + what); };
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

Contents contents_of(const NcFile& file, const std::string& path) {
  const int nc = file.id();
  Contents contents;
  int n_dimensions = 0, n_variables = 0, n_unlimited = 0, format = 0;
  char name[NC_MAX_NAME + 1] = {};
  checked(nc_inq_format(nc, &format), path, "format");
  contents.is_hdf5 = format == NC_FORMAT_NETCDF4 || format == NC_FORMAT_NETCDF4_CLASSIC;
  checked(nc_inq_dimids(nc, &n_dimensions, nullptr, 0), path, "dimensions");
  std::vector<int> ids(static_cast<std::size_t>(n_dimensions));
  checked(nc_inq_dimids(nc, &n_dimensions, ids.data(), 0), path, "dimensions");
  checked(nc_inq_unlimdims(nc, &n_unlimited, nullptr), path, "unlimited dimensions");
  std::vector<int> unlimited_ids(static_cast<std::size_t>(n_unlimited));
  checked(nc_inq_unlimdims(nc, &n_unlimited, unlimited_ids.data()), path, "unlimited dimensions");
  int record_id = -1;
  checked(nc_inq_unlimdim(nc, &record_id), path, "unlimited dimension");
  for (const int id : ids) {
    std::size_t length = 0;
    checked(nc_inq_dim(nc, id, name, &length), path, "a dimension");
    if (id == record_id) contents.record_dimension = static_cast<int>(contents.dimensions.size());
    contents.dimensions.push_back(
        {name, length,
         std::find(unlimited_ids.begin(), unlimited_ids.end(), id) != unlimited_ids.end()});
  }
  checked(nc_inq_nvars(nc, &n_variables), path, "number of variables");
  for (int id = 0; id < n_variables; ++id) {
    Contents::Variable v;
    int rank = 0, axes[NC_MAX_VAR_DIMS] = {};
    checked(nc_inq_var(nc, id, name, &v.nc_type, &rank, axes, nullptr), path, "a variable");
    v.name = name;
    checked(nc_inq_type(nc, v.nc_type, name, nullptr), path, "type of '" + v.name + "'");
    v.type = name;
    for (int n = 0; n < rank; ++n)
      v.axes.push_back(
          static_cast<std::size_t>(std::find(ids.begin(), ids.end(), axes[n]) - ids.begin()));
    v.attributes = attributes_of(nc, id, path);
    contents.variables.push_back(std::move(v));
  }
  contents.attributes = attributes_of(nc, NC_GLOBAL, path);
  return contents;
}

// The members in a message, for both directions.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Contents::Dimension, name, length, unlimited)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Contents::Attribute, name, type, length, is_text, is_number,
                                   text, numbers, integers)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Contents::Variable, name, type, nc_type, axes, attributes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Contents, dimensions, variables, attributes, record_dimension,
                                   is_hdf5)

std::vector<std::uint8_t> message_of(const Contents& contents) {
  return nlohmann::json::to_cbor(contents);
}

std::string fingerprint(Contents contents) {
  for (Contents::Dimension& d : contents.dimensions) d.length *= d.unlimited ? 0 : 1;
  for (Contents::Attribute& a : contents.attributes) {
    if (a.name != "history") continue;
    a.text.clear();
    a.length = 0;
  }
  std::vector<std::uint8_t> bytes = message_of(contents);
  bytes.resize((bytes.size() + 7) / 8 * 8, 0);
  std::vector<std::uint64_t> words(bytes.size() / 8);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  ValueSum sum(Indices{words.size()});
  std::uint64_t key = ValueSum::K;
  for (const std::uint64_t word : words) {
    sum.add(word, key);
    key += ValueSum::K;
  }
  return sum_text(sum.value());
}

void broadcast(Contents& contents, MPI_Comm comm) {
  const int rank = rank_in(comm);
  std::string message;
  if (rank == 0) nlohmann::json::to_cbor(contents, message);
  broadcast(message, comm);
  if (rank != 0) contents = nlohmann::json::from_cbor(message).get<Contents>();
}

} // namespace nunatak::io
