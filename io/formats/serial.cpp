// The format `serial`: rank 0 gathers and writes with serial NetCDF-C. See format.hpp.
//
// Bounded memory: a variable is gathered in slabs along its slowest dimensions, so that rank 0
// never holds more than twice Options::gather_bytes() in addition to its own part.
//
// Where no rank has values (land) a slab has gaps. Its first write fills them with zeros, so that
// rows stay whole (NetCDF-C reads and rewrites partial buffers); later puts overwrite them. For
// `define interleaved` see pnetcdf.cpp; NetCDF-C does not move a record that stays in place.
//
//   ranks 0..3        staging (order of ranks)     slab (order of the file)     file
//   |0|1|  pack ->    |0 0 0|1 1|2 2 2|3 3|   ->   0 0 0 1 1              ->    nc_put_vara
//   |2|3|  gather                                  2 2 2 3 3
#include "io/agree.hpp"
#include "io/formats/classic.hpp"
#include "io/formats/define.hpp"
#include "io/formats/format.hpp"
#include "io/layouts/exchange.hpp"
#include "io/layouts/partition.hpp"
#include "io/read/classic_header.hpp"

#include <netcdf.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace nunatak::io {

namespace {

using RankBoxes = std::vector<std::optional<Box>>; // by rank; nullopt where a rank has no values

/// A slab of the variable, with the record dimension of `like`, if it has one.
Box in_record_of(const Box& like, Box slab) {
  if (like.count.size() > slab.count.size()) {
    slab.start.insert(slab.start.begin(), like.start[0]);
    slab.count.insert(slab.count.begin(), 1);
  }
  return slab;
}

/// The parts of `boxes` in a slab of the variable; they have the record dimension, if there is one.
RankBoxes parts_in(const Box& slab, const RankBoxes& boxes) {
  RankBoxes parts;
  for (const std::optional<Box>& box : boxes) {
    parts.emplace_back();
    if (!box) continue;
    const Box region = meet(in_record_of(*box, slab), *box);
    if (region.elements() > 0) parts.back() = region;
  }
  return parts;
}

class Serial final : public Format {
public:
  Serial(MPI_Comm comm, const std::string& path, const Schema& schema, const Options& options)
      : m_comm(comm), m_path(path), m_schema(schema), m_options(options) {
    if (m_rank != 0) return;
    std::size_t buffer = 1 << 20; // of NetCDF-C; by default as small as a disk block
    const int status = nc__create(path.c_str(), NC_CLOBBER | classic_mode(path, schema, options), 0,
                                  &buffer, &m_ncid);
    if (status != NC_NOERR) m_ncid = -1;
    check(status, "expected to create it");
  }
  ~Serial() override {
    if (m_ncid >= 0) nc_close(m_ncid);
  }

  void define() override {
    m_ids.assign(m_schema.variables.size(), -1);
    m_n_put.assign(m_schema.variables.size(), 0);
    if (m_rank != 0) return;
    int old_fill = 0;
    check(nc_set_fill(m_ncid, NC_NOFILL, &old_fill), "fill mode");
    m_definition.emplace(m_ncid, m_path, m_schema);
    m_definition->dimensions();
    for (std::size_t v = 0; v < m_ids.size() && m_options.define == "upfront"; ++v)
      m_ids[v] = m_definition->variable(v);
    m_definition->attributes();
    end_define(m_options.header);
    if (m_options.define != "upfront") return; // offsets are not known yet
    check(nc_sync(m_ncid), "header");
    m_layout = read_classic_layout(m_path);
  }

  std::uint64_t expected_size(std::uint64_t records) const override {
    return m_layout ? m_layout->size(records) : 0;
  }

  void put(std::size_t v, const Hyperslab& slab) override {
    // the other ranks wait for the gather
    if (m_rank == 0 && m_ids[v] < 0) m_error.keep([&] { define_late(v); });
    const Variable& variable = m_schema.variables[v];
    std::optional<Box> mine;
    if (slab.elements() > 0) mine = Box{slab.start, slab.count};
    RankBoxes boxes; // of all ranks, on rank 0
    for (const auto& of_rank : gather_boxes(m_comm, {mine}, {variable.dimensions.size()}, 0))
      boxes.push_back(of_rank.front());
    const bool is_first = is_first_put(v, boxes);
    for (const Box& part :
         cut(whole_box(m_schema, v),
             std::max<std::size_t>(1, m_options.gather_bytes() / bytes_of(variable.type))))
      write_slab(v, slice(slab, part), parts_in(part, boxes), is_first ? &part : nullptr);
  }

  void wait() override { m_error.rethrow(); }
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
  void check(int status, const std::string& what) const {
    check_status<NetcdfC>(status, m_path, what);
  }

