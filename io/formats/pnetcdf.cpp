// The formats `pnetcdf` and `hybrid`: every rank writes its own block with PnetCDF. With `pnetcdf`
// all ranks define the file; with `hybrid` rank 0 does with NetCDF-C, as in PISM 0.5.
//
// put() packs a copy (unless the slab is lasting) and queues it (ncmpi_iput_vara, or
// ncmpi_iput_varn for blocks that are put together, as E3SM's output does); wait() is one
// collective ncmpi_wait_all per record, in which MPI-IO merges all variables and ranks, or several
// if the copies would take too much memory (Waiting in hyperslab.hpp).
//
// With `define interleaved` a variable is defined just before its first values: the file re-enters
// define mode, and values move if the header outgrows its space (Options::header, from the first
// variable on) or if the records begin later. A new record variable makes every record longer:
// PnetCDF then reads and writes all of them. The bytes moved follow from the offsets.
#include "io/disk/classic_header.hpp"
#include "io/disk/disk.hpp"
#include "io/disk/mpi_io.hpp"
#include "io/formats/classic.hpp"
#include "io/formats/define.hpp"
#include "io/formats/format.hpp"

#include <pnetcdf.h>

#include <algorithm>
#include <cerrno>
#include <numeric>

namespace nunatak::io {

namespace {

/// The PnetCDF functions for define.hpp.
struct PnetcdfC {
  static int def_dim(int ncid, const char* name, std::size_t length, int* id) {
    return ncmpi_def_dim(ncid, name, static_cast<MPI_Offset>(length), id);
  }
  static constexpr auto def_var = ncmpi_def_var;
  static int put_att(int ncid, int id, const char* name, nc_type type, std::size_t size,
                     const void* values) {
    const auto n = static_cast<MPI_Offset>(size);
    if (type == NC_CHAR)
      return ncmpi_put_att_text(ncid, id, name, n, static_cast<const char*>(values));
    return ncmpi_put_att(ncid, id, name, type, n, values);
  }
  static constexpr auto message = ncmpi_strerror;
};

class Pnetcdf final : public FileFormat {
public:
  Pnetcdf(MPI_Comm comm, const std::string& path, const Schema& schema, const Options& options)
      : FileFormat(comm, path, schema, options),
        m_waiting(options.copy_bytes(), static_cast<std::size_t>(size_of(comm))) {
    if (m_is_hybrid) return;
    MPI_Info info = make_info(options.hints);
    const int status =
        ncmpi_create(comm, path.c_str(), NC_CLOBBER | classic_mode(schema), info, &m_ncid);
    MPI_Info_free(&info);
    check(status, "cannot create it");
  }
  // No close in the destructor: it is collective, and after an exception of one rank would hang.

  void define() override {
    m_is_hybrid ? define_on_rank_0() : define_together();
    on_rank_0(m_comm, [&] { count_moved(m_layout, m_path, true); });
    MPI_Info info = MPI_INFO_NULL; // in effect: hints of PnetCDF, and those reported by MPI-IO
    check(ncmpi_inq_file_info(m_ncid, &info), "hints");
    m_hints = used_hints(m_options.hints, info);
    MPI_Info_free(&info);
  }

  void put(std::size_t v, std::size_t record, const Slabs& slabs) override {
    if (m_ids[v] < 0) define_late(v);
    const std::size_t bytes = m_schema.bytes(m_schema.variables[v]),
                      n_parts = m_waiting.parts(bytes);
    for (std::size_t part = 0; part < n_parts; ++part) {
      if (!m_waiting.has_room(bytes / n_parts)) write_pending();
      Slabs parts;
      for (const Hyperslab& slab : slabs) parts.push_back(part_of(slab, part, n_parts));
      queue(v, record, parts);
      m_waiting.add(std::max<std::size_t>(1, bytes / n_parts));
    }
  }

  void wait() override {
    if (m_waiting.bytes() > 0) write_pending();
    m_error.rethrow();
  }

  void save() override { check(ncmpi_sync(m_ncid), "flush"); }

  void close() override {
    for (std::size_t v = 0; v < m_ids.size(); ++v) {
      if (m_ids[v] < 0) define_late(v);
    }
    check(ncmpi_close(m_ncid), "close");
  }

  /// For the variables defined so far, on rank 0.
  std::uint64_t expected_size(std::uint64_t records) const override {
    return m_layout.size(records);
  }

  std::map<std::string, std::string> hints() const override { return m_hints; }

private:
  void check(int status, const std::string& what) const {
    check_status<PnetcdfC>(status, m_path, what);
  }

  void define_together() {
    const Definition<PnetcdfC> definition(m_ncid, m_path, m_schema);
    m_ids.assign(m_schema.variables.size(), -1);
    definition.dimensions();
    for (std::size_t v = 0; v < m_ids.size() && m_options.define == "upfront"; ++v)
      m_ids[v] = definition.variable(v);
    definition.attributes();
    check(end_define(m_options.header), "header");
  }

  void define_on_rank_0() {
    on_rank_0(m_comm, [&] { create_classic(m_path, m_schema, m_options); });
    m_ids.resize(m_schema.variables.size()); // both libraries number by order of definition
    std::iota(m_ids.begin(), m_ids.end(), 0);
    MPI_Info info = make_info(m_options.hints);
    const int status = ncmpi_open(m_comm, m_path.c_str(), NC_WRITE, info, &m_ncid);
    MPI_Info_free(&info);
    check(status, "cannot open it");
  }

