// The format `netcdf4`: parallel NetCDF-4 (HDF5 over MPI-IO), every rank its own block. Each put is
// one collective write (ranks without values: a count of 0), since HDF5 has no queue.
#include "io/disk/disk.hpp"
#include "io/disk/mpi_io.hpp"
#include "io/formats/chunks.hpp"
#include "io/formats/define.hpp"
#include "io/formats/format.hpp"

#include <netcdf.h>
#include <netcdf_par.h>

#include <cerrno>
#include <memory>

namespace nunatak::io {

namespace {

/// An open file. HDF5 closes what was abandoned (an exception) when MPI ends, but after ROMIO has
/// ended: it would crash. An attribute of MPI_COMM_SELF that was set later is deleted earlier, on
/// all ranks in the same order, and closes the file. A file that cannot be written (a full disk)
/// crashes HDF5 (1.10) in nc_close or at its own end: the run is then aborted.
class OpenFile {
public:
  explicit OpenFile(MPI_Comm comm) {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, close_abandoned, &m_key, nullptr);
    MPI_Comm_dup(comm, &m_file->comm);
  }
  ~OpenFile() { MPI_Comm_free_keyval(&m_key); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  void opened(int ncid) {
    m_file->ncid = ncid;
    MPI_Comm_set_attr(MPI_COMM_SELF, m_key, m_file);
  }

  void cannot_be_closed() { m_file->can_be_closed = false; }

  /// The status of nc_close.
  int close() {
    const int status = nc_close(m_file->ncid);
    m_file->is_open = false;
    MPI_Comm_delete_attr(MPI_COMM_SELF, m_key);
    return status;
  }

private:
  struct Attribute {
    MPI_Comm comm = MPI_COMM_NULL; ///< a copy: that of the format may be gone when MPI ends
    int ncid = -1;
    bool is_open = true, can_be_closed = true;
  };
  static int close_abandoned(MPI_Comm, int, void* attribute, void*) {
    const std::unique_ptr<Attribute> file(static_cast<Attribute*>(attribute));
    if (file->is_open) {
      MPI_Barrier(file->comm); // rank 0 has printed its error
      if (!file->can_be_closed || nc_sync(file->ncid) != NC_NOERR) MPI_Abort(MPI_COMM_WORLD, 2);
      nc_close(file->ncid);
    }
    MPI_Comm_free(&file->comm);
    return MPI_SUCCESS;
  }
  int m_key = MPI_KEYVAL_INVALID;
  Attribute* m_file = new Attribute; ///< lives as long as the attribute
};

constexpr FormatOption chunk_option{
    "chunk", "auto",
    "chunks of netcdf4: auto, record, or lengths by dimension (y=64,x=64; others are whole)", ""};
constexpr FormatOption deflate_option{
    "deflate", "0", "compression level of netcdf4 (0: none); bytes are shuffled before",
    "0|1|2|3|4|5|6|7|8|9"};

Storage storage_of(const Options& options) {
  return {chunk_option.of(options), std::stoi(deflate_option.of(options))};
}

class Netcdf4 final : public FileFormat {
public:
  Netcdf4(MPI_Comm comm, const std::string& path, const Schema& schema, const Options& options)
      : FileFormat(comm, path, schema, options), m_file(comm),
        m_parts(options.copy_bytes(), static_cast<std::size_t>(size_of(comm))) {
    // for HDF5 objects at least that large; the setting is global
    const int alignment = options.align > 4 ? static_cast<int>(options.align) : 1;
    check(nc_set_alignment(alignment, alignment), "alignment");
    MPI_Info info = make_info(m_options.hints);
    const int status = nc_create_par(path.c_str(), NC_CLOBBER | NC_NETCDF4, comm, info, &m_ncid);
    MPI_Info_free(&info);
    check(status, "cannot create it");
    m_file.opened(m_ncid);
  }
  // No close in the destructor: it is collective, and after an exception of one rank would hang.

  void define() override {
    int old_fill = 0; // of the whole file: nc_def_var_fill would drop the attribute _FillValue
    check(nc_set_fill(m_ncid, NC_NOFILL, &old_fill), "fill mode");
    Definition<NetcdfC> definition(m_ncid, m_path, m_schema);
    definition.dimensions();
    for (std::size_t v = 0; v < m_schema.variables.size(); ++v) {
      m_ids.push_back(definition.variable(v));
      define_storage(v);
    }
    definition.attributes();
    const int status = nc_enddef(m_ncid);
    if (status != NC_NOERR) m_file.cannot_be_closed();
    check(status, "header");
    for (std::size_t v = 0; v < m_schema.variables.size(); ++v) {
      // a scalar has no count that could be 0: only its rank calls
      const bool is_scalar = m_schema.variables[v].dimensions.empty();
      check(nc_var_par_access(m_ncid, m_ids[v], is_scalar ? NC_INDEPENDENT : NC_COLLECTIVE),
            "access");
    }
  }

