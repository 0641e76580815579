// The contents of a file, declared before any value is written: dimensions, variables, attributes.
//
//   Schema s;
//   s.dimensions = {{"time", unlimited}, {"y", My}, {"x", Mx}};
//   s.variables = {{"thk", Type::float64, {"time", "y", "x"}, {{"units", "m"}}}};
//   s.attributes = {{"Conventions", "CF-1.8"}};
//
// Every rank holds the same schema. Neighbours: formats/format.hpp (writes it), read/contents.hpp.
#pragma once

#include "io/data/box.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace nunatak::io {

enum class Type { int8, int16, int32, int64, float32, float64 };

constexpr std::array<Type, 6> all_types = {Type::int8,  Type::int16,   Type::int32,
                                           Type::int64, Type::float32, Type::float64};

std::size_t bytes_of(Type type);
const char* name_of(Type type);

/// type_of<double>() == Type::float64
template <class T> constexpr Type type_of() {
  if constexpr (std::is_same_v<T, double>) {
    return Type::float64;
  } else if constexpr (std::is_same_v<T, float>) {
    return Type::float32;
  } else {
    static_assert(std::is_integral_v<T> && std::is_signed_v<T> && !std::is_same_v<T, bool>,
                  "expected int8_t, int16_t, int32_t, int64_t, float or double");
    if (sizeof(T) == 1) return Type::int8;
    if (sizeof(T) == 2) return Type::int16;
    return sizeof(T) == 4 ? Type::int32 : Type::int64;
  }
}

/// f(T{}), where T is the C++ type of `type`.
template <class F> auto with_type(Type type, const F& f) {
  if (type == Type::int8) return f(std::int8_t{});
  if (type == Type::int16) return f(std::int16_t{});
  if (type == Type::int32) return f(std::int32_t{});
  if (type == Type::int64) return f(std::int64_t{});
  if (type == Type::float32) return f(float{});
  return f(double{});
}

struct Attribute {
  using Value = std::variant<std::string, std::vector<std::int8_t>, std::vector<std::int16_t>,
                             std::vector<std::int32_t>, std::vector<std::int64_t>,
                             std::vector<float>, std::vector<double>>;
  std::string name;
  Value value;

  Attribute(std::string name_, const char* text)
      : name(std::move(name_)), value(std::string(text)) {}
  Attribute(std::string name_, std::string text) : name(std::move(name_)), value(std::move(text)) {}
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  Attribute(std::string name_, T number) : name(std::move(name_)), value(std::vector<T>{number}) {}
  template <class T>
  Attribute(std::string name_, std::vector<T> numbers)
      : name(std::move(name_)), value(std::move(numbers)) {}
  template <class T>
  Attribute(std::string name_, std::initializer_list<T> numbers)
      : name(std::move(name_)), value(std::vector<T>(numbers)) {}
};

/// The length of the one dimension that grows, record by record.
constexpr std::size_t unlimited = 0;

struct Dimension {
  std::string name;
  std::size_t length = unlimited;
  /// Cut among the ranks of the model: layouts cut it among aggregators (partition.hpp).
  bool distributed = false;
};

struct Variable {
  std::string name;
  Type type = Type::float64;
  std::vector<std::string> dimensions; ///< slowest first; the unlimited one, if any, is the first
  std::vector<Attribute> attributes;
};

struct Schema {
  std::vector<Dimension> dimensions;
  std::vector<Variable> variables;
  std::vector<Attribute> attributes; ///< of the file

  /// Error if a name is duplicate, unknown or not a NetCDF name; if there are two unlimited
  /// dimensions, or one that is not the first; if an attribute has no value or the wrong type.
  void validate() const;

  std::size_t variable(const std::string& name) const;  ///< index; Error if there is none
  std::size_t dimension(const std::string& name) const; ///< index; Error if there is none
  /// Lengths of the dimensions of a variable, at most 7; the unlimited one is 0.
  Indices shape(const Variable& variable) const;
  Indices record_shape(std::size_t v) const; ///< without the unlimited one
  bool has_records(const Variable& variable) const;
  std::size_t bytes(const Variable& variable) const; ///< of a variable, or of one record of it
};

/// The whole variable, without the record dimension.
Box whole_box(const Schema& schema, std::size_t v);

/// The value as written, of the variable's type where CF and the NetCDF library require that. Error
/// if an integer cannot hold it.
Attribute::Value own_type(const Attribute& attribute, const Variable& variable);

} // namespace nunatak::io
