#include "io/layouts/repeats.hpp"

#include <cstring>
#include <limits>

namespace nunatak::io {

namespace {

constexpr std::size_t word = repeat_room, least_repeats = 4;

std::uint64_t load(const std::byte* at) {
  std::uint64_t value = 0;
  std::memcpy(&value, at, word);
  return value;
}

void store(std::byte* at, std::uint64_t value) { std::memcpy(at, &value, word); }

/// How often the word at `at` comes before another one does.
std::size_t repeats(const std::byte* at, const std::byte* end) {
  const std::uint64_t first = load(at);
  const std::byte* next = at + word;
  while (next != end && load(next) == first) next += word;
  return static_cast<std::size_t>(next - at) / word;
}

} // namespace

Message shorten(Message message) {
  if (message.size / word > std::numeric_limits<std::uint32_t>::max()) return message;
  const std::byte *from = message.data, *const end = from + message.size;
  std::byte *const begin = message.data - word, *to = begin;
  while (from != end) {
    const std::byte* repeated = from;
    std::size_t times = 0;
    while (repeated != end && (times = repeats(repeated, end)) < least_repeats)
      repeated += times * word;
    if (repeated == end && to == begin) return message;
    const auto size = static_cast<std::size_t>(repeated - from);
    const std::uint64_t value = repeated == end ? 0 : load(repeated);
    store(to, size / word | (repeated == end ? 0 : times << 32));
    if (to + word != from) std::memmove(to + word, from, size);
    to += word + size, from = repeated;
    if (repeated == end) break;
    store(to, value);
    to += word, from += times * word;
  }
  message.sent = static_cast<std::size_t>(to - begin);
  message.data = begin;
  return message;
}

void restore(const Message& message) {
  if (message.sent == message.size) return;
  const std::byte* const end = message.data + message.size + word;
  const std::byte* from = end - message.sent;
  std::memmove(message.data + message.size + word - message.sent, message.data, message.sent);
  // What is still to be read has at most one word more than what is still to be written, so that it
  // is never overwritten.
  for (std::byte* to = message.data; from != end;) {
    const std::uint64_t numbers = load(from);
    const std::size_t size = (numbers & 0xffffffffu) * word;
    std::memmove(to, from + word, size);
    to += size, from += word + size;
    if (numbers >> 32 == 0) continue;
    const std::uint64_t value = load(from);
    from += word;
    for (std::uint64_t n = 0; n < numbers >> 32; ++n, to += word) store(to, value);
  }
}

} // namespace nunatak::io
