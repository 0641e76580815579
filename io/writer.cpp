// Checks, times and counts; makes files durable. See writer.hpp; the work is done by the formats (format.hpp).
#include "io/writer.hpp"

#include "io/agree.hpp"
#include "io/durable/durable.hpp"
#include "io/durable/shared_checksums.hpp"
#include "io/read/classic_header.hpp"
#include "io/trace/trace.hpp"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace nunatak::io {

namespace {

constexpr const char* commit_suffix = ".commit"; // of the copy that is about to be committed

} // namespace

std::unique_ptr<Writer> make_writer(MPI_Comm comm, const Options& options) { return std::make_unique<Writer>(comm, options); }

Writer::Writer(MPI_Comm comm, Options options)
    : m_comm(comm), m_options(std::move(options)), m_machine(make_topology(comm, 0)),
      m_open(find_format(comm, m_options, make_topology(comm, m_options.ranks_per_node))) {}

std::unique_ptr<File> Writer::open(const std::string& path, const Schema& schema, FileOptions file_options) {
  return std::make_unique<File>(m_comm, path, schema, file_options, m_open, m_machine, m_statistics);
}

/// Run f, add its time to `phase`.
template <class F> void File::timed(Phase phase, const F& f) {
  const double start = MPI_Wtime();
  f();
  const Work before = m_work;
  if (m_format) m_work = m_format->work();
  Statistics step;
  step.work = m_work - before;
  step[phase].seconds = MPI_Wtime() - start - step.work.exchange_seconds;
  step[phase].operations = 1;
  if (step.work.exchange_seconds > 0.0) step[Phase::exchange] = {step.work.exchange_seconds, step.work.message_bytes, 1};
  m_statistics += step;
  m_total += step;
}

/// The same, and the ranks agree on any error, also on one that an earlier put has kept.
template <class F> void File::together(Phase phase, const F& f) {
  timed(phase, [&] { keep_error(f); });
  agree(m_comm, [&] {
    if (!m_error.empty()) throw Error(m_error);
  });
}

template <class F> void File::keep_error(const F& f) {
  try {
    f();
  } catch (const std::exception& e) {
    if (m_error.empty()) m_error = e.what();
  }
}

File::File(MPI_Comm comm, std::string path, Schema schema, FileOptions file_options, const OpenFormat& open,
           const Topology& machine, Statistics& total)
    : m_comm(comm), m_path(std::move(path)), m_temporary(m_path + ".tmp"), m_schema(std::move(schema)),
      m_file_options(file_options), m_put(m_schema.variables.size(), 0), m_total(total), m_machine(machine) {
  MPI_Comm_rank(comm, &m_rank);
  try {
    m_schema.validate();
  } catch (const Error& e) {
    fail(e.what());
  }
  agree(comm, [&] {
    if (m_rank == 0) check_name();
  });
  trace_watch(m_path);
  together(Phase::open, [&] { m_format = open(m_temporary); });
  together(Phase::define, [&] { m_format->define(m_schema); });
}

void File::fail(const std::string& what) const { throw Error("file '" + m_path + "': " + what); }

/// What rename would refuse at the end of the run is refused here.
void File::check_name() const {
  std::error_code none;
  const auto status = std::filesystem::status(m_path, none);
  if (std::filesystem::is_directory(status)) fail("expected the name of a file, found a folder");
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    fail("expected the name of a file, found something there that is not a regular file");
  }
  const std::size_t length = std::filesystem::path(m_path).filename().string().size(),
                    longest = NAME_MAX - std::strlen(commit_suffix) - std::strlen(".json"); // or ".0000" after it
  if (!is_utf8(std::filesystem::path(m_path).filename().string())) {                        // the manifest is JSON
    fail("expected a file name in UTF-8, found other bytes");
  }
  if (length > longest) {
    fail("expected a file name of at most " + std::to_string(longest) + " characters, found " + std::to_string(length));
  }
}

std::size_t File::variable_number(const std::string& name) const {
  try {
    return m_schema.variable(name);
  } catch (const Error& e) {
    fail(e.what());
  }
}