  int end_define(std::size_t header) {
    const auto alignment = static_cast<MPI_Offset>(m_options.align);
    return ncmpi__enddef(m_ncid, static_cast<MPI_Offset>(header), alignment, 0, alignment);
  }

  void define_late(std::size_t v) {
    if (m_waiting.bytes() > 0) write_pending();
    check(ncmpi_redef(m_ncid), "cannot define more");
    m_ids[v] = Definition<PnetcdfC>(m_ncid, m_path, m_schema).variable(v);
    // the first variable fixes the end of the header
    const int status = end_define(m_n_late == 0 ? m_options.header : 0);
    agree(m_comm, [&] { check(status, "header"); }); // one rank writes it
    m_n_late += 1;
    on_rank_0(m_comm, [&] { m_work.moved_bytes += count_moved(m_layout, m_path, true); });
  }

  void write_pending() {
    std::vector<int> statuses(m_requests.size(), NC_NOERR);
    const int n = static_cast<int>(m_requests.size());
    errno = 0;
    const int status = ncmpi_wait_all(m_ncid, n, m_requests.data(), statuses.data());
    const std::string cause =
        cause_of_failed_write(errno, m_path, static_cast<std::int64_t>(m_waiting.bytes()));
    for (std::size_t r = 0; r < statuses.size(); ++r)
      keep(statuses[r], m_schema.variables[m_names[r]].name, cause);
    keep(status, "", cause);
    m_requests.clear();
    m_names.clear();
    m_waiting.clear();
    MPI_Offset size = 0;
    if (ncmpi_inq_put_size(m_ncid, &size) == NC_NOERR) m_work.written_bytes = size;
    m_work.written_operations += 1;
  }

  void queue(std::size_t v, std::size_t record, const Slabs& slabs) {
    const Variable& variable = m_schema.variables[v];
    const std::vector<const std::byte*> values = m_waiting.keep(slabs, variable.type);
    for (std::size_t n = 0, end = 0; n < slabs.size(); n = end) {
      std::vector<MPI_Offset> starts, counts;
      int boxes = 0;
      const std::byte* next = values[n];
      constexpr std::ptrdiff_t enough = 1 << 30; // a request of PnetCDF counts bytes in 31 bits
      for (; end < slabs.size() && values[end] == next && (end == n || next - values[n] < enough);
           ++end) { // their values follow one another
        const Box box = slabs[end].in_record(record);
        if (box.elements() == 0) continue;
        starts.insert(starts.end(), box.start.begin(), box.start.end());
        counts.insert(counts.end(), box.count.begin(), box.count.end());
        next += box.elements() * bytes_of(variable.type);
        boxes += 1;
      }
      if (boxes > 0) queue(v, boxes, starts.data(), counts.data(), values[n]);
    }
  }

  /// Boxes of a variable, one after another in all lists; the type in memory is that of the file.
  void queue(std::size_t v, int boxes, MPI_Offset* starts, MPI_Offset* counts,
             const std::byte* values) {
    const Variable& variable = m_schema.variables[v];
    std::vector<MPI_Offset*> start, count;
    for (int n = 0; n < boxes; ++n) {
      start.push_back(starts + static_cast<std::size_t>(n) * variable.dimensions.size());
      count.push_back(counts + static_cast<std::size_t>(n) * variable.dimensions.size());
    }
    int request = NC_REQ_NULL;
    keep(boxes == 1 ? ncmpi_iput_vara(m_ncid, m_ids[v], starts, counts, values, 0,
                                      MPI_DATATYPE_NULL, &request)
                    : ncmpi_iput_varn(m_ncid, m_ids[v], boxes, start.data(), count.data(), values,
                                      0, MPI_DATATYPE_NULL, &request),
         variable.name);
    m_requests.push_back(request);
    m_names.push_back(v);
  }

  void keep(int status, const std::string& variable, const std::string& cause = "") {
    if (status == NC_NOERR) return;
    m_error.set("file '" + m_path +
                "': " + (variable.empty() ? "" : "variable '" + variable + "': ") +
                "cannot write: " + ncmpi_strerror(status) + cause);
  }

  int m_ncid = -1;
  std::vector<int> m_ids; ///< of each variable; -1: not defined yet
  Waiting m_waiting;
  bool m_is_hybrid = m_options.format == "hybrid"; ///< rank 0 defines the file
  int m_n_late = 0;                                ///< late definitions so far
  ClassicLayout m_layout;                          ///< at the last definition, on rank 0
  std::vector<int> m_requests;
  std::vector<std::size_t> m_names; ///< the variable of each request
  std::map<std::string, std::string> m_hints;
  KeptError m_error;
};

} // namespace

FormatRow pnetcdf_format() {
  return {"pnetcdf", "all ranks through PnetCDF", open_as<Pnetcdf>,
          netcdf | classic | mpi_io | late_define | many_writers | subfiles};
}

FormatRow hybrid_format() {
  return {"hybrid", "rank 0 the header, all ranks the values", open_as<Pnetcdf>,
          netcdf | classic | mpi_io | many_writers};
}

} // namespace nunatak::io
