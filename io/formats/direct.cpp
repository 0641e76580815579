// The format `direct`: a classic NetCDF file whose header rank 0 writes by NetCDF-C, and whose
// values every rank writes at the offsets in the header, one call for each run (runs.hpp).
//
//   define: rank 0: create_classic, read_classic_layout; broadcast of the layout; all open
//   put:    pack, big-endian; write the runs after every 2 MiB, and at wait()
//   commit, close: rank 0 sets the length, writes the number of records
//
// The bytes are those of `serial` and `pnetcdf`. No rank waits for another: an error of one rank is
// kept until all agree on it at the end of the record. Blocks that are narrow along the fastest
// dimension become many small writes; a layout that aggregates makes them long. Packed values stay
// in cache (2 MiB), and blocks that are adjacent in the file become one write.
//
// -io_calls: `posix` calls pwrite, `mpiio` MPI_File_write_at (MPI_COMM_SELF) on the same runs, to
// measure MPI-IO. Only the number of records in the header changes: the file grows in place.
#include "io/disk/classic_header.hpp"
#include "io/disk/disk.hpp"
#include "io/disk/mpi_io.hpp"
#include "io/formats/classic.hpp"
#include "io/formats/format.hpp"
#include "io/formats/runs.hpp"

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

template <class Word, class Swap>
void swap_all(std::byte* values, std::size_t n, const Swap& swap) {
  for (std::size_t k = 0; k < n; ++k) {
    Word word;
    std::memcpy(&word, values + k * sizeof word, sizeof word);
    word = swap(word);
    std::memcpy(values + k * sizeof word, &word, sizeof word);
  }
}

/// `n` values of `size` bytes from the byte order of memory to big-endian, that of classic files.
void to_big_endian(std::byte* values, std::size_t n, std::size_t size) {
  if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) return;
  if (size == 2)
    swap_all<std::uint16_t>(values, n, [](std::uint16_t w) { return __builtin_bswap16(w); });
  if (size == 4)
    swap_all<std::uint32_t>(values, n, [](std::uint32_t w) { return __builtin_bswap32(w); });
  if (size == 8)
    swap_all<std::uint64_t>(values, n, [](std::uint64_t w) { return __builtin_bswap64(w); });
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

constexpr FormatOption calls_option{
    "calls", "posix", "calls of direct: pwrite, or MPI_File_write_at", "posix|mpiio", mpi_io_calls};

class Direct final : public FileFormat {
public:
  using FileFormat::FileFormat;

  void use_stripe(std::size_t bytes) override { m_pending.use_stripe(bytes); }

  void define() override {
    on_rank_0(m_comm, [&] {
      create_classic(m_path, m_schema, m_options);
      m_layout = read_classic_layout(m_path).value();
      m_header.resize(m_layout.header_end);
      if (!std::ifstream(m_path, std::ios::binary)
               .read(m_header.data(), static_cast<std::streamsize>(m_header.size())))
        throw Error("file '" + m_path + "': cannot read its header");
    });
    m_layout.variables.resize(m_schema.variables.size());
    const std::size_t bytes = m_layout.variables.size() * sizeof(ClassicLayout::Extent);
    MPI_Bcast(m_layout.variables.data(), static_cast<int>(bytes), MPI_BYTE, 0, m_comm);
    MPI_Bcast(&m_layout.header_end, 1, MPI_UINT64_T, 0, m_comm);
    MPI_Bcast(&m_layout.record_size, 1, MPI_UINT64_T, 0, m_comm);
    m_file = open_file(m_path);
  }

  void put(std::size_t v, std::size_t record, const Slabs& slabs) override {
    const Variable& variable = m_schema.variables[v];
    if (record != no_record) m_records = std::max(m_records, record + 1);
    const auto values = [&](const Hyperslab& part, std::size_t at) {
      const std::size_t elements = part.elements(), element = bytes_of(variable.type);
      std::byte* const place =
          m_buffer.of_size(std::max(elements * element, PendingRuns::most)) + at;
      pack(part, variable.type, place);
      to_big_endian(place, elements, element);
      return place;
    };
    for (const Hyperslab& slab : slabs)
      m_pending.put(m_schema, m_layout, v, record, slab, values, [this] { write_pending(); });
  }

  void wait() override { write_pending(); }

  void close() override {
    flush_values();
    if (m_rank == 0) count_records();
    at(m_path + "': close", [&] { m_file->close(); });
  }

  std::uint64_t expected_size(std::uint64_t records) const override {
    return m_layout.padded_size(records);
  }
  std::optional<std::uint64_t> first_byte(std::size_t v) const override {
    return m_layout.variables[v].begin;
  }

  bool grows_in_place() const override { return true; }

  /// All values are in the file, and the file has the length of its records.
  void flush_values() override {
    KeptError error;
    error.keep([&] {
      write_pending();
      m_pending.flush_edges(
          [this](const auto& runs, std::size_t bytes) { write_all(runs, bytes); });
    });
    std::uint64_t records = m_records; // a rank may have seen fewer
    MPI_Allreduce(MPI_IN_PLACE, &records, 1, MPI_UINT64_T, MPI_MAX, m_comm);
    m_records = records;
    error.rethrow();
    if (m_rank != 0) return;
    at(name() + "': cannot set its length",
       [&] { m_file->set_size(m_layout.padded_size(records)); });
  }

  void save() override {
    flush_values();
    if (m_rank == 0) count_records();
  }

