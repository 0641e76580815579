// The format `mpiio`: every rank's runs of all variables of a record in one collective
// MPI_File_write_at_all (or independent MPI_File_write_at) into one plain file. See raw.hpp and
// format.hpp.
//
//   put: copy,  append the runs            wait: sort the runs; one type for the file, one for the
//   memory; one write Copies are bounded: see quota.hpp.
#include "io/agree.hpp"
#include "io/durable/durable.hpp"
#include "io/formats/format.hpp"
#include "io/formats/mpi_io.hpp"
#include "io/formats/quota.hpp"
#include "io/formats/raw.hpp"
#include "io/registry.hpp"

#include <algorithm>
#include <cerrno>

namespace nunatak::io {

namespace {

class MpiIo final : public Format {
public:
  MpiIo(MPI_Comm comm, const std::string& path, const Schema& schema, const Options& options)
      : m_comm(comm), m_path(path), m_schema(schema), m_options(options),
        m_quota(comm, schema, options.copy_bytes()) {
    MPI_Info info = make_info(m_options.hints);
    int status =
        MPI_File_open(comm, path.c_str(), MPI_MODE_WRONLY | MPI_MODE_CREATE, info, &m_file);
    MPI_Info_free(&info);
    check(status, "expected to create it");
    check(MPI_File_set_size(m_file, 0), "expected to empty it");
    MPI_Info used = MPI_INFO_NULL;
    check(MPI_File_get_info(m_file, &used), "hints");
    m_hints = used_hints(m_options.hints, used);
    MPI_Info_free(&used);
  }
  // No close in the destructor: it is collective, and a rank that unwinds an exception of its own
  // would wait for ever.

  void define() override {
    m_layout = raw_layout(m_schema, m_options.align);
    grow();
    if (m_rank == 0) write_raw_json(m_path, m_schema, m_layout, 0);
  }

  void put(std::size_t v, const Hyperslab& slab) override {
    const Variable& variable = m_schema.variables[v];
    const std::size_t n_parts = m_quota.begin(v, slab);
    for (std::size_t p = 0; p < n_parts; ++p) {
      if (m_quota.is_full()) write_pending();
      queue(v, variable, part_of(slab, p, n_parts));
      m_quota.add();
    }
  }

  void wait() override {
    if (m_quota.waiting() > 0) write_pending();
    m_error.rethrow();
  }

  void flush() override {
    if (m_rank == 0) write_raw_json(m_path, m_schema, m_layout, m_size_records);
  }

  void close() override {
    m_error.keep([&] { flush(); }); // the others close: so must this rank
    check(MPI_File_close(&m_file), "close");
    m_error.rethrow();
  }
  std::uint64_t expected_size(std::uint64_t records) const override {
    return m_layout.file_size(records);
  }
  Work work() const override { return m_work; }
  std::map<std::string, std::string> hints() const override { return m_hints; }
  std::vector<OutputFile> files() const override { return {OutputFile{}, OutputFile{".json", 0}}; }

private:
  static std::string message(int status) {
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(status, text, &length);
    return text;
  }
  void check(int status, const std::string& what) const {
    if (status != MPI_SUCCESS)
      throw Error("file '" + m_path + "': " + what + "; found: " + message(status));
  }

  void queue(std::size_t v, const Variable& variable, const Hyperslab& slab) {
    if (slab.elements() == 0) return;
    if (m_schema.has_records(variable))
      m_records = std::max(m_records, slab.start[0] + slab.count[0]);
    append_runs(m_schema, m_layout, v, slab, m_copies.keep(slab, variable.type), m_runs);
    // With the end of a variable the gap behind it is written, for MPI-IO would read what lies
    // around it, and write that again.
    const std::uint64_t end = m_runs.back().begin + m_runs.back().size,
                        first = m_layout.begin[v] + m_schema.bytes(variable);
    const bool is_end = m_schema.has_records(variable)
                            ? end >= first && (end - first) % m_layout.record_stride == 0
                            : end == first;
    if (is_end && end % 8 != 0) m_runs.push_back({end, 8 - end % 8, zeros});
  }

  /// The file has all its records before values are written: where MPI-IO writes gaps between runs,
  /// too, it reads zeros first.
  void grow() {
    std::uint64_t records = m_records; // a rank may have seen fewer
    MPI_Allreduce(MPI_IN_PLACE, &records, 1, MPI_UINT64_T, MPI_MAX, m_comm);
    const auto size = static_cast<MPI_Offset>(m_layout.file_size(records));
    if (size > m_size) keep(MPI_File_set_size(m_file, size));
    m_size = size;
    m_size_records = records;
  }

  void write_pending() {
    grow();
    std::sort(m_runs.begin(), m_runs.end(),
              [](const Run& a, const Run& b) { return a.begin < b.begin; });
    std::vector<int> sizes; // no run is longer than what one part holds, 1 GiB
    std::vector<MPI_Aint> in_file, in_memory;
    for (const Run& run : m_runs) {
      sizes.push_back(static_cast<int>(run.size));
      in_file.push_back(static_cast<MPI_Aint>(run.begin));
      in_memory.push_back(0);
      MPI_Get_address(run.data, &in_memory.back());
      m_work.written_bytes += static_cast<std::int64_t>(run.size);
    }
    MPI_Datatype file_type = MPI_BYTE, memory_type = MPI_BYTE;
    const int n = static_cast<int>(m_runs.size());
    if (n > 0) {
      MPI_Type_create_hindexed(n, sizes.data(), in_file.data(), MPI_BYTE, &file_type);
      MPI_Type_create_hindexed(n, sizes.data(), in_memory.data(), MPI_BYTE, &memory_type);
      MPI_Type_commit(&file_type);
      MPI_Type_commit(&memory_type);
    }
    keep(MPI_File_set_view(m_file, 0, MPI_BYTE, file_type, "native", MPI_INFO_NULL));
    errno = 0;
    const int count = n > 0 ? 1 : 0;
    keep(m_options.access == "independent"
             ? MPI_File_write_at(m_file, 0, MPI_BOTTOM, count, memory_type, MPI_STATUS_IGNORE)
             : MPI_File_write_at_all(m_file, 0, MPI_BOTTOM, count, memory_type, MPI_STATUS_IGNORE));
    m_work.written_operations += 1;
    if (n > 0) {
      MPI_Type_free(&file_type);
      MPI_Type_free(&memory_type);
    }
    m_runs.clear();
    m_copies.clear();
    m_quota.clear();
  }

  /// The other ranks go on: so must this one.
  void keep(int status) {
    if (status == MPI_SUCCESS) return;
    m_error.set("file '" + m_path + "': expected to write; found: " + message(status) +
                cause_of_failed_write(errno, m_path, m_quota.waiting()));
  }

  static constexpr std::byte zeros[8] = {};

  MPI_Comm m_comm;
  int m_rank = rank_in(m_comm);
  std::string m_path;
  const Schema& m_schema;
  Options m_options;
  MPI_File m_file = MPI_FILE_NULL;
  RawLayout m_layout;
  Quota m_quota;
  std::size_t m_records = 0;        ///< that this rank has seen
  std::uint64_t m_size_records = 0; ///< that the file has, and
  MPI_Offset m_size = 0;            ///< its length
  std::vector<Run> m_runs;
  Copies m_copies;
  std::map<std::string, std::string> m_hints;
  KeptError m_error;
  Work m_work;
};

} // namespace

std::unique_ptr<Format> open_mpiio(MPI_Comm comm, const std::string& path, const Schema& schema,
                                   const Options& options) {
  return std::make_unique<MpiIo>(comm, path, schema, options);
}

} // namespace nunatak::io
