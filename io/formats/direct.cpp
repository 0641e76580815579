// The format `direct`: a classic NetCDF file whose header rank 0 writes by NetCDF-C, and whose
// values every rank writes at the offsets in the header, one call for each run of the file
// (runs.hpp). See format.hpp.
//
//   define: rank 0: create_classic, read_classic_layout; broadcast of the layout; all open
//   put:    pack, big-endian; write the runs after every 2 MiB, and at wait()
//   flush, close: rank 0 sets the length, writes the number of records
//
// The bytes are those of `serial` and `pnetcdf`. No rank waits for another: an error of one rank is
// kept until all agree on it at the end of the record. Blocks that are narrow along the fastest
// dimension become many small writes; a layout that aggregates makes them long. Packed values stay
// in cache (2 MiB), and blocks that are adjacent in the file become one write.
//
// -io_calls: `posix` calls pwrite, `mpiio` MPI_File_write_at (MPI_COMM_SELF) on the same runs, to
// measure the overhead of MPI-IO. The header changes only in the number of records, so the file
// grows in place.
#include "io/agree.hpp"
#include "io/durable/durable.hpp"
#include "io/formats/byte_order.hpp"
#include "io/formats/classic.hpp"
#include "io/formats/format.hpp"
#include "io/formats/mpi_io.hpp"
#include "io/formats/runs.hpp"
#include "io/read/classic_header.hpp"
#include "io/registry.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <unistd.h>
#include <utility>

namespace nunatak::io {

namespace {

constexpr std::size_t part_bytes = std::size_t{2} << 20;

/// Big-endian.
std::vector<std::byte> bytes_of_integer(std::uint64_t value, std::size_t n) {
  std::vector<std::byte> bytes(n);
  for (std::size_t k = n; k-- > 0; value >>= 8) bytes[k] = static_cast<std::byte>(value & 0xff);
  return bytes;
}

/// An existing file, open for writing on this rank. Errors give the cause alone.
class Calls {
public:
  virtual ~Calls() = default;
  /// Write some of these bytes; returns their number.
  virtual std::size_t write(std::uint64_t begin, const std::byte* data, std::size_t size) = 0;
  virtual void set_size(std::uint64_t size) = 0;
  virtual void close() = 0;
};

class PosixCalls final : public Calls {
public:
  explicit PosixCalls(const std::string& path) : m_fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC)) {
    check(m_fd);
  }
  ~PosixCalls() override {
    if (m_fd >= 0) ::close(m_fd);
  }

  std::size_t write(std::uint64_t begin, const std::byte* data, std::size_t size) override {
    const ssize_t n =
        retried([&] { return ::pwrite(m_fd, data, size, static_cast<off_t>(begin)); });
    check(n);
    return static_cast<std::size_t>(n);
  }
  void set_size(std::uint64_t size) override {
    check(retried([&] { return ::ftruncate(m_fd, static_cast<off_t>(size)); }));
  }
  void close() override {
    if (::close(std::exchange(m_fd, -1)) != 0 && errno != EINTR) check(-1); // EINTR: it is closed
  }

private:
  static void check(ssize_t result) {
    if (result < 0) throw Error(std::strerror(errno));
  }
  int m_fd;
};

class MpiCalls final : public Calls {
public:
  MpiCalls(const std::string& path, const std::map<std::string, std::string>& hints) {
    MPI_Info info = make_info(hints);
    const int status = MPI_File_open(MPI_COMM_SELF, path.c_str(), MPI_MODE_WRONLY, info, &m_file);
    MPI_Info_free(&info);
    check(status);
  }
  ~MpiCalls() override {
    if (m_file != MPI_FILE_NULL) MPI_File_close(&m_file);
  }

  std::size_t write(std::uint64_t begin, const std::byte* data, std::size_t size) override {
    MPI_Status status;
    int n = 0;
    check(MPI_File_write_at(m_file, static_cast<MPI_Offset>(begin), data, static_cast<int>(size),
                            MPI_BYTE, &status));
    MPI_Get_count(&status, MPI_BYTE, &n);
    if (n <= 0) throw Error("no byte was written");
    return static_cast<std::size_t>(n);
  }
  void set_size(std::uint64_t size) override {
    check(MPI_File_set_size(m_file, static_cast<MPI_Offset>(size)));
  }
  void close() override { check(MPI_File_close(&m_file)); }

private:
  static void check(int status) {
    if (status == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(status, text, &length);
    throw Error(text);
  }
  MPI_File m_file = MPI_FILE_NULL;
};

class Direct final : public Format {
public:
  Direct(MPI_Comm comm, const std::string& path, const Schema& schema, const Options& options)
      : m_comm(comm), m_path(path), m_schema(schema), m_options(options) {}

  void use_disk_caller(const DiskCaller& call_disk) override { m_call_disk = call_disk; }

