// Values of classic files through PnetCDF. See pnetcdf_file.hpp.
#include "io/formats/pnetcdf_file.hpp"

#include "io/durable/durable.hpp"
#include "io/formats/define.hpp"
#include "io/formats/mpi_io.hpp"

#include <pnetcdf.h>

#include <algorithm>
#include <cerrno>

namespace nunatak::io {

int PnetcdfC::def_dim(int ncid, const char* name, std::size_t length, int* id) {
  return ncmpi_def_dim(ncid, name, static_cast<MPI_Offset>(length), id);
}
int PnetcdfC::def_var(int ncid, const char* name, int type, int rank, const int* dims, int* id) {
  return ncmpi_def_var(ncid, name, type, rank, dims, id);
}
int PnetcdfC::put_att(int ncid, int id, const char* name, int type, std::size_t size, const void* values) {
  const auto n = static_cast<MPI_Offset>(size);
  if (type == NC_CHAR) return ncmpi_put_att_text(ncid, id, name, n, static_cast<const char*>(values));
  return ncmpi_put_att(ncid, id, name, type, n, values);
}
const char* PnetcdfC::message(int status) { return ncmpi_strerror(status); }

PnetcdfFile::PnetcdfFile(MPI_Comm comm, const std::string& path, const Schema& schema, const Options& options)
    : m_comm(comm), m_path(path), m_schema(schema), m_options(options), m_quota(comm, schema, options.buffer) {}

void PnetcdfFile::check(int status, const std::string& what) const { check_status<PnetcdfC>(status, m_path, what); }

void PnetcdfFile::keep(int status, const std::string& variable, const std::string& cause) {
  if (status == NC_NOERR) return;
  m_error.set("file '" + m_path + "': " + (variable.empty() ? "" : "variable '" + variable + "': ") +
              "expected to write; found: " + ncmpi_strerror(status) + cause);
}

void PnetcdfFile::begin_data() {
  m_filled.assign(m_schema.variables.size(), 0);
  MPI_Info info = MPI_INFO_NULL;
  check(ncmpi_inq_file_info(m_ncid, &info), "hints");
  m_hints =
      used_hints(m_options.hints, info); // what PnetCDF uses, and of MPI-IO what the MPI library reports (Open MPI 4: as given)
  MPI_Info_free(&info);
  end_collective();
}

/// What is defined, as the library has placed it; what is not defined yet, as if it came last.
std::uint64_t PnetcdfFile::expected_size(std::uint64_t records) const {
  MPI_Offset header = 0;
  check(ncmpi_inq_header_extent(m_ncid, &header), "header");
  auto fixed = static_cast<std::uint64_t>(header), first_record = std::uint64_t{0}, record = std::uint64_t{0};
  for (std::size_t v = 0; v < m_ids.size(); ++v) {
    const Variable& variable = m_schema.variables[v];
    const std::uint64_t bytes = (m_schema.bytes(variable) + 3) / 4 * 4;
    MPI_Offset begin = -1;
    if (m_ids[v] >= 0) check(ncmpi_inq_varoffset(m_ncid, m_ids[v], &begin), "variable '" + variable.name + "'");
    if (m_schema.has_records(variable)) {
      if (begin >= 0 && record == 0) first_record = static_cast<std::uint64_t>(begin);
      record += bytes;
    } else {
      fixed = begin >= 0 ? std::max(fixed, static_cast<std::uint64_t>(begin) + bytes) : fixed + bytes;
    }
  }
  return record == 0 ? fixed : std::max(fixed, first_record) + records * record;
}

void PnetcdfFile::begin_collective() {
  if (m_options.access == "independent") check(ncmpi_end_indep_data(m_ncid), "collective access");
}

void PnetcdfFile::end_collective() {
  if (m_options.access == "independent") check(ncmpi_begin_indep_data(m_ncid), "independent access");
}

void PnetcdfFile::put(std::size_t v, const Hyperslab& slab) {
  if (m_options.fill && m_schema.has_records(m_schema.variables[v])) fill(v, slab);
  const std::size_t n_parts = m_quota.begin(v, slab);
  for (std::size_t part = 0; part < n_parts; ++part) {
    if (m_quota.is_full()) write_pending();
    queue(v, part_of(slab, part, n_parts));
    m_quota.add();
  }
}

/// PnetCDF fills variables without records when they are defined; records must be filled one by one, before their values.
void PnetcdfFile::fill(std::size_t v, const Hyperslab& slab) {
  std::int64_t records = slab.elements() == 0 ? 0 : static_cast<std::int64_t>(slab.start[0]) + 1;
  MPI_Allreduce(MPI_IN_PLACE, &records, 1, MPI_INT64_T, MPI_MAX, m_comm);
  if (records <= m_filled[v]) return;
  begin_collective();
  for (; m_filled[v] < records; ++m_filled[v])
    keep(ncmpi_fill_var_rec(m_ncid, m_ids[v], m_filled[v]), m_schema.variables[v].name);
  end_collective();
}

void PnetcdfFile::queue(std::size_t v, const Hyperslab& slab) {
  const Variable& variable = m_schema.variables[v];
  const std::size_t elements = slab.elements();
  if (elements == 0) return;
  const std::byte* const data = m_copies.keep(slab, variable.type);
  const std::vector<MPI_Offset> start(slab.start.begin(), slab.start.end()), count(slab.count.begin(), slab.count.end());
  int request = NC_REQ_NULL;
  keep(ncmpi_iput_vara(m_ncid, m_ids[v], start.data(), count.data(), data, static_cast<MPI_Offset>(elements),
                       mpi_type_of(variable.type), &request),
       variable.name);
  m_requests.push_back(request);
  m_names.push_back(v);
}

void PnetcdfFile::write_pending() {
  std::vector<int> statuses(m_requests.size(), NC_NOERR);
  const int n = static_cast<int>(m_requests.size());
  errno = 0;
  const int status = m_options.access == "independent" ? ncmpi_wait(m_ncid, n, m_requests.data(), statuses.data())
                                                       : ncmpi_wait_all(m_ncid, n, m_requests.data(), statuses.data());
  const std::string cause = cause_of_failed_write(errno, m_path, m_quota.waiting());
  for (std::size_t r = 0; r < statuses.size(); ++r) keep(statuses[r], m_schema.variables[m_names[r]].name, cause);
  keep(status, "", cause);
  m_requests.clear();
  m_names.clear();
  m_copies.clear();
  m_quota.clear();
  MPI_Offset size = 0;
  if (ncmpi_inq_put_size(m_ncid, &size) == NC_NOERR) m_work.written_bytes = size;
  m_work.written_operations += 1;
}

void PnetcdfFile::wait() {
  if (m_quota.waiting() > 0) write_pending();
  m_error.rethrow();
}

/// The number of records. Values are with the system as soon as they are written.
void PnetcdfFile::flush() {
  begin_collective();
  const int status = ncmpi_sync_numrecs(m_ncid);
  end_collective();
  check(status, "flush");
}

void PnetcdfFile::close() { check(ncmpi_close(m_ncid), "close"); }

} // namespace nunatak::io
