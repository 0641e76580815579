// The format `pnetcdf`: every rank writes its own block with PnetCDF, CDF-5. See format.hpp.
//
// post() packs a copy and queues it (ncmpi_iput_vara); wait() is one collective ncmpi_wait_all per record, in which MPI-IO
// merges the blocks of all variables and ranks. Copies are bounded: what exceeds Options::buffer per rank (of a record, or
// of one variable) is written in several waits, decided from sizes that all ranks know.
#include "io/durable.hpp"
#include "io/error.hpp"
#include "io/format.hpp"
#include "io/mpi_io.hpp"
#include "io/nc_type.hpp"
#include "io/options.hpp"

#include <pnetcdf.h>

#include <algorithm>
#include <cerrno>

namespace nunatak::io {

namespace {

MPI_Datatype mpi_type_of(Type type) {
  switch (type) {
  case Type::int8:
    return MPI_SIGNED_CHAR;
  case Type::int16:
    return MPI_SHORT;
  case Type::int32:
    return MPI_INT;
  case Type::int64:
    return MPI_LONG_LONG_INT;
  case Type::float32:
    return MPI_FLOAT;
  case Type::float64:
    return MPI_DOUBLE;
  }
  return MPI_DATATYPE_NULL;
}

class Pnetcdf final : public Format {
public:
  Pnetcdf(MPI_Comm comm, const std::string& path, const Options& options) : m_path(path), m_options(options) {
    int size = 1;
    MPI_Comm_size(comm, &size);
    m_limit = std::max<std::int64_t>(1, static_cast<std::int64_t>(options.buffer) * size);
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    for (const auto& [key, value] : options.hints) MPI_Info_set(info, key.c_str(), value.c_str());
    const int status = ncmpi_create(comm, path.c_str(), NC_CLOBBER | NC_64BIT_DATA, info, &m_ncid);
    MPI_Info_free(&info);
    check(status, "expected to create it");
  }
  // No close in the destructor: it is collective, and a rank that unwinds an exception of its own would wait for ever.

  void define(const Schema& schema) override {
    m_schema = &schema;
    std::vector<int> dims;
    for (const auto& d : schema.dimensions) {
      dims.push_back(-1);
      check(ncmpi_def_dim(m_ncid, d.name.c_str(), d.length == unlimited ? NC_UNLIMITED : static_cast<MPI_Offset>(d.length),
                          &dims.back()),
            "dimension '" + d.name + "'");
    }
    for (const auto& v : schema.variables) {
      std::vector<int> of_v;
      for (const auto& d : v.dimensions) of_v.push_back(dims[schema.dimension(d)]);
      int id = -1;
      check(ncmpi_def_var(m_ncid, v.name.c_str(), nc_type_of(v.type), static_cast<int>(of_v.size()), of_v.data(), &id),
            "variable '" + v.name + "'");
      m_ids.push_back(id);
      for (const auto& a : v.attributes) put_attribute(id, v.name, a.name, own_type(a, v));
    }
    for (const auto& a : schema.attributes) put_attribute(NC_GLOBAL, "", a.name, a.value);
    const auto alignment = static_cast<MPI_Offset>(m_options.align);
    check(ncmpi__enddef(m_ncid, static_cast<MPI_Offset>(m_options.header), alignment, 0, alignment), "header");
    read_hints();
  }

  void post(std::size_t v, const Piece& piece) override {
    const Variable& variable = m_schema->variables[v];
    auto whole = static_cast<std::int64_t>(bytes_of(variable.type)); // bytes of the record over all ranks: all ranks decide alike
    for (const std::size_t n : m_schema->shape(variable)) whole *= n == unlimited ? 1 : static_cast<std::int64_t>(n);
    const std::int64_t n_parts = (whole + m_limit - 1) / m_limit;
    for (std::int64_t part = 0; part < n_parts; ++part) {
      if (m_pending > 0 && m_pending + whole / n_parts > m_limit) write_pending();
      queue(v, part_of(piece, static_cast<std::size_t>(part), static_cast<std::size_t>(n_parts)));
      m_pending += whole / n_parts;
    }
  }

  void wait() override {
    if (m_pending > 0) write_pending();
    if (!m_error.empty()) throw Error(m_error);
  }
  void flush() override { check(ncmpi_sync(m_ncid), "flush"); }
  void close() override { check(ncmpi_close(m_ncid), "close"); }
  Work work() const override { return m_work; }
  std::map<std::string, std::string> hints() const override { return m_hints; }

private:
  struct Buffer {
    std::unique_ptr<std::byte[]> data;
    std::size_t size = 0;
  };

  void check(int status, const std::string& what) const {
    if (status != NC_NOERR) throw Error("file '" + m_path + "': " + what + "; found: " + ncmpi_strerror(status));
  }

  void keep(int status, const std::string& variable, const std::string& cause = "") {
    if (status == NC_NOERR || !m_error.empty()) return;
    m_error = "file '" + m_path + "': " + (variable.empty() ? "" : "variable '" + variable + "': ") +
              "expected to write; found: " + ncmpi_strerror(status) + cause;
  }