  void define() override {
    // of the variables, of the records, the end of the others
    std::vector<std::uint64_t> places(m_schema.variables.size() + 3);
    on_rank_0(m_comm, [&] {
      create_classic(m_path, m_schema, m_options);
      const ClassicLayout layout = read_classic_layout(m_path).value();
      m_count_bytes = layout.count_bytes;
      m_header.resize(layout.header_end);
      if (!std::ifstream(m_path, std::ios::binary)
               .read(m_header.data(), static_cast<std::streamsize>(m_header.size())))
        throw Error("file '" + m_path + "': expected to read its header");
      places = flat(layout);
    });
    MPI_Bcast(places.data(), static_cast<int>(places.size()), MPI_UINT64_T, 0, m_comm);
    const auto next = [&] {
      const std::uint64_t last = places.back();
      places.pop_back();
      return last;
    };
    m_layout.end_of_fixed = next();
    m_layout.record_stride = next();
    m_layout.record_begin = next();
    m_layout.begin = std::move(places);
    m_file = open_file(m_path);
  }

  void put(std::size_t v, const Hyperslab& slab) override {
    if (slab.elements() == 0 || m_error.is_set()) return;
    const Variable& variable = m_schema.variables[v];
    if (m_schema.has_records(variable))
      m_records = std::max(m_records, slab.start[0] + slab.count[0]);
    const std::size_t element = bytes_of(variable.type),
                      n_parts = (slab.elements() * element + part_bytes - 1) / part_bytes;
    m_error.keep([&] {
      for (std::size_t p = 0; p < n_parts; ++p) {
        const Hyperslab part = part_of(slab, p, n_parts);
        const std::size_t bytes = part.elements() * element;
        if (bytes == 0) continue;
        if (m_used + bytes > part_bytes) write_pending();
        std::byte* const values = m_buffer.of_size(std::max(bytes, part_bytes)) + m_used;
        pack(part, variable.type, values);
        if (!memory_is_big_endian()) swap_bytes(values, part.elements(), element);
        append_runs(placement_of(m_schema, m_layout, v), part.start, part.count, values, m_pending);
        m_used += bytes;
      }
    });
  }

  void wait() override {
    if (!m_error.is_set()) m_error.keep([&] { write_pending(); });
    m_error.rethrow();
  }

  void flush() override {
    flush_values();
    if (m_rank == 0) count_records();
  }

  void close() override {
    flush();
    at(m_path + "': close", [&] { m_file->close(); });
  }

  std::uint64_t expected_size(std::uint64_t records) const override {
    return m_layout.file_size(records);
  }
  std::optional<std::uint64_t> first_byte(std::size_t v) const override {
    return m_layout.begin[v];
  }

  bool grows_in_place() const override { return true; }

  /// All values are in the file, and the file has the length of its records.
  void flush_values() override {
    if (!m_error.is_set()) m_error.keep([&] { write_pending(); });
    std::uint64_t records = m_records; // a rank may have seen fewer
    MPI_Allreduce(MPI_IN_PLACE, &records, 1, MPI_UINT64_T, MPI_MAX, m_comm);
    m_records = records;
    m_error.rethrow();
    if (m_rank != 0) return;
    at(name() + "': expected to set its length",
       [&] { m_file->set_size(m_layout.file_size(records)); });
  }

  /// The new history is made durable before the number of records: the manifest line covers both.
  void count_records() override {
    if (m_has_new_history) {
      const auto [begin, length] = history();
      write({begin, length, reinterpret_cast<const std::byte*>(m_header.data() + begin)});
      fsync_path(m_path);
      m_has_new_history = false;
    }
    const auto bytes = bytes_of_integer(m_records, m_count_bytes);
    write({count_begin, bytes.size(), bytes.data()});
  }

  Reopened reopen(const std::string& path, std::uint64_t records) override {
    Reopened reopened{"", m_layout.file_size(records)};
    on_rank_0(m_comm, [&] { reopened.why_not = different_header(path, reopened.size); });
    broadcast(reopened.why_not, m_comm);
    if (!reopened.why_not.empty()) return reopened;
    m_file = open_file(path); // nothing was written to the file just defined
    m_path = path;
    m_records = records;
    return reopened;
  }

  Work work() const override { return m_work; }

private:
  /// Run `f`, whose errors give the cause alone. `what`: the file and what was expected.
  template <class F> static void at(const std::string& what, const F& f) {
    try {
      f();
    } catch (const Error& cause) {
      throw Error("file '" + what + "; found: " + cause.what());
    }
  }

  std::unique_ptr<Calls> open_file(const std::string& path) const {
    std::unique_ptr<Calls> file;
    at(path + "': expected to open it", [&] {
      if (m_options.calls == "mpiio") {
        file = std::make_unique<MpiCalls>(path, m_options.hints);
      } else {
        file = std::make_unique<PosixCalls>(path);
      }
    });
    return file;
  }

