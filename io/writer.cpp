// Checks, times and counts; makes files durable. See writer.hpp; the work is done by the formats (format.hpp).
#include "io/writer.hpp"

#include "io/classic_header.hpp"
#include "io/durable.hpp"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace nunatak::io {

namespace {

constexpr const char* commit_suffix = ".commit"; // of the copy that is about to be committed

} // namespace

std::unique_ptr<Writer> make_writer(MPI_Comm comm, const Options& options) {
  return std::make_unique<Writer>(comm, options, find_format(options));
}

std::unique_ptr<File> Writer::open(const std::string& path, const Schema& schema, FileOptions file_options) {
  return std::make_unique<File>(m_comm, path, schema, file_options, m_options, m_open, m_statistics);
}

/// Run f, add its time to `phase`.
template <class F> void File::timed(Phase phase, const F& f) {
  const double start = MPI_Wtime();
  f();
  const Written before = m_written;
  if (m_format) m_written = m_format->written();
  Statistics step;
  step[phase].seconds = MPI_Wtime() - start;
  step[phase].operations = 1;
  step.written_bytes = m_written.bytes - before.bytes;
  step.written_operations = m_written.operations - before.operations;
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

File::File(MPI_Comm comm, std::string path, Schema schema, FileOptions file_options, const Options& options, OpenFormat open,
           Statistics& total)
    : m_comm(comm), m_path(std::move(path)), m_temporary(m_path + ".tmp"), m_schema(std::move(schema)),
      m_file_options(file_options), m_put(m_schema.variables.size(), 0), m_total(total) {
  MPI_Comm_rank(comm, &m_rank);
  try {
    m_schema.validate();
  } catch (const Error& e) {
    fail(e.what());
  }
  agree(comm, [&] {
    if (m_rank == 0) check_name();
  });
  together(Phase::open, [&] { m_format = open(m_comm, m_temporary, options); });
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
                    longest = NAME_MAX - std::strlen(commit_suffix);
  if (length > longest) {
    fail("expected a file name of at most " + std::to_string(longest) + " characters, found " + std::to_string(length));
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
  const std::size_t v = m_schema.variable(name);
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
  timed(Phase::post, [&] { keep_error([&] { m_format->post(v, piece); }); });
  const auto elements = static_cast<std::int64_t>(piece.elements());
  const std::int64_t bytes = elements * static_cast<std::int64_t>(bytes_of(variable.type));
  m_put[v] += elements;
  m_statistics[Phase::post].bytes += bytes;
  m_total[Phase::post].bytes += bytes;
  if (has_records) m_records = std::max(m_records, static_cast<std::int64_t>(record) + 1);
}

void File::put_all(const std::string& name, std::size_t record, std::size_t size, const std::byte* data, Type type) {
  const Variable& variable = m_schema.variables[m_schema.variable(name)];
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
  return m_file_options.kind == FileKind::append && every > 0 && more >= every && 2 * more >= m_committed && m_format->has_file();
}

void File::end_record(std::int64_t step) {
  wait();
  m_ended += 1;
  if (!is_time_to_commit()) return;
  m_committed = m_ended;
  check_complete();
  together(Phase::flush, [&] { m_format->flush(); });
  const std::string copy = m_path + commit_suffix;
  Statistics copied;
  try {
    together(Phase::copy, [&] {
      if (m_rank != 0) return;
      copied[Phase::copy].bytes = static_cast<std::int64_t>(copy_file(m_temporary, copy));
      copied.written_bytes = copied[Phase::copy].bytes;
      copied.written_operations = 1;
    });
    m_statistics += copied;
    m_total += copied;
    commit(copy, step);
  } catch (const Error&) { // on all ranks
    if (m_rank == 0) std::remove(copy.c_str());
    throw;
  }
}

void File::sync() {
  wait();
  together(Phase::flush, [&] { m_format->flush(); });
}

void File::close(std::int64_t step) {
  wait();
  check_complete();
  together(Phase::flush, [&] { m_format->flush(); });
  together(Phase::close, [&] { m_format->close(); });
  m_closed = true;
  if (!m_format->has_file()) return;
  commit(m_temporary, step);
}

/// `temporary` is complete and closed: make it durable under its final name.
void File::commit(const std::string& temporary, std::int64_t step) {
  together(Phase::fsync, [&] {
    if (m_rank != 0) return;
    zero_padding(temporary);
    fsync_path(temporary);
  });
  ManifestEntry entry;
  together(Phase::checksum, [&] {
    if (m_rank == 0) entry = checksum_file(temporary);
  });
  m_statistics[Phase::checksum].bytes += static_cast<std::int64_t>(entry.size);
  m_total[Phase::checksum].bytes += static_cast<std::int64_t>(entry.size);
  entry.step = step;
  entry.records = m_records;
  together(Phase::fsync, [&] {
    if (m_rank == 0) commit_file(temporary, m_path, entry);
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