Piece File::make_piece(std::size_t v, std::size_t record, const Block& block, const std::byte* data, Type type) const {
  const Variable& variable = m_schema.variables[v];
  std::vector<std::size_t> shape = m_schema.shape(variable);
  const std::size_t lead = m_schema.has_records(variable) ? 1 : 0;
  Piece piece{block.start, block.count, block.stride, data, type, false};
  if (block.start.size() + lead != shape.size() || block.count.size() != block.start.size() ||
      (!block.stride.empty() && block.stride.size() != block.start.size())) {
    fail("variable '" + variable.name + "': expected a block with start, count and stride of " +
         std::to_string(shape.size() - lead) + " dimensions, found " + std::to_string(block.start.size()) + ", " +
         std::to_string(block.count.size()) + " and " + std::to_string(block.stride.size()));
  }
  for (std::size_t d = 0; d < block.count.size(); ++d) {
    if (block.count[d] == 0) piece.empty = true;
  }
  for (std::size_t d = 0; d < block.count.size() && !piece.empty; ++d) {
    const std::size_t length = shape[d + lead];
    if (block.start[d] > length || block.count[d] > length - block.start[d]) {
      fail("variable '" + variable.name + "', dimension '" + variable.dimensions[d + lead] + "': expected a block within 0.." +
           std::to_string(length) + ", found " + std::to_string(block.start[d]) + ".." +
           std::to_string(block.start[d] + block.count[d]));
    }
  }
  if (piece.stride.empty()) {
    piece.stride.resize(block.count.size());
    std::ptrdiff_t next = 1;
    for (std::size_t d = block.count.size(); d-- > 0; next *= static_cast<std::ptrdiff_t>(block.count[d])) piece.stride[d] = next;
  }
  if (lead == 1) {
    piece.start.insert(piece.start.begin(), record);
    piece.count.insert(piece.count.begin(), 1);
    piece.stride.insert(piece.stride.begin(), 0);
  }
  return piece;
}

void File::put(const std::string& name, std::size_t record, const Block& block, const std::byte* data, Type type) {
  const std::size_t v = variable_number(name);
  const Variable& variable = m_schema.variables[v];
  const bool has_records = m_schema.has_records(variable);
  // what is wrong here is wrong on every rank
  if (m_closed) fail("variable '" + name + "': expected an open file, found it closed");
  if (type != variable.type && !(type == Type::float64 && variable.type == Type::float32)) {
    fail("variable '" + name + "': expected values of type " + name_of(variable.type) + ", found " + name_of(type));
  }
  if (has_records != (record != no_record)) {
    fail("variable '" + name + "': expected " + (has_records ? "a record number, found none" : "no record number, found one"));
  }
  Piece piece;
  piece.empty = true;
  if (data != nullptr) keep_error([&] { piece = make_piece(v, record, block, data, type); });
  const auto elements = static_cast<std::int64_t>(piece.elements());
  const std::int64_t bytes = elements * static_cast<std::int64_t>(bytes_of(variable.type));
  timed(Phase::post, [&] {
    keep_error([&] { m_format->post(v, piece); });
    write_behind(bytes);
  });
  m_put[v] += elements;
  m_statistics[Phase::post].bytes += bytes;
  m_total[Phase::post].bytes += bytes;
  if (has_records) m_records = std::max(m_records, static_cast<std::int64_t>(record) + 1);
}

/// While the next values are computed, copied and moved, the disk may as well write what the system has: told after every 64 MiB
/// of this rank, so that fsync at the end finds little to do.
void File::write_behind(std::int64_t bytes) {
  constexpr std::int64_t enough = 64 << 20;
  m_unwritten += bytes;
  if (m_unwritten < enough) return;
  m_unwritten = 0;
  for (const Part& part : m_format->parts()) {
    if (part.owner == Part::shared || part.owner == m_rank) start_writeback(m_temporary + part.suffix);
  }
}

void File::put_all(const std::string& name, std::size_t record, std::size_t size, const std::byte* data, Type type) {
  const Variable& variable = m_schema.variables[variable_number(name)];
  Block block;
  block.count = m_schema.shape(variable);
  if (m_schema.has_records(variable)) block.count.erase(block.count.begin());
  block.start.assign(block.count.size(), 0);
  std::size_t expected = 1;
  for (const std::size_t c : block.count) expected *= c;
  if (size != expected) {
    fail("variable '" + name + "': expected " + std::to_string(expected) + " values, found " + std::to_string(size));
  }
  put(name, record, block, m_rank == 0 ? data : nullptr, type);
}

