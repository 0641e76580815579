// The contents of a file except its values: dimensions, variables, attributes. Declared before any
// value is written, or found in a file (read/nc_file.hpp).
//
//   Schema s;
//   s.dimensions = {{"time", unlimited}, {"y", My}, {"x", Mx}};
//   s.variables = {{"thk", Type::float64, {"time", "y", "x"}, {{"units", "m"}}}};
//   s.attributes = {{"Conventions", "CF-1.8"}};
//
// Every rank holds the same schema. Neighbours: formats/format.hpp (writes it), message_bytes.hpp.
#pragma once

#include "io/data/box.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace nunatak::io {

/// The types of NetCDF. Files are written with the first six; the others are found in files. text:
/// characters; string: of any length; other: a type of users.
enum class Type {
  int8,
  int16,
  int32,
  int64,
  float32,
  float64,
  uint8,
  uint16,
  uint32,
  uint64,
  text,
  string,
  other
};

constexpr bool is_written(Type type) { return type <= Type::float64; }
constexpr bool is_number(Type type) { return type < Type::text; }
/// 0 without a fixed size.
constexpr std::size_t bytes_of(Type type) {
  constexpr std::size_t bytes[] = {1, 2, 4, 8, 4, 8, 1, 2, 4, 8, 1, 0, 0};
  return bytes[static_cast<std::size_t>(type)];
}
/// In ncdump's words: "byte", "short", "int", "int64", "float", "double", "ubyte", ..., "char".
const char* name_of(Type type);
Type type_named(const std::string& name); ///< Type::other if unknown

/// type_of<double>() == Type::float64
template <class T> constexpr Type type_of() {
  static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>, "expected a number");
  if (std::is_floating_point_v<T>) return sizeof(T) == 8 ? Type::float64 : Type::float32;
  constexpr int log2 = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  return static_cast<Type>(log2 + static_cast<int>(std::is_signed_v<T> ? Type::int8 : Type::uint8));
}

/// f(T{}), where T is the C++ type of `type`, one that is written.
template <class F> auto with_type(Type type, const F& f) {
  if (type == Type::int8) return f(std::int8_t{});
  if (type == Type::int16) return f(std::int16_t{});
  if (type == Type::int32) return f(std::int32_t{});
  if (type == Type::int64) return f(std::int64_t{});
  if (type == Type::float32) return f(float{});
  return f(double{});
}

/// f(T{}), where T is the C++ type of numbers of `type`; false for other types.
template <class F> bool with_number(Type type, const F& f) {
  if (!is_number(type)) return false;
  if (is_written(type)) {
    with_type(type, f);
  } else if (type == Type::uint8) {
    f(std::uint8_t{});
  } else if (type == Type::uint16) {
    f(std::uint16_t{});
  } else if (type == Type::uint32) {
    f(std::uint32_t{});
  } else {
    f(std::uint64_t{});
  }
  return true;
}

struct Attribute {
  using Value = std::variant<
      std::string, std::vector<std::int8_t>, std::vector<std::int16_t>, std::vector<std::int32_t>,
      std::vector<std::int64_t>, std::vector<float>, std::vector<double>, std::vector<std::uint8_t>,
      std::vector<std::uint16_t>, std::vector<std::uint32_t>, std::vector<std::uint64_t>,
      std::vector<std::string>>; ///< the last one: other values in a file, which are not read
  std::string name;
  Value value;

  Type type() const; ///< text for characters and one string, string for what is not read
  std::size_t length() const;
  const std::string* text() const { return std::get_if<std::string>(&value); }
  std::vector<double> numbers() const; ///< none if it is no number
  /// As if they were int64; none if one is not a whole number within int64.
  std::vector<std::int64_t> integers() const;

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

/// The text up to its first NUL, trimmed: C pads with NULs, Fortran with blanks.
std::string plain_text(const std::string& text);

/// The length of the one dimension that grows, record by record.
constexpr std::size_t unlimited = 0;

struct Dimension {
  std::string name;
  std::size_t length = unlimited;
  /// Cut among the ranks of the model: layouts cut it among aggregators (partition.hpp).
  bool distributed = false;
  std::size_t records = 0; ///< of an unlimited one in a file

  std::size_t extent() const { return length == unlimited ? records : length; }
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
  /// Error naming a variable or attribute of another type, and the file if there is one.
  void require_written_types(const std::string& path = "") const;

  std::size_t variable(const std::string& name) const;  ///< index; Error if there is none
  std::size_t dimension(const std::string& name) const; ///< index; Error if there is none
  /// Lengths of the dimensions of a variable, at most 7; the unlimited one is 0.
  Indices shape(const Variable& variable) const;
  Indices record_shape(std::size_t v) const; ///< without the unlimited one
  bool has_records(const Variable& variable) const;
  std::size_t bytes(const Variable& variable) const; ///< of a variable, or of one record of it
  Schema as_written() const;                         ///< with the attributes of own_type()
  std::size_t records() const;                       ///< in the file; 0 without a record dimension

  /// As text: "x = 11", "double thk(time, y, x)", "thk:units = \"m\"", ":title = ...".
  std::vector<std::string> lines() const;
};

/// The dimension, variable or attribute of that name; nullptr if there is none.
template <class T> const T* find(const std::vector<T>& list, const std::string& name) {
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&](const T& element) { return element.name == name; });
  return found == list.end() ? nullptr : &*found;
}

/// The names of all of them.
template <class T> std::vector<std::string> names_of(const std::vector<T>& list) {
  std::vector<std::string> names;
  for (const T& element : list) names.emplace_back(element.name);
  return names;
}

/// The whole variable, without the record dimension.
Box whole_box(const Schema& schema, std::size_t v);

/// The value as written, of the variable's type where CF and the NetCDF library require that. Error
/// if an integer cannot hold it.
Attribute::Value own_type(const Attribute& attribute, const Variable& variable);

} // namespace nunatak::io
