#include "io/data/schema.hpp"

#include "io/base/error.hpp"

#include <cmath>
#include <limits>
#include <set>

namespace nunatak::io {

std::size_t bytes_of(Type type) {
  return with_type(type, [](auto zero) { return sizeof zero; });
}

const char* name_of(Type type) {
  constexpr std::array<const char*, all_types.size()> names = {"int8",  "int16",   "int32",
                                                               "int64", "float32", "float64"};
  return names[static_cast<std::size_t>(type)];
}

namespace {

void check_name(const std::string& kind, const std::string& name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  bool good = !name.empty() && name.size() <= 256 && letter(name[0]);
  for (const char c : name)
    good = good && (letter(c) || c == '.' || c == '-' || c == '+' || c == '@');
  if (!good)
    throw Error(
        kind + " '" + name +
        "': not a name for NetCDF: use letters, digits and _.-+@, a letter, digit or _ first");
}

void check_attributes(const std::string& owner, const std::vector<Attribute>& attributes) {
  std::set<std::string> names;
  for (const auto& a : attributes) {
    check_name("attribute of " + owner, a.name);
    if (!names.insert(a.name).second)
      throw Error("attribute '" + a.name + "' of " + owner + ": expected once, found twice");
    const bool is_empty = std::visit(
        [&](const auto& v) {
          return !std::is_same_v<std::decay_t<decltype(v)>, std::string> && v.empty();
        },
        a.value);
    if (is_empty)
      throw Error("attribute '" + a.name + "' of " + owner +
                  ": expected at least one number, found none");
  }
}

template <class To, class From> To converted(From number, const std::string& what) {
  if constexpr (std::is_floating_point_v<To>) {
    return static_cast<To>(number);
  } else {
    // compare before the conversion, which is undefined out of range
    const auto low = static_cast<long double>(std::numeric_limits<To>::min()),
               high = static_cast<long double>(std::numeric_limits<To>::max());
    const auto wide = static_cast<long double>(number);
    if (!(wide >= low && wide <= high && wide == std::trunc(wide))) {
      throw Error(what + ": expected a value that " + name_of(type_of<To>()) +
                  " holds exactly, found " + std::to_string(number));
    }
    return static_cast<To>(number);
  }
}

template <class To>
Attribute::Value converted_to(const Attribute& attribute, const std::string& what) {
  return std::visit(
      [&](const auto& given) -> Attribute::Value {
        if constexpr (std::is_same_v<std::decay_t<decltype(given)>, std::string>) {
          throw Error(what + ": expected numbers, found the text '" + given + "'");
        } else {
          std::vector<To> own;
          for (const auto number : given) own.push_back(converted<To>(number, what));
          return own;
        }
      },
      attribute.value);
}

template <class T>
std::size_t index_of(const std::vector<T>& list, const std::string& name, const char* what) {
  for (std::size_t n = 0; n < list.size(); ++n) {
    if (list[n].name == name) return n;
  }
  throw Error(std::string("expected a ") + what + " of the schema, found '" + name + "'");
}

} // namespace

Attribute::Value own_type(const Attribute& attribute, const Variable& variable) {
  static const std::set<std::string> of_own_type = {"_FillValue", "missing_value", "valid_min",
                                                    "valid_max",  "valid_range",   "flag_values",
                                                    "flag_masks"};
  if (of_own_type.count(attribute.name) == 0) return attribute.value;
  const std::string what = "attribute '" + variable.name + ":" + attribute.name + "'";
  return with_type(variable.type,
                   [&](auto zero) { return converted_to<decltype(zero)>(attribute, what); });
}

void Schema::validate() const {
  std::set<std::string> names;
  int n_unlimited = 0;
  for (const auto& d : dimensions) {
    check_name("dimension", d.name);
    if (!names.insert(d.name).second)
      throw Error("dimension '" + d.name + "': expected once, found twice");
    if (d.length == unlimited && ++n_unlimited > 1)
      throw Error("dimension '" + d.name +
                  "': expected at most one unlimited dimension, found another");
  }
  names.clear();
  for (const auto& v : variables) {
    check_name("variable", v.name);
    if (!names.insert(v.name).second)
      throw Error("variable '" + v.name + "': expected once, found twice");
    for (std::size_t n = 0; n < v.dimensions.size(); ++n) {
      if (dimensions[dimension(v.dimensions[n])].length == unlimited && n > 0) {
        throw Error("variable '" + v.name + "': expected the unlimited dimension '" +
                    v.dimensions[n] + "' first, found it at place " + std::to_string(n + 1));
      }
    }
    shape(v);
    check_attributes("variable '" + v.name + "'", v.attributes);
    for (const auto& a : v.attributes) own_type(a, v);
  }
  check_attributes("the file", attributes);
}

std::size_t Schema::variable(const std::string& name) const {
  return index_of(variables, name, "variable");
}
std::size_t Schema::dimension(const std::string& name) const {
  return index_of(dimensions, name, "dimension");
}

Indices Schema::shape(const Variable& v) const {
  if (v.dimensions.size() > Indices::most)
    throw Error("variable '" + v.name + "': expected at most " + std::to_string(Indices::most) +
                " dimensions, found " + std::to_string(v.dimensions.size()));
  Indices lengths;
  for (const auto& name : v.dimensions) lengths.push_back(dimensions[dimension(name)].length);
  return lengths;
}

Indices Schema::record_shape(std::size_t v) const {
  const Indices lengths = shape(variables[v]);
  const bool has_record = !lengths.empty() && lengths[0] == unlimited;
  return {lengths.begin() + has_record, lengths.end()};
}

bool Schema::has_records(const Variable& v) const {
  return !v.dimensions.empty() && dimensions[dimension(v.dimensions[0])].length == unlimited;
}

std::size_t Schema::bytes(const Variable& v) const {
  std::size_t bytes = bytes_of(v.type);
  for (const std::size_t n : shape(v)) bytes *= n == unlimited ? 1 : n;
  return bytes;
}

Box whole_box(const Schema& schema, std::size_t v) {
  const Indices count = schema.record_shape(v);
  return {Indices(count.size(), 0), count};
}

} // namespace nunatak::io
