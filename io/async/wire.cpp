#include "io/async/wire.hpp"

#include <variant>

namespace nunatak::io {

namespace {

void add_attributes(Packer& packer, const std::vector<Attribute>& attributes) {
  packer.add(attributes.size());
  for (const Attribute& attribute : attributes) {
    packer.add(attribute.name).add(attribute.value.index());
    std::visit([&](const auto& value) { packer.add(value); }, attribute.value);
  }
}

/// The n-th alternative of an attribute's value.
template <std::size_t N = 0> Attribute::Value take_value(Unpacker& from, std::size_t n) {
  if constexpr (N + 1 < std::variant_size_v<Attribute::Value>) {
    if (n > N) return take_value<N + 1>(from, n);
  }
  return from.take<std::variant_alternative_t<N, Attribute::Value>>();
}

} // namespace

Packer& Packer::add(const Schema& schema) {
  add(schema.dimensions.size());
  for (const Dimension& d : schema.dimensions) add(d.name).add(d.length).add(d.distributed);
  add(schema.variables.size());
  for (const Variable& v : schema.variables) {
    add(v.name).add(v.type).add(v.dimensions);
    add_attributes(*this, v.attributes);
  }
  add_attributes(*this, schema.attributes);
  return *this;
}

void Unpacker::take(std::string& text) {
  const auto size = take<std::size_t>();
  text.assign(reinterpret_cast<const char*>(m_next), size);
  m_next += size;
}

void Unpacker::take(Box& box) {
  box.start = take<std::vector<std::size_t>>();
  box.count = take<std::vector<std::size_t>>();
}

std::vector<Attribute> Unpacker::take_attributes() {
  std::vector<Attribute> attributes;
  for (auto n = take<std::size_t>(); n > 0; --n) {
    auto name = take<std::string>();
    attributes.emplace_back(std::move(name), std::string());
    attributes.back().value = take_value(*this, take<std::size_t>());
  }
  return attributes;
}

void Unpacker::take(Schema& schema) {
  schema.dimensions.resize(take<std::size_t>());
  for (Dimension& d : schema.dimensions) {
    d.name = take<std::string>();
    d.length = take<std::size_t>();
    d.distributed = take<bool>();
  }
  schema.variables.resize(take<std::size_t>());
  for (Variable& v : schema.variables) {
    v.name = take<std::string>();
    v.type = take<Type>();
    v.dimensions = take<std::vector<std::string>>();
    v.attributes = take_attributes();
  }
  schema.attributes = take_attributes();
}

} // namespace nunatak::io
