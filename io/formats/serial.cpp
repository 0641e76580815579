// The format `serial`: rank 0 gathers and writes with serial NetCDF-C, CDF-5. See format.hpp.
//
// Bounded memory: a variable is gathered in slabs along its slowest dimension (and, where one index of it is too much, along the
// next), so that rank 0 never holds more than twice Options::slab beyond its own part.
//
// With `define interleaved` a variable is defined just before its first values: see pnetcdf.cpp. NetCDF-C moves no record that
// stays where it is.
//
//   ranks 0..3        staging (order of ranks)     slab (order of the file)     file
//   |0|1|  pack ->    |0 0 0|1 1|2 2 2|3 3|   ->   0 0 0 1 1              ->    nc_put_vara
//   |2|3|  gather                                  2 2 2 3 3
#include "io/formats/define.hpp"
#include "io/formats/format.hpp"
#include "io/read/classic_header.hpp"

#include <netcdf.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace nunatak::io {

namespace {

/// Copy the contiguous values of `part` to their place in the contiguous `box` that contains it.
void place(const Hyperslab& part, const std::byte* from, const Hyperslab& box, std::byte* slab, std::size_t bytes) {
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
    m_ids.assign(schema.variables.size(), -1);
    if (m_rank != 0) return;
    int old_fill = 0;
    check(nc_set_fill(m_ncid, m_options.fill ? NC_FILL : NC_NOFILL, &old_fill), "fill mode");
    m_definition.emplace(m_ncid, m_path, schema);
    m_definition->dimensions();
    for (std::size_t v = 0; v < m_ids.size() && m_options.define == "upfront"; ++v) m_ids[v] = m_definition->variable(v);
    m_definition->attributes();
    end_define(m_options.header);
  }

  void put(std::size_t v, const Hyperslab& slab) override {
    if (m_rank == 0 && m_ids[v] < 0) {
      try {
        define_late(v);
      } catch (const Error& e) { // the other ranks wait for the gather
        keep(e.what());
      }
    }
    const std::size_t rank = m_schema->variables[v].dimensions.size();
    post_slabs(v, slab, gather_slabs(slab, rank), m_schema->has_records(m_schema->variables[v]) ? 1 : 0);
  }

