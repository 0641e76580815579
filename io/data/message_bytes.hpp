// Bytes of a message: numbers, texts, lists, boxes, a schema, as they lie in memory.
#pragma once

#include "io/base/agree.hpp"
#include "io/data/box.hpp"
#include "io/data/schema.hpp"

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

/// The members of what a message may hold, in their order in it.
inline auto members(const Box& b) { return std::tie(b.start, b.count); }
inline auto members(const Dimension& d) {
  return std::tie(d.name, d.length, d.distributed, d.records);
}
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

/// Gives the value of rank 0 to every rank. Collective: two broadcasts.
template <class T> void broadcast_value(T& value, MPI_Comm comm) {
  std::string message;
  const bool is_root = rank_in(comm) == 0;
  if (is_root) {
    const Bytes bytes = Packer(value).bytes();
    message.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  broadcast(message, comm);
  if (!is_root) value = Unpacker(reinterpret_cast<const std::byte*>(message.data())).take<T>();
}

} // namespace nunatak::io