  void put(std::size_t v, std::size_t record, const Slabs& slabs) override {
    const std::size_t n_parts = m_parts.parts(m_schema.bytes(m_schema.variables[v]));
    for (const Hyperslab& slab : slabs) {
      for (std::size_t part = 0; part < n_parts; ++part)
        write(v, record, part_of(slab, part, n_parts));
    }
  }

  void wait() override { m_error.rethrow(); }
  void save() override { check(nc_sync(m_ncid), "flush"); }
  /// Ends on all ranks before nc_close if what is still in memory cannot be written.
  void close() override {
    agree(m_comm, [&] { check(nc_sync(m_ncid), "close"); });
    check(m_file.close(), "close");
  }
  /// The chunks, and metadata of HDF5; compressed sizes are unknown.
  std::uint64_t expected_size(std::uint64_t records) const override {
    constexpr std::uint64_t metadata = 128 << 10;
    std::uint64_t bytes = metadata;
    if (m_storage.deflate > 0) return 0;
    for (const Variable& variable : m_schema.variables)
      bytes += bytes_of_chunks(m_schema, variable, m_storage, records);
    return bytes;
  }
  /// NetCDF-C does not expose the hints that the MPI library reports.
  std::map<std::string, std::string> hints() const override { return used_hints(m_options.hints); }

private:
  void check(int status, const std::string& what) const {
    if (status == NC_EHDFERR)
      throw Error("file '" + m_path + "': " + what + ": " + nc_strerror(status) +
                  cause_of_failed_write(0, m_path, 0));
    check_status<NetcdfC>(status, m_path, what);
  }

  void define_storage(std::size_t v) {
    const Variable& variable = m_schema.variables[v];
    const std::string what = "variable '" + variable.name + "'";
    const Indices chunk = chunk_shape(m_schema, variable, m_storage);
    if (variable.dimensions.empty()) return;
    check(nc_def_var_chunking(m_ncid, m_ids[v], chunk.empty() ? NC_CONTIGUOUS : NC_CHUNKED,
                              chunk.data()),
          what + ": chunks");
    if (m_storage.deflate > 0)
      check(nc_def_var_deflate(m_ncid, m_ids[v], 1, 1, m_storage.deflate), what + ": compression");
  }

  void write(std::size_t v, std::size_t record, const Hyperslab& slab) {
    const Variable& variable = m_schema.variables[v];
    const std::size_t rank = variable.dimensions.size(), elements = slab.elements();
    if (elements == 0 && rank == 0) return;
    const Box box = elements > 0 ? slab.in_record(record) : Box{Indices(rank, 0), Indices(rank, 0)};
    static const std::byte nothing[8] = {};
    const std::byte* data = elements > 0 ? packed(slab, variable.type, m_buffer) : nothing;
    errno = 0;
    const int status = nc_put_vara(m_ncid, m_ids[v], box.start.data(), box.count.data(), data);
    const int error = errno;
    const auto bytes = static_cast<std::int64_t>(elements * bytes_of(variable.type));
    if (elements > 0) m_work.written_operations += 1;
    m_work.written_bytes += bytes;
    if (status == NC_NOERR) return;
    m_error.set( // the other ranks go on
        "file '" + m_path + "': variable '" + variable.name +
        "': cannot write it: " + nc_strerror(status) + cause_of_failed_write(error, m_path, bytes));
  }

  Storage m_storage = storage_of(m_options);
  int m_ncid = -1;
  OpenFile m_file;
  std::vector<int> m_ids;
  Waiting m_parts; ///< nothing waits: HDF5 writes at once
  Buffer m_buffer;
  KeptError m_error;
};

} // namespace

FormatRow netcdf4_format() {
  return {"netcdf4",
          "all ranks through HDF5",
          open_as<Netcdf4>,
          netcdf | mpi_io | many_writers | aggregates | subfiles,
          {chunk_option, deflate_option},
          [](const Schema& schema, const Options& options) {
            for (const Variable& v : schema.variables) chunk_shape(schema, v, storage_of(options));
          }};
}

} // namespace nunatak::io