  void put_attribute(int id, const std::string& variable, const std::string& name, const Attribute::Value& value) const {
    std::visit(
        [&](const auto& values) {
          const std::string what = "attribute '" + variable + ":" + name + "'";
          const auto size = static_cast<MPI_Offset>(values.size());
          using Values = std::decay_t<decltype(values)>;
          if constexpr (std::is_same_v<Values, std::string>) {
            check(ncmpi_put_att_text(m_ncid, id, name.c_str(), size, values.data()), what);
          } else {
            check(
                ncmpi_put_att(m_ncid, id, name.c_str(), nc_type_of(type_of<typename Values::value_type>()), size, values.data()),
                what);
          }
        },
        value);
  }

  /// One of `n_parts` nearly equal parts of a piece, cut along its longest dimension.
  static Piece part_of(const Piece& piece, std::size_t part, std::size_t n_parts) {
    if (n_parts == 1 || piece.elements() == 0 || piece.count.empty()) return piece;
    const auto longest = std::max_element(piece.count.begin(), piece.count.end());
    const auto d = static_cast<std::size_t>(longest - piece.count.begin());
    return slice(piece, d, piece.start[d] + *longest * part / n_parts, piece.start[d] + *longest * (part + 1) / n_parts);
  }

  void queue(std::size_t v, const Piece& piece) {
    const Variable& variable = m_schema->variables[v];
    const std::size_t elements = piece.elements();
    if (elements == 0) return;
    Buffer& buffer = next_buffer(elements * bytes_of(variable.type));
    pack(piece, variable.type, buffer.data.get());
    const std::vector<MPI_Offset> start(piece.start.begin(), piece.start.end()), count(piece.count.begin(), piece.count.end());
    int request = NC_REQ_NULL;
    keep(ncmpi_iput_vara(m_ncid, m_ids[v], start.data(), count.data(), buffer.data.get(), static_cast<MPI_Offset>(elements),
                         mpi_type_of(variable.type), &request),
         variable.name);
    m_requests.push_back(request);
    m_names.push_back(v);
  }

  /// Buffers are kept: puts come in the same order and sizes every record.
  Buffer& next_buffer(std::size_t size) {
    if (m_used == m_buffers.size()) m_buffers.emplace_back();
    Buffer& buffer = m_buffers[m_used++];
    if (buffer.size < size) {
      buffer.data.reset(); // before the new one is allocated
      buffer.data.reset(new std::byte[size]);
      buffer.size = size;
    }
    return buffer;
  }

  void write_pending() {
    std::vector<int> statuses(m_requests.size(), NC_NOERR);
    errno = 0;
    const int status = ncmpi_wait_all(m_ncid, static_cast<int>(m_requests.size()), m_requests.data(), statuses.data());
    const std::string cause = cause_of_failed_write(errno, m_path, m_pending);
    for (std::size_t n = 0; n < statuses.size(); ++n) keep(statuses[n], m_schema->variables[m_names[n]].name, cause);
    keep(status, "", cause);
    m_requests.clear();
    m_names.clear();
    m_used = 0;
    m_pending = 0;
    MPI_Offset size = 0;
    if (ncmpi_inq_put_size(m_ncid, &size) == NC_NOERR) m_work.written_bytes = size;
    m_work.written_operations += 1;
  }

  /// What PnetCDF uses, and the MPI-IO hints as far as the MPI library tells (Open MPI: only those that were given).
  void read_hints() {
    m_hints["mpi_io"] = mpi_io_name();
    MPI_Info info = MPI_INFO_NULL;
    check(ncmpi_inq_file_info(m_ncid, &info), "hints");
    int n = 0;
    MPI_Info_get_nkeys(info, &n);
    for (int k = 0; k < n; ++k) {
      char key[MPI_MAX_INFO_KEY + 1] = {}, value[MPI_MAX_INFO_VAL + 1] = {};
      int found = 0;
      MPI_Info_get_nthkey(info, k, key);
      MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
      if (found != 0) m_hints[key] = value;
    }
    MPI_Info_free(&info);
  }

  std::string m_path;
  Options m_options;
  const Schema* m_schema = nullptr;
  int m_ncid = -1;
  std::vector<int> m_ids, m_requests;
  std::vector<std::size_t> m_names; ///< the variable of each request
  std::vector<Buffer> m_buffers;
  std::size_t m_used = 0;
  std::int64_t m_pending = 0, m_limit = 0; ///< bytes posted since the last wait, over all ranks
  std::map<std::string, std::string> m_hints;
  std::string m_error;
  Work m_work;
};

} // namespace

std::unique_ptr<Format> open_pnetcdf(MPI_Comm comm, const std::string& path, const Options& options) {
  return std::make_unique<Pnetcdf>(comm, path, options);
}

} // namespace nunatak::io
