#include "io/write/file.hpp"

#include "common/names.hpp"
#include "common/text.hpp"

#include <algorithm>
#include <filesystem>
#include <new>
#include <stdexcept>

namespace nunatak::io {

File::File(NewFile file)
    : m_comm(file.comm), m_options(file.options), m_path(std::move(file.path)),
      m_schema(std::move(file.schema)), m_put(m_schema.variables.size(), 0),
      m_committed(m_options.kept_records), m_total(file.total) {
  if (file.makes_sums) m_sums.emplace(m_schema);
  try {
    m_schema.validate();
  } catch (const Error& e) {
    fail(e.what());
  }
}

void File::begin_with_kept_records() {
  m_is_continued = true;
  m_records = m_ended = m_committed = m_options.kept_records;
  if (m_sums) m_sums->forget(static_cast<std::size_t>(m_records));
  for (std::size_t v = 0; v < m_put.size() && m_rank == 0; ++v)
    m_put[v] = elements_of(m_schema.variables[v]);
}

/// Elements in all records so far.
std::int64_t File::elements_of(const Variable& variable) const {
  std::int64_t elements = 1;
  for (const std::size_t length : m_schema.shape(variable))
    elements *= length == unlimited ? m_records : static_cast<std::int64_t>(length);
  return elements;
}

void File::fail(const std::string& what) const { throw Error("file '" + m_path + "': " + what); }

void File::add(const Statistics& step) {
  m_statistics += step;
  m_total += step;
}

/// Add the time since `start`, except the exchange of a layout, and the work done in it.
void File::add_time(Phase phase, double start) {
  const Work before = m_work;
  m_work = work();
  Statistics step;
  step.work = m_work - before;
  step[phase].seconds = MPI_Wtime() - start - step.work.exchange_seconds - step.work.stall_seconds;
  step[phase].operations = 1;
  if (step.work.exchange_seconds > 0.0)
    step[Phase::exchange] = {step.work.exchange_seconds, step.work.message_bytes, 1};
  if (step.work.stall_seconds > 0.0) step[Phase::stall] = {step.work.stall_seconds, 0, 1};
  add(step);
}

void File::check_name() const {
  std::error_code none;
  const auto status = std::filesystem::status(m_path, none);
  if (std::filesystem::is_directory(status)) fail("expected the name of a file, found a folder");
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    fail("expected the name of a file, found something there that is not a regular file");
  }
  require_name(m_path, longest_suffix, "file '" + printable(m_path) + "': ");
}

std::size_t File::variable_number(const std::string& name) {
  try {
    return m_schema.variable(name);
  } catch (const Error& e) {
    fail(e.what());
  }
}

/// Errors here are the same on every rank.
void File::check_put(const Variable& variable, std::size_t record, Type type) const {
  const std::string what = "variable '" + variable.name + "': expected ";
  if (m_closed) fail(what + "an open file, found it closed");
  if (type != variable.type && !(type == Type::float64 && variable.type == Type::float32)) {
    fail(what + "values of type " + name_of(variable.type) + ", found " + name_of(type));
  }
  const bool has_records = m_schema.has_records(variable);
  if (has_records != (record != no_record)) {
    fail(what + (has_records ? "a record number, found none" : "no record number, found one"));
  }
  if (m_is_continued &&
      (!has_records || static_cast<std::int64_t>(record) < m_options.kept_records))
    fail(what + "a record from " + std::to_string(m_options.kept_records) +
         " on: those before are kept");
}

Hyperslab File::make_slab(const Variable& variable, const Indices& shape, const Block& block,
                          const std::byte* data, Type type) const {
  const std::size_t lead = variable.dimensions.size() - shape.size(); // the record
  Hyperslab slab{
      {block.start, block.count}, block.stride, data + block.offset * bytes_of(type), type};
  if (block.start.size() != shape.size() || block.count.size() != shape.size() ||
      (!block.stride.empty() && block.stride.size() != shape.size())) {
    fail("variable '" + variable.name + "': expected a block with start, count and stride of " +
         std::to_string(shape.size()) + " dimensions, found " + std::to_string(block.start.size()) +
         ", " + std::to_string(block.count.size()) + " and " + std::to_string(block.stride.size()));
  }
  const bool empty = std::find(block.count.begin(), block.count.end(), 0) != block.count.end();
  for (std::size_t d = 0; d < block.count.size() && !empty; ++d) {
    if (block.start[d] > shape[d] || block.count[d] > shape[d] - block.start[d]) {
      fail("variable '" + variable.name + "', dimension '" + variable.dimensions[d + lead] +
           "': expected a block within 0.." + std::to_string(shape[d]) + ", found " +
           std::to_string(block.start[d]) + ".." + std::to_string(block.start[d] + block.count[d]));
    }
  }
  if (!block.scale.is_one() && type != Type::float64)
    fail("variable '" + variable.name + "': expected values of type float64 to be scaled, found " +
         name_of(type));
  slab.scale = block.scale;
  if (slab.stride.empty()) slab.stride = contiguous_strides(block.count);
  return slab;
}

