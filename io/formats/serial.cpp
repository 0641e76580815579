// The format `serial`: rank 0 writes with serial NetCDF-C. See format.hpp.
//
// A layout with one aggregator gathers the values (methods/registry.hpp: many_writers), at most
// Options::copy_bytes() at a time. `define interleaved`: see pnetcdf.cpp; NetCDF-C moves less.
#include "io/disk/classic_header.hpp"
#include "io/formats/classic.hpp"
#include "io/formats/define.hpp"
#include "io/formats/format.hpp"

#include <netcdf.h>

#include <numeric>

namespace nunatak::io {

namespace {

/// Does nothing on other ranks than 0.
class Serial final : public FileFormat {
public:
  Serial(MPI_Comm comm, const std::string& path, const Schema& schema, const Options& options)
      : FileFormat(comm, path, schema, options), m_ids(schema.variables.size(), -1) {}
  ~Serial() override {
    if (m_ncid >= 0) nc_close(m_ncid);
  }

  void define() override {
    if (m_rank != 0) return;
    create_classic(m_path, m_schema, m_options);
    std::size_t buffer = 1 << 20; // of NetCDF-C; by default as small as a disk block
    const int status = nc__open(m_path.c_str(), NC_WRITE, &buffer, &m_ncid);
    if (status != NC_NOERR) m_ncid = -1;
    check(status, "cannot open it");
    int old_fill = 0;
    check(nc_set_fill(m_ncid, NC_NOFILL, &old_fill), "fill mode");
    if (m_options.define == "upfront") std::iota(m_ids.begin(), m_ids.end(), 0);
    count_moved(m_layout, m_path, false);
  }

  /// For the variables defined so far, on rank 0.
  std::uint64_t expected_size(std::uint64_t records) const override {
    return m_layout.size(records);
  }

  void put(std::size_t v, std::size_t record, const Slabs& slabs) override {
    if (m_rank != 0) return;
    if (m_ids[v] < 0) define_late(v);
    for (const Hyperslab& slab : slabs) write(v, record, slab);
  }

  void wait() override {}
  void save() override {
    if (m_rank == 0) check(nc_sync(m_ncid), "flush");
  }
  void close() override {
    if (m_rank != 0) return;
    for (std::size_t v = 0; v < m_ids.size(); ++v) {
      if (m_ids[v] < 0) define_late(v);
    }
    const int ncid = m_ncid;
    m_ncid = -1;
    check(nc_close(ncid), "close");
  }

private:
  void check(int status, const std::string& what) const {
    check_status<NetcdfC>(status, m_path, what);
  }

  void write(std::size_t v, std::size_t record, const Hyperslab& slab) {
    const Variable& variable = m_schema.variables[v];
    const std::size_t bytes = slab.elements() * bytes_of(variable.type),
                      n_parts = (bytes + m_options.copy_bytes() - 1) / m_options.copy_bytes();
    for (std::size_t n = 0; n < n_parts; ++n) {
      const Hyperslab part = part_of(slab, n, n_parts);
      if (part.elements() == 0) continue;
      const Box box = part.in_record(record);
      check(nc_put_vara(m_ncid, m_ids[v], box.start.data(), box.count.data(),
                        packed(part, variable.type, m_packed)),
            "variable '" + variable.name + "': cannot write it");
      m_work.written_bytes += static_cast<std::int64_t>(part.elements() * bytes_of(variable.type));
      m_work.written_operations += 1;
    }
  }

  void define_late(std::size_t v) {
    check(nc_redef(m_ncid), "cannot define more");
    m_ids[v] = Definition<NetcdfC>(m_ncid, m_path, m_schema).variable(v);
    // the first variable fixes the end of the header
    const std::size_t header = m_n_late++ == 0 ? m_options.header : 0;
    check(nc__enddef(m_ncid, header, m_options.align, 0, m_options.align), "header");
    check(nc_sync(m_ncid), "flush");
    m_work.moved_bytes += count_moved(m_layout, m_path, false);
  }

  int m_ncid = -1;        ///< on rank 0
  std::vector<int> m_ids; ///< on rank 0; -1: not defined yet
  int m_n_late = 0;       ///< late definitions so far
  ClassicLayout m_layout; ///< at the last definition
  Buffer m_packed;
};

} // namespace

FormatRow serial_format() {
  return {"serial", "rank 0", open_as<Serial>, netcdf | classic | late_define | subfiles};
}

} // namespace nunatak::io