  /// The new history is made durable before the number of records: the manifest line covers both.
  void count_records() override {
    if (const std::string why = different_header(name(), 0); !why.empty())
      throw Error("file '" + name() + "': another program has written to it: " + why);
    if (m_has_new_history) {
      const auto [begin, length] = history();
      write({begin, length, reinterpret_cast<const std::byte*>(m_header.data() + begin), header});
      fsync_path(m_path);
      m_has_new_history = false;
    }
    std::uint64_t records = m_records;
    std::vector<std::byte> bytes(m_layout.count_bytes); // big-endian
    for (std::size_t k = bytes.size(); k-- > 0; records >>= 8)
      bytes[k] = static_cast<std::byte>(records & 0xff);
    write({count_begin, bytes.size(), bytes.data(), header});
  }

  Reopened reopen(const std::string& path, std::uint64_t records) override {
    Reopened reopened{"", m_layout.padded_size(records)};
    on_rank_0(m_comm, [&] { reopened.why_not = different_header(path, reopened.size); });
    broadcast(reopened.why_not, m_comm);
    if (!reopened.why_not.empty()) return reopened;
    m_file = open_file(path); // nothing was written to the file just defined
    m_path = path;
    m_records = records;
    return reopened;
  }

private:
  /// Run `f`, whose errors give the cause alone. `what`: the file and what failed.
  template <class F> static void at(const std::string& what, const F& f) {
    try {
      f();
    } catch (const Error& cause) {
      throw Error("file '" + what + ": " + cause.what());
    }
  }

  std::unique_ptr<Calls> open_file(const std::string& path) const {
    std::unique_ptr<Calls> file;
    at(path + "': cannot open it", [&] {
      if (m_by_mpi_io) {
        file = std::make_unique<MpiCalls>(path, m_options.hints);
      } else {
        file = std::make_unique<PosixCalls>(path);
      }
    });
    return file;
  }

  void write_pending() {
    m_pending.flush(m_rank,
                    [this](const auto& runs, std::size_t bytes) { write_all(runs, bytes); });
  }
  void write_all(const std::vector<Run>& runs, std::size_t bytes) {
    const auto write_runs = [&] {
      for (const Run& run : runs) write(run);
    };
    if (m_by_mpi_io) { // calls of MPI
      write_runs();
    } else {
      m_options.call_disk(bytes, write_runs);
    }
  }

  /// Error naming the variable that failed.
  void write(const Run& run) {
    for (std::size_t done = 0; done < run.size;) {
      const std::uint64_t begin = run.begin + done;
      std::size_t n = 0;
      try {
        n = m_file->write(begin, run.data + done, run.size - done);
      } catch (const Error& cause) {
        const std::string what =
            run.v == header ? "the header" : "variable '" + m_schema.variables[run.v].name + "'";
        throw Error("file '" + name() + "': " + what + ": cannot write it: " + cause.what());
      }
      done += n;
      m_work.written_bytes += static_cast<std::int64_t>(n);
      m_work.written_operations += 1;
    }
  }

  /// The name in messages: after the first commit the final one.
  std::string name() const {
    const std::filesystem::path path(m_path);
    const bool is_renamed = path.extension() == ".tmp" && !std::filesystem::exists(path);
    return is_renamed ? (path.parent_path() / path.stem()).string() : m_path;
  }

  /// Begin and size of the text of `history` in the header.
  std::pair<std::size_t, std::size_t> history() const {
    const Attribute* const found = find(m_schema.attributes, "history");
    if (found == nullptr) return {0, 0};
    const auto& text = std::get<std::string>(found->value);
    return {m_header.find(text), text.size()};
  }

  /// How the header of an existing file of at least `size` bytes differs from this one; "" if it
  /// does not in a way that matters. Local, rank 0 only.
  std::string different_header(const std::string& path, std::uint64_t size) {
    std::error_code is_gone; // then its header cannot be read
    if (std::filesystem::file_size(path, is_gone) < size) return "it is shorter than its records";
    std::string found(m_header.size(), '\0');
    if (!std::ifstream(path, std::ios::binary)
             .read(found.data(), static_cast<std::streamsize>(found.size())))
      return "its header cannot be read";
    const auto [begin, length] = history();
    std::memcpy(found.data() + count_begin, m_header.data() + count_begin, m_layout.count_bytes);
    m_has_new_history = found.compare(begin, length, m_header, begin, length) != 0;
    found.replace(begin, length, m_header, begin, length);
    return found == m_header ? ""
                             : "it has another header, or no room for the new line of 'history'";
  }

  /// The place of the number of records, behind the magic number.
  static constexpr std::size_t count_begin = 4;
  static constexpr std::size_t header = static_cast<std::size_t>(-1); ///< for Run::v

  /// The variables, record_size and header_end on all ranks, the rest on rank 0.
  ClassicLayout m_layout;
  bool m_by_mpi_io = calls_option.of(m_options) == "mpiio";
  std::unique_ptr<Calls> m_file;
  std::size_t m_records = 0; ///< seen by this rank; after flush_values(): by any rank
  PendingRuns m_pending;
  Buffer m_buffer;                ///< of their values
  std::string m_header;           ///< as it was defined, on rank 0
  bool m_has_new_history = false; ///< not yet written to the reopened file; on rank 0
};

} // namespace

FormatRow direct_format() {
  return {"direct",
          "rank 0 the header, all ranks the values without a library",
          open_as<Direct>,
          netcdf | classic | many_writers | subfiles | by_runs,
          {calls_option}};
}

} // namespace nunatak::io
