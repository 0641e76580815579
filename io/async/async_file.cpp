#include "io/async/async_file.hpp"

#include "io/async/serve.hpp"

#include <algorithm>

namespace nunatak::io {

AsyncFile::AsyncFile(MPI_Comm comm, const std::string& path, const Schema& schema,
                     FileOptions options, bool makes_sums, Client& client, Statistics& total)
    : File(comm, path, schema, options, makes_sums, total), m_client(client),
      m_group(client.servers().group_of(options.kind)), m_number(client.servers().next_number()) {
  const std::size_t n = client.servers().group(m_group).size();
  for (std::size_t v = 0; v < schema.variables.size(); ++v) {
    m_boxes.push_back(server_boxes(client.options(), schema, v, n));
    m_bytes.push_back(server_bytes(m_boxes.back(), schema.variables[v].type));
  }
  m_last.resize(schema.variables.size());
  m_share.assign(n, 0);
  m_messages.assign(n, 0);
  m_joined.resize(n);
  act(Packer(Action::open, m_number, client.number(), path, options, schema));
  if (!options.continues) return;
  Opened opened;
  timed(Phase::open, [&] { opened = client.wait_for_open(); });
  opened.is_continued ? begin_with_kept_records() : begin_anew(opened.why_anew);
}

AsyncFile::~AsyncFile() {
  if (m_is_closed) return;
  end_batch();
  act(Packer(Action::abandon, m_number));
}

void AsyncFile::act(const Packer& action) { m_client.servers().act(m_group, action); }

/// A batch ends before a server would get more than -io_buffer; a variable and record is not split.
void AsyncFile::join_batch(std::size_t v, std::size_t record) {
  if (std::find(m_keys.begin(), m_keys.end(), Key{v, record}) != m_keys.end()) return;
  if (m_last[v] == record) {
    throw Error("file '" + path() + "': variable '" + schema().variables[v].name +
                "': expected all puts of its values one after " + "the other (transport " +
                m_client.options().transport + "), found one more after others had been sent");
  }
  if (ends_before(m_share, m_bytes[v], m_client.options().batch_bytes())) end_batch();
  if (m_batch < 0) {
    m_batch = m_client.servers().next_batch();
    act(Packer(Action::begin_batch, m_batch, m_number));
  }
  m_keys.push_back({v, record});
  if (sums()) m_sums.push_back(0);
  for (std::size_t s = 0; s < m_share.size(); ++s) m_share[s] += m_bytes[v][s];
}

void AsyncFile::end_batch() {
  if (m_batch < 0) return;
  for (std::size_t s = 0; s < m_joined.size(); ++s) send_joined(s);
  m_client.end_batch(m_group, m_batch, m_messages, m_sums);
  act(Packer(Action::end_batch, m_batch, m_keys));
  for (const Key& key : m_keys) m_last[key.v] = key.record;
  m_batch = -1;
  m_keys.clear();
  m_sums.clear();
  std::fill(m_share.begin(), m_share.end(), 0);
  std::fill(m_messages.begin(), m_messages.end(), 0);
}

/// Adds a hyperslab to the message for others of its variable, record and box; false if it is long.
bool AsyncFile::join(std::size_t s, const std::array<std::size_t, 3>& place,
                     const Hyperslab& part) {
  const auto [v, record, b] = place;
  const auto add = [&, v = v, record = record, b = b] {
    return join_message(m_joined[s].message, m_batch, v, record, b, part, record != no_record,
                        schema().variables[v].type, m_client.ring().size());
  };
  if (m_joined[s].place == place && add()) return true;
  send_joined(s);
  m_joined[s].place = place;
  return add();
}

void AsyncFile::send_joined(std::size_t s) {
  Bytes& message = m_joined[s].message;
  if (message.empty()) return;
  m_client.send(m_group, static_cast<int>(s), m_batch, message);
  m_messages[s] += 1;
  m_work.messages += 1;
  m_work.message_bytes += static_cast<std::int64_t>(message.size());
  message.clear();
}

void AsyncFile::write_slab(std::size_t v, std::size_t record, const Hyperslab& slab) {
  join_batch(v, record);
  if (slab.elements() == 0) return;
  const double stalled = m_client.ring().stall_seconds();
  for (std::size_t s = 0; s < m_boxes[v].size(); ++s) {
    for (std::size_t b = 0; b < m_boxes[v][s].size(); ++b) {
      const Hyperslab part = slice(slab, m_boxes[v][s][b]);
      if (part.elements() == 0) continue;
      if (slab.of > 1 && join(s, {v, record, b}, part)) continue; // sent with others
      const std::int64_t sent =
          m_client.send(m_group, static_cast<int>(s), m_batch, v, record, b, part,
                        schema().variables[v].type, m_work.message_bytes);
      m_messages[s] += sent;
      m_work.messages += sent;
    }
  }
  m_work.stall_seconds += m_client.ring().stall_seconds() - stalled;
}

/// Adds to the sum of the last put, whose key is in the batch.
void AsyncFile::add_sum(std::size_t v, std::size_t record, std::uint64_t sum) {
  const auto key = std::find(m_keys.begin(), m_keys.end(), Key{v, record});
  if (key != m_keys.end()) m_sums[static_cast<std::size_t>(key - m_keys.begin())] += sum;
}

void AsyncFile::finish_record(std::int64_t step) {
  timed(Phase::wait, [&] {
    end_batch();
    act(Packer(Action::end_record, m_number, step));
    m_client.agree_late(error());
  });
}

void AsyncFile::commit_records(std::int64_t step) {
  act(Packer(Action::commit, m_number, step));
  m_client.servers().expect_mark(m_group);
}

void AsyncFile::close_and_commit(std::int64_t step) {
  timed(Phase::close, [&] {
    end_batch();
    m_client.agree_late(error());
    act(Packer(Action::close, m_client.servers().marks(m_group), m_number, time_of_day(), step));
    m_client.servers().expect_mark(m_group);
  });
  m_is_closed = true;
}

} // namespace nunatak::io