  void wait() override { throw_kept(); }
  void flush() override {
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
  Work work() const override { return m_work; }

private:
  void check(int status, const std::string& what) const { check_status<NetcdfC>(status, m_path, what); }

  void end_define(std::size_t header) const { check(nc__enddef(m_ncid, header, m_options.align, 0, m_options.align), "header"); }

  void define_late(std::size_t v) {
    check(nc_redef(m_ncid), "expected to define more");
    m_ids[v] = m_definition->variable(v);
    end_define(m_places.variables.empty() ? m_options.header : 0); // the first variable fixes where the header must end
    check(nc_sync(m_ncid), "flush");
    auto places = *read_classic_layout(m_path);
    m_work.moved_bytes += static_cast<std::int64_t>(bytes_moved(m_places, places, false));
    m_places = std::move(places);
  }

  /// In slabs along dimension `d`, or along later ones at each index of it.
  void post_slabs(std::size_t v, const Hyperslab& slab, const std::vector<Hyperslab>& slabs, std::size_t d) {
    const std::vector<std::size_t> shape = m_schema->shape(m_schema->variables[v]);
    if (shape.size() <= d) return write_slab(v, slab, slabs);
    std::size_t slice_bytes = bytes_of(m_schema->variables[v].type);
    for (std::size_t n = d + 1; n < shape.size(); ++n) slice_bytes *= shape[n];
    const std::size_t step = std::max<std::size_t>(1, m_options.slab / slice_bytes);
    for (std::size_t first = 0; first < shape[d]; first += step) {
      std::vector<Hyperslab> parts;
      for (const Hyperslab& p : slabs) parts.push_back(slice(p, d, first, first + step));
      if (slice_bytes > m_options.slab) {
        post_slabs(v, slice(slab, d, first, first + step), parts, d + 1);
      } else {
        write_slab(v, slice(slab, d, first, first + step), parts);
      }
    }
  }

  /// On rank 0: start and count of the slabs of all ranks, without data. Elsewhere nothing.
  std::vector<Hyperslab> gather_slabs(const Hyperslab& slab, std::size_t rank) const {
    const std::size_t n = 2 * rank + 1;
    std::vector<std::int64_t> mine(n, 0), all(m_rank == 0 ? n * static_cast<std::size_t>(m_size) : 0);
    mine[0] = slab.elements() == 0 ? 0 : 1;
    for (std::size_t d = 0; d < rank && mine[0] == 1; ++d) {
      mine[1 + d] = static_cast<std::int64_t>(slab.start[d]);
      mine[1 + rank + d] = static_cast<std::int64_t>(slab.count[d]);
    }
    MPI_Gather(mine.data(), static_cast<int>(n), MPI_INT64_T, all.data(), static_cast<int>(n), MPI_INT64_T, 0, m_comm);
    std::vector<Hyperslab> slabs(m_rank == 0 ? static_cast<std::size_t>(m_size) : 0);
    for (std::size_t r = 0; r < slabs.size(); ++r) {
      const std::int64_t* of_r = all.data() + r * n;
      slabs[r].empty = of_r[0] == 0;
      slabs[r].start.assign(of_r + 1, of_r + 1 + rank);
      slabs[r].count.assign(of_r + 1 + rank, of_r + n);
      slabs[r].stride.assign(rank, 0);
    }
    return slabs;
  }

  /// Gather the parts of all ranks (known to rank 0 as `parts`) and write them.
  void write_slab(std::size_t v, const Hyperslab& mine, const std::vector<Hyperslab>& parts) {
    const Type type = m_schema->variables[v].type;
    const std::size_t bytes = bytes_of(type), elements = mine.elements();
    std::vector<int> counts(parts.size()), starts(parts.size());
    std::size_t total = 0;
    for (std::size_t r = 0; r < parts.size(); ++r) {
      counts[r] = static_cast<int>(parts[r].elements());
      starts[r] = static_cast<int>(total);
      total += parts[r].elements();
    }
    std::byte* staging = m_staging.of_size(total * bytes);
    MPI_Gatherv(packed(mine, type, m_packed), static_cast<int>(elements), mpi_type_of(type), staging, counts.data(),
                starts.data(), mpi_type_of(type), 0, m_comm);
    if (m_rank != 0 || total == 0) return;

    Hyperslab box; // that contains all parts
    for (const Hyperslab& p : parts) {
      if (p.elements() == 0) continue;
      if (box.start.empty()) box.start = p.start, box.count = p.count;
      for (std::size_t d = 0; d < box.start.size(); ++d) {
        const std::size_t end = std::max(box.start[d] + box.count[d], p.start[d] + p.count[d]);
        box.start[d] = std::min(box.start[d], p.start[d]);
        box.count[d] = end - box.start[d];
      }
    }
    const auto staged = [&](std::size_t r) { return staging + static_cast<std::size_t>(starts[r]) * bytes; };
    const auto only = std::find_if(parts.begin(), parts.end(), [](const Hyperslab& p) { return p.elements() > 0; });
    if (only->elements() == total) {
      write(v, *only, staging, bytes);
    } else if (box.elements() == total) {
      std::byte* slab = m_slab.of_size(total * bytes);
      for (std::size_t r = 0; r < parts.size(); ++r) {
        if (parts[r].elements() > 0) place(parts[r], staged(r), box, slab, bytes);
      }
      write(v, box, slab, bytes);
    } else { // there are gaps, which must keep what they hold
      for (std::size_t r = 0; r < parts.size(); ++r) {
        if (parts[r].elements() > 0) write(v, parts[r], staged(r), bytes);
      }
    }
  }

  void write(std::size_t v, const Hyperslab& part, const std::byte* data, std::size_t bytes) {
    if (m_ids[v] < 0) return; // could not be defined; the error is kept
    const int status = nc_put_vara(m_ncid, m_ids[v], part.start.data(), part.count.data(), data);
    m_work.written_bytes += static_cast<std::int64_t>(part.elements() * bytes);
    m_work.written_operations += 1;
    if (status != NC_NOERR) { // the other ranks still wait for the next slab
      keep("file '" + m_path + "': variable '" + m_schema->variables[v].name +
           "': expected to write it; found: " + nc_strerror(status));
    }
  }

  void keep(const std::string& error) {
    if (m_error.empty()) m_error = error;
  }
  void throw_kept() const {
    if (!m_error.empty()) throw Error(m_error);
  }

  MPI_Comm m_comm;
  int m_rank = 0, m_size = 1;
  std::string m_path;
  Options m_options;
  const Schema* m_schema = nullptr;
  int m_ncid = -1;        ///< on rank 0
  std::vector<int> m_ids; ///< on rank 0; -1: not defined yet
  std::optional<Definition<NetcdfC>> m_definition;
  ClassicLayout m_places; ///< interleaved: after the last definition
  Buffer m_packed, m_staging, m_slab;
  std::string m_error;
  Work m_work;
};

} // namespace

std::unique_ptr<Format> open_serial(MPI_Comm comm, const std::string& path, const Options& options) {
  return std::make_unique<Serial>(comm, path, options);
}

} // namespace nunatak::io
