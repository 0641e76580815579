// Declares a schema to NetCDF-C or PnetCDF: dimensions, variables and attributes.
//
// The two libraries have the same functions under different names and the same type numbers; a
// small struct (NetcdfC here, PnetcdfC in pnetcdf.cpp) selects one.
#pragma once

#include "common/error.hpp"
#include "io/data/schema.hpp"

#include <netcdf.h>

#include <string>
#include <vector>

namespace nunatak::io {

inline nc_type nc_type_of(Type type) {
  constexpr nc_type types[] = {NC_BYTE,   NC_SHORT, NC_INT,    NC_INT64, NC_FLOAT,
                               NC_DOUBLE, NC_UBYTE, NC_USHORT, NC_UINT,  NC_UINT64};
  return types[static_cast<std::size_t>(type)];
}

struct NetcdfC {
  static constexpr auto def_dim = nc_def_dim;
  static constexpr auto def_var = nc_def_var;
  static constexpr auto put_att = nc_put_att;
  static constexpr auto message = nc_strerror;
};

/// Error "file ...: what: ..." unless `status` is good.
template <class Library>
void check_status(int status, const std::string& path, const std::string& what) {
  if (status != NC_NOERR)
    throw Error("file '" + path + "': " + what + ": " + Library::message(status));
}

/// The file `ncid` must be in define mode. With PnetCDF and parallel NetCDF-4 every function is
/// collective. Errors name the dimension, variable or attribute.
template <class Library> class Definition {
public:
  Definition(int ncid, std::string path, const Schema& schema)
      : m_ncid(ncid), m_path(std::move(path)), m_schema(schema) {}

  void dimensions() const {
    for (const auto& d : m_schema.dimensions) {
      int id = -1; // its number, as of all NetCDF files
      check(Library::def_dim(m_ncid, d.name.c_str(),
                             d.length == unlimited ? NC_UNLIMITED : d.length, &id),
            "dimension '" + d.name + "'");
    }
  }

  void attributes() const {
    for (const auto& a : m_schema.attributes) put_attribute(NC_GLOBAL, "", a.name, a.value);
  }

  /// Defines a variable with its attributes; returns the library's id.
  int variable(std::size_t v) const {
    const Variable& variable = m_schema.variables[v];
    std::vector<int> dims;
    for (const auto& d : variable.dimensions)
      dims.push_back(static_cast<int>(m_schema.dimension(d)));
    int id = -1;
    const int rank = static_cast<int>(dims.size());
    check(Library::def_var(m_ncid, variable.name.c_str(), nc_type_of(variable.type), rank,
                           dims.data(), &id),
          "variable '" + variable.name + "'");
    for (const auto& a : variable.attributes)
      put_attribute(id, variable.name, a.name, own_type(a, variable));
    return id;
  }

private:
  void check(int status, const std::string& what) const {
    check_status<Library>(status, m_path, what);
  }

  void put_attribute(int id, const std::string& variable, const std::string& name,
                     const Attribute::Value& value) const {
    std::visit(
        [&](const auto& values) {
          using Values = std::decay_t<decltype(values)>;
          if constexpr (!std::is_same_v<Values, std::vector<std::string>>) {
            nc_type type = NC_CHAR;
            if constexpr (!std::is_same_v<Values, std::string>)
              type = nc_type_of(type_of<typename Values::value_type>());
            check(Library::put_att(m_ncid, id, name.c_str(), type, values.size(), values.data()),
                  "attribute '" + variable + ":" + name + "'");
          }
        },
        value);
  }

  int m_ncid;
  std::string m_path;
  const Schema& m_schema;
};

} // namespace nunatak::io
