// The format `pnetcdf`: every rank defines the file and writes its own block with PnetCDF. See format.hpp.
//
// With `define interleaved` a variable is defined just before its first values, behind values of others: the file is opened for
// definitions again, and what lies behind its header moves if the header outgrows its space (Options::header, from the first
// variable on) or if the records begin later. A new record variable makes every record longer: PnetCDF then reads and writes all
// of them, even the only one, which stays where it is. The bytes moved are counted from where the values lie before and after.
#include "io/agree.hpp"
#include "io/formats/classic.hpp"
#include "io/formats/define.hpp"
#include "io/formats/mpi_io.hpp"
#include "io/formats/pnetcdf_file.hpp"
#include "io/read/classic_header.hpp"

#include <pnetcdf.h>

#include <optional>

namespace nunatak::io {

namespace {

class Pnetcdf final : public PnetcdfFile {
public:
  Pnetcdf(MPI_Comm comm, const std::string& path, const Schema& schema, const Options& options)
      : PnetcdfFile(comm, path, schema, options) {
    MPI_Comm_rank(comm, &m_rank);
    MPI_Info info = make_info(options.hints);
    const int status = ncmpi_create(comm, path.c_str(), NC_CLOBBER | classic_mode(path, schema, options), info, &m_ncid);
    MPI_Info_free(&info);
    check(status, "expected to create it");
  }

  void define() override {
    m_definition.emplace(m_ncid, m_path, m_schema);
    m_ids.assign(m_schema.variables.size(), -1);
    if (m_options.fill) check(ncmpi_set_fill(m_ncid, NC_FILL, nullptr), "fill mode");
    m_definition->dimensions();
    for (std::size_t v = 0; v < m_ids.size() && m_options.define == "upfront"; ++v) m_ids[v] = m_definition->variable(v);
    m_definition->attributes();
    check(end_define(m_options.header), "header");
    begin_data();
  }

  void put(std::size_t v, const Hyperslab& slab) override {
    if (m_ids[v] < 0) define_late(v);
    PnetcdfFile::put(v, slab);
  }

  void close() override {
    for (std::size_t v = 0; v < m_ids.size(); ++v) {
      if (m_ids[v] < 0) define_late(v);
    }
    PnetcdfFile::close();
  }

private:
  int end_define(std::size_t header) {
    const auto alignment = static_cast<MPI_Offset>(m_options.align);
    return ncmpi__enddef(m_ncid, static_cast<MPI_Offset>(header), alignment, 0, alignment);
  }

  void define_late(std::size_t v) {
    if (m_quota.waiting() > 0) write_pending();
    begin_collective();
    check(ncmpi_redef(m_ncid), "expected to define more");
    m_ids[v] = m_definition->variable(v);
    const int status = end_define(m_n_late == 0 ? m_options.header : 0); // the first variable fixes where the header must end
    agree(m_comm, [&] { check(status, "header"); });                     // one rank writes it
    end_collective();
    m_n_late += 1;
    agree(m_comm, [&] {
      if (m_rank == 0) m_work.moved_bytes += m_moved.count(m_path, true);
    });
  }

  int m_rank = 0, m_n_late = 0; ///< m_n_late: late definitions so far
  std::optional<Definition<PnetcdfC>> m_definition;
  MovedBytes m_moved; ///< on rank 0
};

} // namespace

std::unique_ptr<Format> open_pnetcdf(MPI_Comm comm, const std::string& path, const Schema& schema, const Options& options) {
  return std::make_unique<Pnetcdf>(comm, path, schema, options);
}

} // namespace nunatak::io
