// The messages to the servers: their serialisation (numbers, texts, lists, a schema), and what is
// cut into them, which is the same on clients, on servers and in a plan (plan.hpp).
//
//   values:   batch | v, record, b | box, values | box, values | ...
// Box b of the server; each box and its values begin at a multiple of 8 bytes.
#pragma once

#include "io/layouts/partition.hpp"
#include "io/options.hpp"
#include "io/pack.hpp"

#include <cstddef>
#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace nunatak::io {

using Bytes = std::vector<std::byte>;

/// A variable (its number) and one of its records.
struct Key {
  std::size_t v, record;
  bool operator==(const Key& other) const { return v == other.v && record == other.record; }
  bool operator<(const Key& other) const {
    return v != other.v ? v < other.v : record < other.record;
  }
};

/// Where values of a message belong: variable, record, and which of the server's boxes.
struct Place {
  std::size_t v, record, b;
};

/// The members of what a message may hold, in their order in it.
inline auto members(const Box& b) { return std::tie(b.start, b.count); }
inline auto members(const Dimension& d) { return std::tie(d.name, d.length, d.distributed); }
inline auto members(const Variable& v) {
  return std::tie(v.name, v.type, v.dimensions, v.attributes);
}
inline auto members(const Schema& s) { return std::tie(s.dimensions, s.variables, s.attributes); }

template <class T, class = void> constexpr bool has_members = false;
template <class T>
constexpr bool has_members<T, std::void_t<decltype(members(std::declval<const T&>()))>> = true;

class Packer {
public:
  template <class... T> explicit Packer(const T&... values) { (add(values), ...); }
  template <class T> void add(const T& value) {
    if constexpr (has_members<T>) {
      std::apply([this](const auto&... of) { (add(of), ...); }, members(value));
    } else {
      static_assert(std::is_trivially_copyable_v<T>);
      add(&value, sizeof value);
    }
  }
  void add(const std::string& text) {
    add(text.size());
    add(text.data(), text.size());
  }
  template <class T> void add(const std::vector<T>& values) {
    add(values.size());
    for (const T& value : values) add(value);
  }
  void add(const Indices& values) { add(std::vector<std::size_t>(values.begin(), values.end())); }
  void add(const Attribute& attribute) {
    add(attribute.name);
    add(attribute.value.index());
    std::visit([&](const auto& value) { add(value); }, attribute.value);
  }

  const Bytes& bytes() const { return m_bytes; }

private:
  void add(const void* from, std::size_t size) {
    const std::size_t before = m_bytes.size();
    m_bytes.resize(before + size);
    if (size > 0) std::memcpy(m_bytes.data() + before, from, size);
  }
  Bytes m_bytes;
};

/// Reads what a Packer has added, in the same order.
class Unpacker {
public:
  explicit Unpacker(const std::byte* bytes) : m_next(bytes) {}

  template <class T> T take() {
    T value{};
    if constexpr (has_members<T>) {
      const auto set = [this](const auto& of) { // of value
        using Member = std::decay_t<decltype(of)>;
        const_cast<Member&>(of) = take<Member>();
      };
      std::apply([&](const auto&... of) { (set(of), ...); }, members(value));
    } else if constexpr (std::is_same_v<T, Indices>) {
      value = take<std::vector<std::size_t>>();
    } else if constexpr (std::is_trivially_copyable_v<T>) {
      std::memcpy(static_cast<void*>(&value), m_next, sizeof value);
      m_next += sizeof value;
    } else {
      take(value);
    }
    return value;
  }
  const std::byte* rest() const { return m_next; }
  void skip(std::size_t bytes) { m_next += bytes; }

private:
  void take(std::string& text) {
    const auto size = take<std::size_t>();
    text.assign(reinterpret_cast<const char*>(m_next), size);
    m_next += size;
  }
  void take(std::vector<Attribute>& attributes) {
    for (auto n = take<std::size_t>(); n > 0; --n) {
      auto& attribute = attributes.emplace_back(take<std::string>(), "");
      take_value<0>(take<std::size_t>(), attribute.value);
    }
  }
  /// A value of the type with this number in the variant.
  template <std::size_t n> void take_value(std::size_t number, Attribute::Value& value) {
    if (n == number) value = take<std::variant_alternative_t<n, Attribute::Value>>();
    if constexpr (n + 1 < std::variant_size_v<Attribute::Value>) take_value<n + 1>(number, value);
  }
  template <class T> void take(std::vector<T>& values) {
    values.resize(take<std::size_t>());
    for (T& value : values) value = take<T>();
  }
  const std::byte* m_next;
};

/// What each of `n` servers writes of variable v.
Boxes server_boxes(const Options& options, const Schema& schema, std::size_t v, std::size_t n);

/// Bytes of a variable that come to each server: those of its boxes.
std::vector<std::size_t> server_bytes(const Boxes& boxes, Type type);

/// A batch, of which each server gets `share` bytes, ends before a variable of which each gets
/// `more`: else one would get more than `buffer` (-io_buffer).
bool ends_before(const std::vector<std::size_t>& share, const std::vector<std::size_t>& more,
                 std::size_t buffer);

/// `whole` in boxes of one message each: at most 4 MiB and a quarter of the ring (`pool` bytes).
std::vector<Box> message_boxes(const Box& whole, Type type, std::size_t pool);
/// What precedes the values of the first box: a multiple of 8 bytes.
Bytes message_head(int batch, const Place& place, const Box& box);
/// Appends a small hyperslab to a message for the same place, or begins one. False if the message
/// would become too long.
bool join_message(Bytes& message, int batch, const Place& place, const Hyperslab& slab, Type type,
                  std::size_t pool);

} // namespace nunatak::io
