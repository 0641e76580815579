// Serialisation of the messages to the servers: numbers, texts, lists, a schema.
#pragma once

#include "io/box.hpp"
#include "io/schema.hpp"

#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>
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

class Packer {
public:
  template <class T> Packer& add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    return add(&value, sizeof value);
  }
  Packer& add(const std::string& text) { return add(text.size()).add(text.data(), text.size()); }
  template <class T> Packer& add(const std::vector<T>& values) {
    add(values.size());
    for (const T& value : values) add(value);
    return *this;
  }
  Packer& add(const Box& box) { return add(box.start).add(box.count); }
  Packer& add(const Attribute& attribute) {
    add(attribute.name).add(attribute.value.index());
    std::visit([&](const auto& value) { add(value); }, attribute.value);
    return *this;
  }
  Packer& add(const Dimension& d) { return add(d.name).add(d.length).add(d.distributed); }
  Packer& add(const Variable& v) {
    return add(v.name).add(v.type).add(v.dimensions).add(v.attributes);
  }
  Packer& add(const Schema& s) { return add(s.dimensions).add(s.variables).add(s.attributes); }

  const Bytes& bytes() const { return m_bytes; }

private:
  Packer& add(const void* from, std::size_t size) {
    const std::size_t before = m_bytes.size();
    m_bytes.resize(before + size);
    if (size > 0) std::memcpy(m_bytes.data() + before, from, size);
    return *this;
  }
  Bytes m_bytes;
};

/// Reads what a Packer has added, in the same order.
class Unpacker {
public:
  explicit Unpacker(const std::byte* bytes) : m_next(bytes) {}

  template <class T> T take() {
    T value{};
    if constexpr (std::is_trivially_copyable_v<T>) {
      std::memcpy(static_cast<void*>(&value), m_next, sizeof value);
      m_next += sizeof value;
    } else {
      take(value);
    }
    return value;
  }
  const std::byte* rest() const { return m_next; }

private:
  void take(std::string& text) {
    const auto size = take<std::size_t>();
    text.assign(reinterpret_cast<const char*>(m_next), size);
    m_next += size;
  }
  void take(Box& box) {
    box.start = take<std::vector<std::size_t>>();
    box.count = take<std::vector<std::size_t>>();
  }
  void take(Dimension& d) {
    d.name = take<std::string>();
    d.length = take<std::size_t>();
    d.distributed = take<bool>();
  }
  void take(Variable& v) {
    v.name = take<std::string>();
    v.type = take<Type>();
    v.dimensions = take<std::vector<std::string>>();
    take(v.attributes);
  }
  void take(Schema& s) {
    s.dimensions = take<std::vector<Dimension>>();
    s.variables = take<std::vector<Variable>>();
    take(s.attributes);
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

} // namespace nunatak::io
