#include "io/data/schema.hpp"

#include "common/error.hpp"
#include "common/text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>

namespace nunatak::io {

namespace {

constexpr std::array<const char*, 13> type_names = {
    "byte",   "short", "int",    "int64", "float",  "double",         "ubyte",
    "ushort", "uint",  "uint64", "char",  "string", "a type of users"};

} // namespace

const char* name_of(Type type) { return type_names[static_cast<std::size_t>(type)]; }

Type type_named(const std::string& name) {
  const auto found = std::find(type_names.begin(), type_names.end(), name);
  return found == type_names.end() ? Type::other : static_cast<Type>(found - type_names.begin());
}

Type Attribute::type() const {
  if (value.index() == 0) return Type::text;
  return value.index() + 1 == std::variant_size_v<Value> ? Type::string
                                                         : static_cast<Type>(value.index() - 1);
}

std::size_t Attribute::length() const {
  return std::visit([](const auto& v) { return v.size(); }, value);
}

namespace {

/// f(values) if they are numbers.
template <class F> void with_numbers(const Attribute::Value& value, const F& f) {
  std::visit(
      [&](const auto& v) {
        if constexpr (std::is_arithmetic_v<typename std::decay_t<decltype(v)>::value_type> &&
                      !std::is_same_v<std::decay_t<decltype(v)>, std::string>)
          f(v);
      },
      value);
}

} // namespace

std::vector<double> Attribute::numbers() const {
  std::vector<double> numbers;
  with_numbers(value, [&](const auto& v) {
    for (const auto number : v) numbers.push_back(static_cast<double>(number));
  });
  return numbers;
}

std::vector<std::int64_t> Attribute::integers() const {
  std::vector<std::int64_t> integers;
  with_numbers(value, [&](const auto& v) {
    for (const auto number : v) {
      const auto wide = static_cast<long double>(number);
      if (wide == std::trunc(wide) && wide >= -0x1p63L && wide < 0x1p63L)
        integers.push_back(static_cast<std::int64_t>(number));
    }
  });
  return integers.size() == length() ? integers : std::vector<std::int64_t>{};
}

std::string plain_text(const std::string& text) {
  const std::string used = text.substr(0, text.find('\0'));
  const char* const white = " \t\r\n";
  const std::size_t first = used.find_first_not_of(white);
  return first == std::string::npos ? ""
                                    : used.substr(first, used.find_last_not_of(white) + 1 - first);
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
    if (a.text() == nullptr && a.length() == 0)
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

template <class T>
std::size_t index_of(const std::vector<T>& list, const std::string& name, const char* what) {
  if (const T* const found = find(list, name)) return static_cast<std::size_t>(found - list.data());
  throw Error(std::string("expected a ") + what + " of the schema, found '" + name + "'");
}

} // namespace

Attribute::Value own_type(const Attribute& attribute, const Variable& variable) {
  static const std::set<std::string> of_own_type = {"_FillValue", "missing_value", "valid_min",
                                                    "valid_max",  "valid_range",   "flag_values",
                                                    "flag_masks"};
  if (of_own_type.count(attribute.name) == 0) return attribute.value;
  const std::string what = "attribute '" + variable.name + ":" + attribute.name + "'";
  if (const std::string* text = attribute.text())
    throw Error(what + ": expected numbers, found the text '" + *text + "'");
  return with_type(variable.type, [&](auto zero) -> Attribute::Value {
    std::vector<decltype(zero)> own;
    with_numbers(attribute.value, [&](const auto& given) {
      for (const auto number : given) own.push_back(converted<decltype(zero)>(number, what));
    });
    return own;
  });
}

void Schema::require_written_types(const std::string& path) const {
  const auto require = [&](Type type, bool is_text, const std::string& what) {
    if (!is_written(type) && !is_text)
      throw Error((path.empty() ? "" : "file '" + path + "': ") + what +
                  ": expected byte, short, int, int64, float or double, found " + name_of(type));
  };
  for (const Variable& v : variables) {
    require(v.type, false, "variable '" + v.name + "'");
    for (const Attribute& a : v.attributes)
      require(a.type(), a.text() != nullptr, "attribute '" + v.name + ":" + a.name + "'");
  }
  for (const Attribute& a : attributes)
    require(a.type(), a.text() != nullptr, "attribute ':" + a.name + "'");
}

void Schema::validate() const {
  require_written_types();
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

Schema Schema::as_written() const {
  Schema written = *this;
  for (Variable& v : written.variables) {
    for (Attribute& a : v.attributes) a.value = own_type(a, v);
  }
  return written;
}

std::size_t Schema::records() const {
  const auto d = std::find_if(dimensions.begin(), dimensions.end(),
                              [](const Dimension& one) { return one.length == unlimited; });
  return d == dimensions.end() ? 0 : d->records;
}

std::vector<std::string> Schema::lines() const {
  std::vector<std::string> lines;
  const auto add = [&](const std::string& owner, const std::vector<Attribute>& given) {
    for (const Attribute& a : given) {
      std::string& line = lines.emplace_back(owner + ":" + a.name + " = ");
      if (a.text() != nullptr) line += '"' + *a.text() + '"';
      if (a.type() == Type::string) line += std::to_string(a.length()) + " values";
      with_numbers(a.value, [&](const auto& numbers) {
        char digits[32];
        for (const auto number : numbers) {
          line.append(digits, std::to_chars(digits, std::end(digits), number).ptr) += ", ";
        }
        line += name_of(a.type());
      });
    }
  };
  for (const Dimension& d : dimensions)
    lines.push_back(d.name + " = " + std::to_string(d.extent()) +
                    (d.length == unlimited ? ", unlimited" : ""));
  for (const Variable& v : variables) {
    lines.push_back(std::string(name_of(v.type)) + " " + v.name + "(" + joined(v.dimensions) + ")");
    add(v.name, v.attributes);
  }
  add("", attributes);
  return lines;
}

Box whole_box(const Schema& schema, std::size_t v) {
  const Indices count = schema.record_shape(v);
  return {Indices(count.size(), 0), count};
}

} // namespace nunatak::io