  static std::vector<std::uint64_t> flat(const ClassicLayout& layout) {
    std::vector<std::uint64_t> places;
    std::uint64_t record_begin = ~std::uint64_t{0}, end_of_fixed = layout.header_end;
    for (const ClassicLayout::Place& place : layout.variables) {
      places.push_back(place.begin);
      if (place.is_record) {
        record_begin = std::min(record_begin, place.begin);
      } else {
        end_of_fixed = std::max(end_of_fixed, (place.begin + place.size + 3) / 4 * 4);
      }
    }
    places.insert(places.end(), {record_begin, layout.record_size, end_of_fixed});
    return places;
  }

  void write_pending() {
    if (m_rank % 2 == 1)
      std::reverse(m_pending.begin(), m_pending.end()); // neighbours collide less on a server
    const auto write_all_runs = [this] {
      for (const Run& run : m_pending) write(run);
    };
    if (m_options.calls == "mpiio") { // calls of MPI
      write_all_runs();
    } else {
      m_call_disk(m_used, write_all_runs);
    }
    m_pending.clear();
    m_used = 0;
  }

  /// Error naming the variable that failed.
  void write(const Run& run) {
    for (std::size_t done = 0; done < run.size;) {
      const std::uint64_t begin = run.begin + done;
      std::size_t n = 0;
      try {
        n = m_file->write(begin, run.data + done, run.size - done);
      } catch (const Error& cause) {
        throw Error("file '" + name() + "': " + variable_at(begin) +
                    ": expected to write it; found: " + cause.what());
      }
      done += n;
      m_work.written_bytes += static_cast<std::int64_t>(n);
      m_work.written_operations += 1;
    }
  }

  /// That of messages: after the first commit the final one.
  std::string name() const {
    const std::filesystem::path path(m_path);
    const bool is_renamed = path.extension() == ".tmp" && !std::filesystem::exists(path);
    return is_renamed ? (path.parent_path() / path.stem()).string() : m_path;
  }

  /// The variable that contains this byte of the file, for messages.
  std::string variable_at(std::uint64_t offset) const {
    const auto first = std::min_element(m_layout.begin.begin(), m_layout.begin.end());
    if (first == m_layout.begin.end() || offset < *first) return "the header";
    if (offset >= m_layout.record_begin && m_layout.record_stride > 0)
      offset = m_layout.record_begin + (offset - m_layout.record_begin) % m_layout.record_stride;
    auto found = static_cast<std::size_t>(first - m_layout.begin.begin());
    for (std::size_t v = 0; v < m_schema.variables.size(); ++v) {
      if (m_layout.begin[v] <= offset && m_layout.begin[v] >= m_layout.begin[found]) found = v;
    }
    return "variable '" + m_schema.variables[found].name + "'";
  }

  /// Begin and size of the text of `history` in the header.
  std::pair<std::size_t, std::size_t> history() const {
    for (const Attribute& attribute : m_schema.attributes) {
      if (attribute.name != "history") continue;
      const auto& text = std::get<std::string>(attribute.value);
      return {m_header.find(text), text.size()};
    }
    return {0, 0};
  }

  /// How the header of an existing file of at least `size` bytes differs from this one; "" if it
  /// does not in a way that matters. Local, rank 0 only.
  std::string different_header(const std::string& path, std::uint64_t size) {
    if (std::filesystem::file_size(path) < size) return "it is shorter than its records";
    std::string found(m_header.size(), '\0');
    if (!std::ifstream(path, std::ios::binary)
             .read(found.data(), static_cast<std::streamsize>(found.size())))
      return "its header cannot be read";
    const auto [begin, length] = history();
    std::memcpy(found.data() + count_begin, m_header.data() + count_begin, m_count_bytes);
    m_has_new_history = found.compare(begin, length, m_header, begin, length) != 0;
    found.replace(begin, length, m_header, begin, length);
    return found == m_header ? ""
                             : "it has another header, or no room for the new line of 'history'";
  }

  /// Of the number of records, after the magic number.
  static constexpr std::size_t count_begin = 4;

  MPI_Comm m_comm;
  int m_rank = rank_in(m_comm);
  std::string m_path;
  const Schema& m_schema;
  Options m_options;
  RunLayout m_layout; ///< the same on all ranks
  std::unique_ptr<Calls> m_file;
  std::size_t m_records = 0;      ///< seen by this rank; after flush_values(): by any rank
  std::vector<Run> m_pending;     ///< packed, not yet written
  Buffer m_buffer;                ///< of their values
  std::size_t m_used = 0;         ///< bytes of the buffer
  std::size_t m_count_bytes = 0;  ///< of the number of records, on rank 0
  std::string m_header;           ///< as it was defined, on rank 0
  bool m_has_new_history = false; ///< not yet written to the reopened file; on rank 0
  DiskCaller m_call_disk = call_at_once;
  KeptError m_error;
  Work m_work;
};

} // namespace

std::unique_ptr<Format> open_direct(MPI_Comm comm, const std::string& path, const Schema& schema,
                                    const Options& options) {
  return std::make_unique<Direct>(comm, path, schema, options);
}

} // namespace nunatak::io