void File::put_blocks(const std::string& name, std::size_t record, const std::vector<Block>& blocks,
                      const std::byte* data, Type type) {
  const std::size_t v = variable_number(name);
  const Variable& variable = m_schema.variables[v];
  check_put(variable, record, type);
  if (record != no_record && static_cast<std::int64_t>(record) >= m_records) {
    m_records = static_cast<std::int64_t>(record) + 1;
    m_last_digest = 0;
    reserve(m_records);
  }
  Slabs slabs;
  slabs.reserve(blocks.size());
  const Indices shape = m_schema.record_shape(v);
  for (std::size_t b = 0; b < blocks.size() && data != nullptr; ++b)
    m_error.keep([&] { slabs.push_back(make_slab(variable, shape, blocks[b], data, type)); });
  slabs.resize(std::max<std::size_t>(1, blocks.size()), row_major({{0}, {0}}, nullptr, type));
  const auto write = [&](const Slabs& given) {
    timed(Phase::post, [&] {
      try {
        m_error.keep([&] { write_slabs(v, record, given); });
      } catch (const std::bad_alloc&) { // perhaps between two collective calls: aborts the run
        throw std::runtime_error("file '" + m_path + "': variable '" + name +
                                 "': out of memory for its values");
      }
    });
  };
  if (m_sums && !m_options.sums_are_given) {
    const std::uint64_t sum = summed(slabs, variable.type, shape, write);
    if (record != no_record) m_last_digest += share_in_digest(name, no_record, sum);
    add_sum(v, record, sum);
  } else {
    write(slabs);
  }
  std::int64_t elements = 0;
  for (const Hyperslab& slab : slabs) elements += static_cast<std::int64_t>(slab.elements());
  Statistics payload;
  payload[Phase::post].bytes = elements * static_cast<std::int64_t>(bytes_of(variable.type));
  add(payload);
  m_put[v] += elements;
}

void File::add_sum(std::size_t v, std::size_t record, std::uint64_t sum) {
  if (!m_sums) return;
  m_sums->add(v, record, sum);
  m_digest += share_in_digest(m_schema.variables[v].name, record, sum);
}

std::uint64_t File::digest_of_last_record() const {
  std::uint64_t digest = m_last_digest;
  MPI_Allreduce(MPI_IN_PLACE, &digest, 1, MPI_UINT64_T, MPI_SUM, m_comm);
  return digest;
}

void File::put_all(const std::string& name, std::size_t record, std::size_t size,
                   const std::byte* data, Type type) {
  Block block;
  block.count = m_schema.record_shape(variable_number(name));
  block.start.assign(block.count.size(), 0);
  const std::size_t expected = Box{block.start, block.count}.elements();
  if (size != expected) {
    fail("variable '" + name + "': expected " + std::to_string(expected) + " values, found " +
         std::to_string(size));
  }
  put(name, record, block, m_rank == 0 ? data : nullptr, type);
}

bool File::is_time_to_commit() const { return m_ended - m_committed >= *m_options.commit_every; }

void File::end_record(std::int64_t step) {
  finish_record(step);
  m_ended += 1;
  if (grows() && is_time_to_commit()) commit(step);
}

bool File::grows() const { return m_options.commit_every > 0 && can_commit_records(); }

void File::commit(std::int64_t step) {
  if (m_closed || !m_options.commit_every || m_ended <= m_committed) return;
  m_committed = m_ended;
  grows() ? commit_records(step) : save_records(step);
}

void File::close(std::int64_t step) {
  m_closed = true;
  close_and_commit(step);
}

void File::check_complete() const {
  std::vector<std::int64_t> put = m_put;
  MPI_Allreduce(MPI_IN_PLACE, put.data(), static_cast<int>(put.size()), MPI_INT64_T, MPI_SUM,
                m_comm);
  for (std::size_t v = 0; v < put.size(); ++v) {
    const Variable& variable = m_schema.variables[v];
    const std::int64_t expected = elements_of(variable);
    if (put[v] != expected) {
      fail("variable '" + variable.name + "': expected " + std::to_string(expected) +
           " values in " + std::to_string(m_records) + " record(s), found that " +
           std::to_string(put[v]) + " have been put");
    }
  }
}

} // namespace nunatak::io
