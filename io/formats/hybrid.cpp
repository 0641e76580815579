// The format `hybrid`: rank 0 defines the file with serial NetCDF-C in CDF-2, then all ranks open it and write with PnetCDF: what
// PISM 0.5 did. See format.hpp.
//
// CDF-2 (64-bit offsets) has no 64-bit integers, and 4 GiB of one variable (of one record) only at the end of the file.
#include "io/agree.hpp"
#include "io/formats/define.hpp"
#include "io/formats/mpi_io.hpp"
#include "io/formats/pnetcdf_file.hpp"

#include <pnetcdf.h>

namespace nunatak::io {

namespace {

constexpr std::size_t longest_dimension = 2147483647, largest_variable = 4294967292; // elements; bytes

/// Error if CDF-2 cannot hold it, naming what can.
void check_cdf2(const std::string& path, const Schema& schema) {
  const auto fail = [&](const std::string& what) {
    throw Error("file '" + path + "': " + what + ": use format pnetcdf, serial or netcdf4");
  };
  const auto check_attribute = [&](const std::string& owner, const std::string& name, const Attribute::Value& value) {
    if (std::holds_alternative<std::vector<std::int64_t>>(value)) {
      fail("attribute '" + owner + ":" + name + "': expected a type that CDF-2 has (format hybrid), found int64");
    }
  };
  for (const auto& d : schema.dimensions) {
    if (d.length > longest_dimension) {
      fail("dimension '" + d.name + "': expected a length of at most 2147483647 in CDF-2 (format hybrid), found " +
           std::to_string(d.length));
    }
  }
  for (const auto& a : schema.attributes) check_attribute("", a.name, a.value);
  bool any_records = false;
  for (const auto& v : schema.variables) any_records = any_records || schema.has_records(v);
  for (std::size_t n = 0; n < schema.variables.size(); ++n) {
    const Variable& v = schema.variables[n];
    const std::string what = "variable '" + v.name + "': expected ";
    if (v.type == Type::int64) fail(what + "a type that CDF-2 has (format hybrid), found int64");
    for (const auto& a : v.attributes) check_attribute(v.name, a.name, own_type(a, v));
    bool is_last = schema.has_records(v) || !any_records; // of the file
    for (std::size_t m = n + 1; m < schema.variables.size(); ++m) {
      is_last = is_last && schema.has_records(schema.variables[m]) != schema.has_records(v);
    }
    const std::size_t bytes = schema.bytes(v);
    if (bytes > largest_variable && !is_last) {
      fail(what + (any_records ? "at most 4294967292 bytes in a record" : "at most 4294967292 bytes") +
           " of CDF-2 (format hybrid) unless it is the last of the file, found " + std::to_string(bytes));
    }
  }
}

class Hybrid final : public PnetcdfFile {
public:
  using PnetcdfFile::PnetcdfFile;

  void define(const Schema& schema) override {
    m_schema = &schema;
    check_cdf2(m_path, schema);
    m_ids.resize(schema.variables.size());
    for (std::size_t v = 0; v < m_ids.size(); ++v)
      m_ids[v] = static_cast<int>(v); // in both libraries, in the order of definition
    int rank = 0;
    MPI_Comm_rank(m_comm, &rank);
    agree(m_comm, [&] {
      if (rank == 0) define_serial();
    });
    MPI_Info info = make_info(m_options.hints);
    const int status = ncmpi_open(m_comm, m_path.c_str(), NC_WRITE, info, &m_ncid);
    MPI_Info_free(&info);
    check(status, "expected to open it");
    if (m_options.fill) { // of records; the other variables have been filled on rank 0
      check(ncmpi_redef(m_ncid), "fill mode");
      check(ncmpi_set_fill(m_ncid, NC_FILL, nullptr), "fill mode");
      check(ncmpi_enddef(m_ncid), "fill mode");
    }
    begin_data();
  }

private:
  void define_serial() const {
    const auto ensure = [&](int status, const std::string& what) { check_status<NetcdfC>(status, m_path, what); };
    int ncid = -1;
    ensure(nc_create(m_path.c_str(), NC_CLOBBER | NC_64BIT_OFFSET, &ncid), "expected to create it");
    try {
      int old_fill = 0;
      ensure(nc_set_fill(ncid, m_options.fill ? NC_FILL : NC_NOFILL, &old_fill), "fill mode");
      Definition<NetcdfC> definition(ncid, m_path, *m_schema);
      definition.dimensions();
      for (std::size_t v = 0; v < m_schema->variables.size(); ++v) definition.variable(v);
      definition.attributes();
      ensure(nc__enddef(ncid, m_options.header, m_options.align, 0, m_options.align), "header");
    } catch (...) {
      nc_close(ncid);
      throw;
    }
    ensure(nc_close(ncid), "close");
  }
};

} // namespace

std::unique_ptr<Format> open_hybrid(MPI_Comm comm, const std::string& path, const Options& options) {
  return std::make_unique<Hybrid>(comm, path, options);
}

} // namespace nunatak::io
