// The format `serial`: rank 0 gathers and writes with serial NetCDF-C, CDF-5. See format.hpp.
//
// Bounded memory: a variable is gathered in slabs along its slowest dimension, so that rank 0 never holds more than twice
// Options::slab (at least one index of that dimension) beyond its own part.
//
//   ranks 0..3        staging (order of ranks)     slab (order of the file)     file
//   |0|1|  pack ->    |0 0 0|1 1|2 2 2|3 3|   ->   0 0 0 1 1              ->    nc_put_vara
//   |2|3|  gather                                  2 2 2 3 3
#include "io/error.hpp"
#include "io/format.hpp"
#include "io/nc_type.hpp"
#include "io/options.hpp"

#include <netcdf.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace nunatak::io {

namespace {

MPI_Datatype mpi_type_of_size(std::size_t bytes) {
  return bytes == 1 ? MPI_INT8_T : bytes == 2 ? MPI_INT16_T : bytes == 4 ? MPI_INT32_T : MPI_INT64_T;
}

/// Copy the contiguous values of `part` to their place in the contiguous `box` that contains it.
void place(const Piece& part, const std::byte* from, const Piece& box, std::byte* slab, std::size_t bytes) {
  const std::size_t rank = part.count.size();
  const std::size_t row = rank == 0 ? bytes : part.count[rank - 1] * bytes;
  std::vector<std::size_t> index(rank, 0);
  for (std::size_t n = part.elements() * bytes / row; n > 0; --n, from += row) {
    std::size_t offset = 0;
    for (std::size_t d = 0; d < rank; ++d) offset = offset * box.count[d] + part.start[d] + index[d] - box.start[d];
    std::memcpy(slab + offset * bytes, from, row);
    for (std::size_t d = rank; d-- > 1;) { // the next row: carry from the last dimension but one
      if (++index[d - 1] < part.count[d - 1]) break;
      index[d - 1] = 0;
    }
  }
}

class Serial final : public Format {
public:
  Serial(MPI_Comm comm, const std::string& path, const Options& options) : m_comm(comm), m_path(path), m_options(options) {
    MPI_Comm_rank(comm, &m_rank);
    MPI_Comm_size(comm, &m_size);
    if (m_rank != 0) return;
    std::size_t buffer = 1 << 20; // NetCDF-C's own buffer; by default as small as a disk block
    const int status = nc__create(path.c_str(), NC_CLOBBER | NC_64BIT_DATA, 0, &buffer, &m_ncid);
    if (status != NC_NOERR) m_ncid = -1;
    check(status, "expected to create it");
  }
  ~Serial() override {
    if (m_ncid >= 0) nc_close(m_ncid);
  }

  void define(const Schema& schema) override {
    m_schema = &schema;
    if (m_rank != 0) return;
    int old_fill = 0;
    check(nc_set_fill(m_ncid, NC_NOFILL, &old_fill), "fill mode");
    std::vector<int> dims;
    for (const auto& d : schema.dimensions) {
      dims.push_back(-1);
      check(nc_def_dim(m_ncid, d.name.c_str(), d.length == unlimited ? NC_UNLIMITED : d.length, &dims.back()),
            "dimension '" + d.name + "'");
    }
    for (const auto& v : schema.variables) {
      std::vector<int> of_v;
      for (const auto& d : v.dimensions) of_v.push_back(dims[schema.dimension(d)]);
      int id = -1;
      check(nc_def_var(m_ncid, v.name.c_str(), nc_type_of(v.type), static_cast<int>(of_v.size()), of_v.data(), &id),
            "variable '" + v.name + "'");
      m_ids.push_back(id);
      for (const auto& a : v.attributes) put_attribute(id, v.name, a.name, own_type(a, v));
    }
    for (const auto& a : schema.attributes) put_attribute(NC_GLOBAL, "", a.name, a.value);
    check(nc__enddef(m_ncid, m_options.header, m_options.align, 0, m_options.align), "header");
  }

  void post(std::size_t v, const Piece& piece) override {
    const Variable& variable = m_schema->variables[v];
    const std::vector<std::size_t> shape = m_schema->shape(variable);
    const std::vector<Piece> pieces = gather_pieces(piece, shape.size());
    const std::size_t d = m_schema->has_records(variable) ? 1 : 0; // slabs along this dimension
    if (shape.size() <= d) return write_slab(v, piece, pieces);
    std::size_t slice_bytes = bytes_of(variable.type);
    for (std::size_t n = d + 1; n < shape.size(); ++n) slice_bytes *= shape[n];
    const std::size_t step = std::max<std::size_t>(1, m_options.slab / slice_bytes);
    for (std::size_t first = 0; first < shape[d]; first += step) {
      std::vector<Piece> parts;
      for (const Piece& p : pieces) parts.push_back(slice(p, d, first, first + step));
      write_slab(v, slice(piece, d, first, first + step), parts);
    }
  }

  void wait() override { throw_kept(); }
  void flush() override {
    if (m_rank == 0) check(nc_sync(m_ncid), "flush");
  }
  void close() override {
    if (m_rank != 0) return;
    const int ncid = m_ncid;
    m_ncid = -1;
    check(nc_close(ncid), "close");
  }
  Work work() const override { return m_work; }

private:
  void check(int status, const std::string& what) const {
    if (status != NC_NOERR) throw Error("file '" + m_path + "': " + what + "; found: " + nc_strerror(status));
  }