void File::wait() {
  together(Phase::wait, [&] { m_format->wait(); });
}

/// See FileOptions: so many more records, and half as many again as the last commit had.
bool File::is_time_to_commit() const {
  const std::int64_t every = m_file_options.commit_every, more = m_ended - m_committed;
  return m_file_options.kind == FileKind::append && every > 0 && more >= every && 2 * more >= m_committed &&
         !m_format->parts().empty() && m_format->parts().front().owner == Part::shared; // pieces cannot be replaced all at once
}

void File::end_record(std::int64_t step) {
  wait();
  m_ended += 1;
  if (!is_time_to_commit()) return;
  m_committed = m_ended;
  check_complete();
  together(Phase::flush, [&] { m_format->flush(); });
  const std::string copied = m_path + commit_suffix;
  try {
    copy(copied);
    commit(copied, step);
  } catch (const Error&) { // on all ranks
    for (const Part& part : my_parts()) std::remove((copied + part.suffix).c_str());
    throw;
  }
}

/// The files that this rank takes care of: its own, and on rank 0 those that are shared.
std::vector<Part> File::my_parts() const {
  std::vector<Part> mine;
  for (const Part& part : m_format->parts()) {
    if (m_rank == std::max(part.owner, 0)) mine.push_back(part);
  }
  return mine;
}

void File::copy(const std::string& to) {
  Statistics copied;
  together(Phase::copy, [&] {
    for (const Part& part : my_parts()) {
      copied.work.written_bytes += static_cast<std::int64_t>(copy_file(m_temporary + part.suffix, to + part.suffix));
      copied.work.written_operations += 1;
    }
  });
  copied[Phase::copy].bytes = copied.work.written_bytes;
  m_statistics += copied;
  m_total += copied;
}

void File::sync() {
  wait();
  together(Phase::flush, [&] { m_format->flush(); });
}

void File::close(std::int64_t step) {
  wait();
  check_complete();
  together(Phase::close, [&] { m_format->close(); });
  m_closed = true;
  if (!m_format->parts().empty()) commit(m_temporary, step);
}

/// `temporary` (and its suffixes) is complete and closed: make it durable under its final name. While the system writes it to
/// the disk, all ranks read it once more, each its share, for the checksum. Then fsync on every node: on a parallel file system
/// each has written data of its own that the others cannot flush.
void File::commit(const std::string& temporary, std::int64_t step) {
  const std::vector<Part> parts = m_format->parts();
  SharedChecksums checksums(m_comm, temporary, parts);
  together(Phase::checksum, [&] {
    for (const Part& part : my_parts()) {
      zero_padding(temporary + part.suffix);
      start_writeback(temporary + part.suffix);
    }
    checksums.measure();
  });
  checksums.share_sizes();
  Statistics read;
  together(Phase::checksum, [&] { read[Phase::checksum].bytes = checksums.read(); });
  m_statistics += read;
  m_total += read;
  const std::vector<ManifestEntry> entries = checksums.gather();
  together(Phase::fsync, [&] {
    for (const Part& part : parts) {
      if (part.owner == m_rank || (part.owner == Part::shared && m_machine.is_first(m_rank))) fsync_path(temporary + part.suffix);
    }
  });
  together(Phase::fsync, [&] {
    if (m_rank != 0) return;
    std::vector<Commit> files;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      files.push_back({temporary + parts[p].suffix, m_path + parts[p].suffix, entries[p]});
      files.back().entry.step = step;
      files.back().entry.records = m_records;
    }
    commit_files(files);
  });
}

void File::check_complete() const {
  std::vector<std::int64_t> put = m_put;
  MPI_Allreduce(MPI_IN_PLACE, put.data(), static_cast<int>(put.size()), MPI_INT64_T, MPI_SUM, m_comm);
  for (std::size_t v = 0; v < put.size(); ++v) {
    const Variable& variable = m_schema.variables[v];
    std::int64_t expected = 1;
    for (const std::size_t length : m_schema.shape(variable))
      expected *= length == unlimited ? m_records : static_cast<std::int64_t>(length);
    if (put[v] != expected) {
      fail("variable '" + variable.name + "': expected " + std::to_string(expected) + " values in " + std::to_string(m_records) +
           " record(s), found that " + std::to_string(put[v]) + " have been put");
    }
  }
}

} // namespace nunatak::io
