// The format `hybrid`: rank 0 defines the file with serial NetCDF-C, then all ranks open it and write with PnetCDF: what PISM 0.5
// did. See format.hpp.
#include "io/agree.hpp"
#include "io/formats/classic.hpp"
#include "io/formats/define.hpp"
#include "io/formats/mpi_io.hpp"
#include "io/formats/pnetcdf_file.hpp"

#include <pnetcdf.h>

#include <numeric>

namespace nunatak::io {

namespace {

class Hybrid final : public PnetcdfFile {
public:
  using PnetcdfFile::PnetcdfFile;

  void define() override {
    on_rank_0(m_comm, [&] { create_classic(m_path, m_schema, m_options); });
    m_ids.resize(m_schema.variables.size()); // in both libraries, in the order of definition
    std::iota(m_ids.begin(), m_ids.end(), 0);
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
};

} // namespace

std::unique_ptr<Format> open_hybrid(MPI_Comm comm, const std::string& path, const Schema& schema, const Options& options) {
  return std::make_unique<Hybrid>(comm, path, schema, options);
}

} // namespace nunatak::io