  void put_attribute(int id, const std::string& variable, const std::string& name, const Attribute::Value& value) const {
    std::visit(
        [&](const auto& values) {
          nc_type type = NC_CHAR;
          using Values = std::decay_t<decltype(values)>;
          if constexpr (!std::is_same_v<Values, std::string>) type = nc_type_of(type_of<typename Values::value_type>());
          check(nc_put_att(m_ncid, id, name.c_str(), type, values.size(), values.data()),
                "attribute '" + variable + ":" + name + "'");
        },
        value);
  }

  /// On rank 0: start and count of the pieces of all ranks, without data. Elsewhere nothing.
  std::vector<Piece> gather_pieces(const Piece& piece, std::size_t rank) const {
    const std::size_t n = 2 * rank + 1;
    std::vector<std::int64_t> mine(n, 0), all(m_rank == 0 ? n * static_cast<std::size_t>(m_size) : 0);
    mine[0] = piece.elements() == 0 ? 0 : 1;
    for (std::size_t d = 0; d < rank && mine[0] == 1; ++d) {
      mine[1 + d] = static_cast<std::int64_t>(piece.start[d]);
      mine[1 + rank + d] = static_cast<std::int64_t>(piece.count[d]);
    }
    MPI_Gather(mine.data(), static_cast<int>(n), MPI_INT64_T, all.data(), static_cast<int>(n), MPI_INT64_T, 0, m_comm);
    std::vector<Piece> pieces(m_rank == 0 ? static_cast<std::size_t>(m_size) : 0);
    for (std::size_t r = 0; r < pieces.size(); ++r) {
      const std::int64_t* of_r = all.data() + r * n;
      pieces[r].empty = of_r[0] == 0;
      pieces[r].start.assign(of_r + 1, of_r + 1 + rank);
      pieces[r].count.assign(of_r + 1 + rank, of_r + n);
      pieces[r].stride.assign(rank, 0);
    }
    return pieces;
  }

  /// Gather the parts of all ranks (known to rank 0 as `parts`) and write them.
  void write_slab(std::size_t v, const Piece& mine, const std::vector<Piece>& parts) {
    const Type type = m_schema->variables[v].type;
    const std::size_t bytes = bytes_of(type), elements = mine.elements();
    m_packed.resize(elements * bytes);
    pack(mine, type, m_packed.data());
    std::vector<int> counts(parts.size()), starts(parts.size());
    std::size_t total = 0;
    for (std::size_t r = 0; r < parts.size(); ++r) {
      counts[r] = static_cast<int>(parts[r].elements());
      starts[r] = static_cast<int>(total);
      total += parts[r].elements();
    }
    m_staging.resize(total * bytes);
    MPI_Gatherv(m_packed.data(), static_cast<int>(elements), mpi_type_of_size(bytes), m_staging.data(), counts.data(),
                starts.data(), mpi_type_of_size(bytes), 0, m_comm);
    if (m_rank != 0 || total == 0) return;

    Piece box; // that contains all parts
    for (const Piece& p : parts) {
      if (p.elements() == 0) continue;
      if (box.start.empty()) box.start = p.start, box.count = p.count;
      for (std::size_t d = 0; d < box.start.size(); ++d) {
        const std::size_t end = std::max(box.start[d] + box.count[d], p.start[d] + p.count[d]);
        box.start[d] = std::min(box.start[d], p.start[d]);
        box.count[d] = end - box.start[d];
      }
    }
    const auto staged = [&](std::size_t r) { return m_staging.data() + static_cast<std::size_t>(starts[r]) * bytes; };
    const auto only = std::find_if(parts.begin(), parts.end(), [](const Piece& p) { return p.elements() > 0; });
    if (only->elements() == total) {
      write(v, *only, m_staging.data(), bytes);
    } else if (box.elements() == total) {
      m_slab.resize(total * bytes);
      for (std::size_t r = 0; r < parts.size(); ++r) {
        if (parts[r].elements() > 0) place(parts[r], staged(r), box, m_slab.data(), bytes);
      }
      write(v, box, m_slab.data(), bytes);
    } else { // there are gaps, which must keep what they hold
      for (std::size_t r = 0; r < parts.size(); ++r) {
        if (parts[r].elements() > 0) write(v, parts[r], staged(r), bytes);
      }
    }
  }

  void write(std::size_t v, const Piece& part, const std::byte* data, std::size_t bytes) {
    const int status = nc_put_vara(m_ncid, m_ids[v], part.start.data(), part.count.data(), data);
    m_work.written_bytes += static_cast<std::int64_t>(part.elements() * bytes);
    m_work.written_operations += 1;
    if (status != NC_NOERR && m_error.empty()) { // the other ranks still wait for the next slab: keep it
      m_error = "file '" + m_path + "': variable '" + m_schema->variables[v].name +
                "': expected to write it; found: " + nc_strerror(status);
    }
  }

  void throw_kept() const {
    if (!m_error.empty()) throw Error(m_error);
  }

  MPI_Comm m_comm;
  int m_rank = 0, m_size = 1;
  std::string m_path;
  Options m_options;
  const Schema* m_schema = nullptr;
  int m_ncid = -1; ///< on rank 0
  std::vector<int> m_ids;
  std::vector<std::byte> m_packed, m_staging, m_slab;
  std::string m_error;
  Work m_work;
};

} // namespace

std::unique_ptr<Format> open_serial(MPI_Comm comm, const std::string& path, const Options& options) {
  return std::make_unique<Serial>(comm, path, options);
}

} // namespace nunatak::io