  void end_define(std::size_t header) const {
    check(nc__enddef(m_ncid, header, m_options.align, 0, m_options.align), "header");
  }

  void define_late(std::size_t v) {
    check(nc_redef(m_ncid), "expected to define more");
    m_ids[v] = m_definition->variable(v);
    // the first variable fixes the end of the header
    end_define(m_n_late++ == 0 ? m_options.header : 0);
    check(nc_sync(m_ncid), "flush");
    m_work.moved_bytes += m_moved.count(m_path, false);
  }

  /// No value of this record of the variable has been put (records ascend; else false). On rank 0.
  bool is_first_put(std::size_t v, const RankBoxes& boxes) {
    const auto some = std::find_if(boxes.begin(), boxes.end(),
                                   [](const std::optional<Box>& box) { return box.has_value(); });
    if (some == boxes.end()) return false;
    const std::size_t next =
        m_schema.has_records(m_schema.variables[v]) ? (*some)->start[0] + 1 : 1;
    return std::exchange(m_n_put[v], std::max(m_n_put[v], next)) < next;
  }

  /// Gather the parts of all ranks (`parts`, known to rank 0) and write them. `slab`: not yet
  /// written, so that gaps may be written as zeros; or nullptr.
  void write_slab(std::size_t v, const Hyperslab& mine, const RankBoxes& parts, const Box* slab) {
    const Type type = m_schema.variables[v].type;
    const std::size_t bytes = bytes_of(type);
    std::vector<int> counts, starts;
    std::size_t total = 0, n_parts = 0;
    Box box; // the hull of all parts
    for (const std::optional<Box>& part : parts) {
      const std::size_t elements = part ? part->elements() : 0;
      counts.push_back(static_cast<int>(elements));
      starts.push_back(static_cast<int>(total));
      total += elements;
      if (part) box = n_parts++ == 0 ? *part : hull(box, *part);
    }
    std::byte* const staging = m_staging.of_size(total * bytes);
    MPI_Gatherv(packed(mine, type, m_packed), static_cast<int>(mine.elements()), mpi_type_of(type),
                staging, counts.data(), starts.data(), mpi_type_of(type), 0, m_comm);
    if (m_rank != 0 || total == 0) return;
    const bool has_gaps = box.elements() != total;
    if (has_gaps && slab != nullptr) box = in_record_of(box, *slab);
    const bool is_assembled = n_parts > 1 && (!has_gaps || slab != nullptr);
    std::byte* const assembled = m_slab.of_size(is_assembled ? box.elements() * bytes : 0);
    if (is_assembled && has_gaps) std::fill_n(assembled, box.elements() * bytes, std::byte{0});
    for (std::size_t r = 0; r < parts.size(); ++r) {
      if (!parts[r]) continue;
      const std::byte* const values = staging + static_cast<std::size_t>(starts[r]) * bytes;
      if (is_assembled) {
        copy(*parts[r], *parts[r], values, box, assembled, bytes);
      } else {
        write(v, *parts[r], values, bytes);
      }
    }
    if (is_assembled) write(v, box, assembled, bytes);
  }

  void write(std::size_t v, const Box& part, const std::byte* data, std::size_t bytes) {
    if (m_ids[v] < 0) return; // its definition failed; the error is kept
    const int status = nc_put_vara(m_ncid, m_ids[v], part.start.data(), part.count.data(), data);
    m_work.written_bytes += static_cast<std::int64_t>(part.elements() * bytes);
    m_work.written_operations += 1;
    if (status != NC_NOERR) { // the other ranks wait for the next slab
      m_error.set("file '" + m_path + "': variable '" + m_schema.variables[v].name +
                  "': expected to write it; found: " + nc_strerror(status));
    }
  }

  MPI_Comm m_comm;
  int m_rank = rank_in(m_comm);
  std::string m_path;
  const Schema& m_schema;
  Options m_options;
  int m_ncid = -1;                  ///< on rank 0
  std::vector<int> m_ids;           ///< on rank 0; -1: not defined yet
  std::vector<std::size_t> m_n_put; ///< by variable, the last record put, plus one
  std::optional<Definition<NetcdfC>> m_definition;
  int m_n_late = 0;                      ///< late definitions so far
  std::optional<ClassicLayout> m_layout; ///< if everything is defined upfront
  MovedBytes m_moved;
  Buffer m_packed, m_staging, m_slab;
  KeptError m_error;
  Work m_work;
};

} // namespace

std::unique_ptr<Format> open_serial(MPI_Comm comm, const std::string& path, const Schema& schema,
                                    const Options& options) {
  return std::make_unique<Serial>(comm, path, schema, options);
}

} // namespace nunatak::io
