// The format `posix`: every rank writes its runs with pwrite into one plain file. See raw.hpp and format.hpp.
//
// No library, no message: blocks that are narrow along the fastest dimension become many small writes.
#include "io/agree.hpp"
#include "io/formats/format.hpp"
#include "io/formats/raw.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace nunatak::io {

namespace {

class Posix final : public Format {
public:
  Posix(MPI_Comm comm, const std::string& path, const Options& options) : m_comm(comm), m_path(path), m_align(options.align) {
    MPI_Comm_rank(comm, &m_rank);
    agree(comm, [&] {
      if (m_rank == 0) open_file(O_WRONLY | O_CREAT | O_TRUNC, "expected to create it");
    });
    if (m_rank != 0) open_file(O_WRONLY, "expected to open it");
  }
  ~Posix() override {
    if (m_fd >= 0) ::close(m_fd);
  }

  void define(const Schema& schema) override {
    m_schema = &schema;
    m_layout = raw_layout(schema, m_align);
    if (m_rank == 0) write_raw_json(m_path, schema, m_layout, 0);
  }

  void put(std::size_t v, const Hyperslab& slab) override {
    if (slab.elements() == 0 || m_error.is_set()) return;
    const Variable& variable = m_schema->variables[v];
    if (m_schema->has_records(variable)) m_records = std::max(m_records, slab.start[0] + slab.count[0]);
    m_runs.clear();
    append_runs(*m_schema, m_layout, v, slab, packed(slab, variable.type, m_buffer), m_runs);
    for (const Run& run : m_runs) write(run, variable.name);
  }

  void wait() override { m_error.rethrow(); }

  /// The length of the file and the number of records in the JSON.
  void flush() override {
    std::uint64_t records = m_records; // a rank may have seen fewer
    MPI_Allreduce(MPI_IN_PLACE, &records, 1, MPI_UINT64_T, MPI_MAX, m_comm);
    if (m_rank != 0) return;
    if (::ftruncate(m_fd, static_cast<off_t>(m_layout.file_size(records))) != 0) fail("expected to set its length");
    write_raw_json(m_path, *m_schema, m_layout, records);
  }

  void close() override {
    flush();
    const int fd = m_fd;
    m_fd = -1;
    if (::close(fd) != 0) fail("close");
  }
  std::uint64_t expected_size(std::uint64_t records) const override { return m_layout.file_size(records); }
  Work work() const override { return m_work; }
  std::vector<OutputFile> files() const override { return {OutputFile{}, OutputFile{".json", 0}}; }

private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error("file '" + m_path + "': " + what + "; found: " + std::strerror(errno));
  }

  void open_file(int flags, const std::string& what) {
    m_fd = ::open(m_path.c_str(), flags, 0666);
    if (m_fd < 0) fail(what);
  }

  void write(const Run& run, const std::string& variable) {
    for (std::size_t done = 0; done < run.size && !m_error.is_set();) {
      const ssize_t n = ::pwrite(m_fd, run.data + done, run.size - done, static_cast<off_t>(run.begin + done));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        m_error.set("file '" + m_path + "': variable '" + variable + "': expected to write it; found: " + std::strerror(errno));
        return;
      }
      done += static_cast<std::size_t>(n);
      m_work.written_bytes += n;
      m_work.written_operations += 1;
    }
  }

  MPI_Comm m_comm;
  int m_rank = 0, m_fd = -1;
  std::string m_path;
  std::size_t m_align;
  const Schema* m_schema = nullptr;
  RawLayout m_layout;
  std::size_t m_records = 0; ///< that this rank has seen
  std::vector<Run> m_runs;
  Buffer m_buffer;
  KeptError m_error;
  Work m_work;
};

} // namespace

std::unique_ptr<Format> open_posix(MPI_Comm comm, const std::string& path, const Options& options) {
  return std::make_unique<Posix>(comm, path, options);
}

} // namespace nunatak::io
