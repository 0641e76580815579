// The reader `parallel`: all ranks open the file together and read their boxes in collective calls.
//
// Classic files (CDF-1, 2, 5) by PnetCDF, NetCDF-4 by NetCDF-C over parallel HDF5. Rank 0 first
// reads the header with serial NetCDF-C and broadcasts it, and unreadable files are refused. A box
// of more than ReadOptions::call_bytes is read in several calls, the same number on all ranks. For
// PnetCDF a rank that needs nothing (more) has an empty box. For HDF5 it reads one unused value:
// HDF5 1.10 may leave a rank with an empty box waiting.
#include "io/base/agree.hpp"
#include "io/base/watchdog.hpp"
#include "io/data/message_bytes.hpp"
#include "io/disk/mpi_io.hpp"
#include "io/read/source.hpp"

#include <netcdf.h>
#include <netcdf_par.h>
#include <pnetcdf.h>

#include <algorithm>
#include <exception>

namespace nunatak::io {

namespace {

class Parallel final : public ReadSource {
public:
  Parallel(const std::string& path, MPI_Comm comm, const ReadOptions& options)
      : m_path(path), m_comm(comm), m_call_bytes(options.call_bytes),
        m_exceptions(std::uncaught_exceptions()) {
    on_rank_0(comm, [&] {
      const NcFile file(path);
      m_is_hdf5 = file.is_hdf5();
      m_schema = file.schema();
    });
    broadcast_value(m_schema, comm);
    broadcast_value(m_is_hdf5, comm);
    m_statistics.openers = 1;
    MPI_Info info = make_info(options.hints);
    // PnetCDF and MPI-IO remove text before the first colon, as the name of a file system
    const std::string name = path.find(':') == std::string::npos ? path : "ufs:" + path;
    const int status = m_is_hdf5 ? nc_open_par(name.c_str(), NC_NOWRITE, comm, info, &m_ncid)
                                 : ncmpi_open(comm, name.c_str(), NC_NOWRITE, info, &m_ncid);
    MPI_Info_free(&info);
    agree(comm, [&] {
      if (status != NC_NOERR)
        throw Error("file '" + path + "': cannot open it on all ranks: " + words(status));
      if (!m_is_hdf5) return;
      for (std::size_t v = 0; v < m_schema.variables.size(); ++v) {
        const int access = nc_var_par_access(m_ncid, static_cast<int>(v), NC_COLLECTIVE);
        if (access != NC_NOERR)
          throw Error("file '" + path + "': expected collective access; found: " + words(access));
      }
    });
  }

  /// Closing is collective: after an exception, perhaps on this rank only, the file stays open.
  ~Parallel() override {
    if (std::uncaught_exceptions() > m_exceptions) return;
    if (m_is_hdf5) {
      nc_close(m_ncid);
    } else {
      ncmpi_close(m_ncid);
    }
  }

  void read(std::size_t v, const Box& box, Type type, std::byte* values) override {
    const double begin = MPI_Wtime();
    const std::size_t bytes = bytes_of(type);
    const std::vector<Box> parts = cut(box, std::max<std::size_t>(1, m_call_bytes / bytes));
    const std::size_t rank = box.start.size();
    const Box nothing{Indices(rank, 0), Indices(rank, m_is_hdf5 ? 1 : 0)};
    std::uint64_t calls = parts.size();
    MPI_Allreduce(MPI_IN_PLACE, &calls, 1, MPI_UINT64_T, MPI_MAX, m_comm);
    std::string error;
    for (std::size_t n = 0; n < calls; ++n) {
      const bool needed = n < parts.size();
      const Box& part = needed ? parts[n] : nothing;
      const std::size_t size = needed ? part.elements() * bytes : 0;
      std::byte unused[8];
      const int status = get(static_cast<int>(v), part, needed ? values : unused);
      if (status != NC_NOERR && error.empty()) {
        error = read_failure(m_path, m_schema.variables[v].name, part, words(status));
      }
      values += size;
      m_statistics.bytes += static_cast<std::int64_t>(size);
      m_statistics.operations += 1;
      Watchdog::of_process().advance();
    }
    m_statistics.read_seconds += MPI_Wtime() - begin;
    if (!error.empty()) throw Error(error);
  }

private:
  std::string words(int status) const {
    return m_is_hdf5 ? nc_strerror(status) : ncmpi_strerror(status);
  }

  /// Collective.
  int get(int v, const Box& part, std::byte* values) const {
    if (m_is_hdf5) return nc_get_vara(m_ncid, v, part.start.data(), part.count.data(), values);
    const std::vector<MPI_Offset> start(part.start.begin(), part.start.end()),
        count(part.count.begin(), part.count.end());
    // the type in memory is that of the file
    return ncmpi_get_vara_all(m_ncid, v, start.data(), count.data(), values, 0, MPI_DATATYPE_NULL);
  }

  std::string m_path;
  MPI_Comm m_comm;
  std::size_t m_call_bytes;
  int m_exceptions; ///< under way when this object was made
  int m_ncid = -1;
  bool m_is_hdf5 = false;
};

} // namespace

std::unique_ptr<ReadSource> read_parallel(const std::string& path, MPI_Comm comm,
                                          const ReadOptions& options) {
  return std::make_unique<Parallel>(path, comm, options);
}

} // namespace nunatak::io
