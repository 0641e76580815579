// What a server takes from the ranks that compute, in any order, and at any time. See serve.hpp.
#include "io/async/serve.hpp"

#include <algorithm>
#include <chrono>
#include <future>

namespace nunatak::io {

bool Server::take() {
  return m_inbox.poll([this](int number, const std::byte* message) {
    if (!m_has_failed) place(m_batches.at(number), message);
  });
}

/// The same while a disk is waited for: the next batch is begun before its action is executed, and
/// another one if the open ones have ended and are small.
bool Server::take_ahead() {
  constexpr std::size_t small = 1 << 20; // bytes
  const bool has_taken = take();
  std::size_t ended = 0, bytes = 0; // of the open batches
  for (const Bytes& action : m_inbox.actions()) {
    Unpacker from(action.data());
    const auto what = from.take<Action>();
    if (what == Action::writer) break; // what comes after it needs its options
    if (what == Action::open) announce(from);
    if (what == Action::begin_batch) {
      const int number = from.take<int>();
      const bool is_open = m_batches.count(number) > 0;
      if (!is_open && (ended < m_batches.size() || bytes > small)) break;
      begin_batch(number, from.take<int>());
    }
    if (what == Action::end_batch) {
      const Batch& batch = m_batches.at(from.take<int>());
      ended += 1;
      for (const Key& key : from.take<std::vector<Key>>())
        bytes += bytes_here(m_files.at(batch.file), key.v);
    }
  }
  return has_taken;
}

void call_in_thread(std::size_t bytes, const std::function<void()>& call,
                    const std::function<bool()>& take) {
  using Microseconds = std::chrono::microseconds;
  constexpr std::size_t smallest = 1 << 20;
  if (bytes < smallest) return call();
  // the destructor waits for the call if take() throws
  std::future<void> done = std::async(std::launch::async, call);
  constexpr Microseconds shortest(20), longest(2000);
  for (Microseconds nap = shortest; done.wait_for(nap) != std::future_status::ready;)
    nap = take() ? shortest : std::min(2 * nap, longest);
  done.get();
}

/// Of a variable.
std::size_t Server::bytes_here(const OpenFile& file, std::size_t v) const {
  return elements_of(file.boxes[v][me()]) * bytes_of(file.schema.variables[v].type);
}

/// Its values are taken from now on, if they are not already. Local.
void Server::begin_batch(int number, int file) {
  const auto [batch, is_new] = m_batches.try_emplace(number);
  if (!is_new) return;
  batch->second.file = file;
  m_inbox.open_batch(number);
}

/// What is needed to take the values of a file, if it is not known already. Local.
Server::OpenFile& Server::announce(Unpacker& from) {
  const auto [file, is_new] = m_files.try_emplace(from.take<int>());
  OpenFile& opened = file->second;
  if (!is_new) return opened;
  opened.writer = from.take<int>();
  opened.path = from.take<std::string>();
  opened.options = from.take<FileOptions>();
  opened.options.sums_are_given = true;
  opened.schema = from.take<Schema>();
  for (std::size_t v = 0; v < opened.schema.variables.size(); ++v) {
    opened.boxes.push_back(server_boxes(m_writers.at(opened.writer).options, opened.schema, v,
                                        static_cast<std::size_t>(m_size)));
  }
  return opened;
}

Server::Assembled& Server::part_of_batch(Batch& batch, const Key& key) {
  const auto [found, is_new] = batch.parts.try_emplace(key);
  if (!is_new) return found->second;
  found->second.values.of_size(bytes_here(m_files.at(batch.file), key.v));
  return found->second;
}

/// Copy the values of a message to where they belong.
void Server::place(Batch& batch, const std::byte* message) {
  Unpacker from(message);
  from.take<int>(); // so that the rest lies at multiples of 8 bytes
  const auto v = from.take<std::size_t>(), record = from.take<std::size_t>(),
             b = from.take<std::size_t>();
  const auto region = from.take<Box>();
  const OpenFile& file = m_files.at(batch.file);
  const std::size_t bytes = bytes_of(file.schema.variables[v].type);
  const std::vector<Box>& boxes = file.boxes[v][me()];
  std::size_t before = 0; // elements of the boxes before this one
  for (std::size_t k = 0; k < b; ++k) before += boxes[k].elements();
  Assembled& part = part_of_batch(batch, {v, record});
  copy(region, region, from.rest(), boxes[b], part.values.data() + before * bytes, bytes);
  part.elements += region.elements();
}

} // namespace nunatak::io
