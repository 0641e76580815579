// How stored values become numbers: the Attribute Conventions of the NetCDF Users' Guide.
//
//   _FillValue, missing_value, the default fill of the type -> NaN: missing
//   any other stored value                                  -> stored * scale_factor + add_offset
//
// _Unsigned = "true" makes signed integers of the file unsigned ("false": the reverse), including
// fill values and limits. Packed integers are exact only to half a quantum, |scale_factor| / 2: a
// number that close to zero is zero, an id that close to a whole number is that number. valid_min,
// valid_max and valid_range are stored values, but numbers if their type is wider than the stored
// one and is floating-point or that of scale_factor.
#include "io/read/reader.hpp"

#include <netcdf.h>

#include <algorithm>
#include <cctype>
#include <cmath>

namespace nunatak::io {

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// A numeric type. `other`: the type of the other signedness. `fill`: the default fill value; bytes
/// have none. Floating-point types count as wider than all integers.
struct StoredType {
  Type type, other;
  int bits;
  double smallest, fill;

  bool is_floating() const { return type == Type::float32 || type == Type::float64; }

  /// A value of an attribute, as a variable of this type stores it.
  double stored(double v, const StoredType& its) const {
    if (type == Type::float32 && std::fabs(v) <= static_cast<double>(NC_MAX_FLOAT))
      return static_cast<double>(static_cast<float>(v)); // given as double
    if (is_floating() || its.bits != bits || its.type == type) return v;
    const double range = std::ldexp(1.0, bits);
    if (v < smallest) return v + range;
    return v >= smallest + range ? v - range : v;
  }
};

const StoredType stored_types[] = {
    {Type::int8, Type::uint8, 8, -0x1p7, none},
    {Type::uint8, Type::int8, 8, 0.0, none},
    {Type::int16, Type::uint16, 16, -0x1p15, NC_FILL_SHORT},
    {Type::uint16, Type::int16, 16, 0.0, NC_FILL_USHORT},
    {Type::int32, Type::uint32, 32, -0x1p31, NC_FILL_INT},
    {Type::uint32, Type::int32, 32, 0.0, NC_FILL_UINT},
    {Type::int64, Type::uint64, 64, -0x1p63, static_cast<double>(NC_FILL_INT64)},
    {Type::uint64, Type::int64, 64, 0.0, static_cast<double>(NC_FILL_UINT64)},
    {Type::float32, Type::other, 128, 0.0, static_cast<double>(NC_FILL_FLOAT)},
    {Type::float64, Type::other, 256, 0.0, NC_FILL_DOUBLE}};

const StoredType* stored_type(Type type) {
  const auto found = std::find_if(std::begin(stored_types), std::end(stored_types),
                                  [&](const StoredType& one) { return one.type == type; });
  return found == std::end(stored_types) ? nullptr : found;
}

double half(double quantum) { return 0.505 * quantum; } // with the rounding of 32-bit packing

} // namespace

Packing::Packing(const Variable& variable, const std::string& path) {
  const StoredType* const type_in_file = stored_type(variable.type);
  const StoredType* own = type_in_file;
  if (own == nullptr) return;
  const auto fail = [&](const std::string& what) {
    throw Error("file '" + path + "': variable '" + variable.name + "': " + what);
  };
  const auto find = [&](const std::string& name) { return io::find(variable.attributes, name); };
  /// Values of an attribute, as many as expected (0: any number); none if it is absent.
  const auto numbers = [&](const std::string& name, std::size_t expected) -> std::vector<double> {
    const Attribute* const a = find(name);
    if (a == nullptr) return {};
    if (!is_number(a->type()) || (expected > 0 && a->length() != expected)) {
      fail("attribute '" + name + "': expected " +
           (expected == 0 ? "numbers" : std::to_string(expected) + " number(s)") + ", found " +
           std::to_string(a->length()) + " of type " + name_of(a->type()));
    }
    return a->numbers();
  };
  if (const Attribute* const a = find("_Unsigned"); a != nullptr && !own->is_floating()) {
    std::string word = a->text() != nullptr ? plain_text(*a->text()) : "";
    std::transform(word.begin(), word.end(), word.begin(), ::tolower);
    if (word != "true" && word != "false")
      fail("attribute '_Unsigned': expected true or false, found '" + word + "'");
    if ((word == "true") != (own->smallest == 0.0)) own = stored_type(own->other);
  }
  type = own->type;

  for (const double v : numbers("scale_factor", 1)) scale = v;
  for (const double v : numbers("add_offset", 1)) offset = v;
  is_packed = find("scale_factor") != nullptr || find("add_offset") != nullptr;
  if (!std::isfinite(scale) || scale == 0.0 || !std::isfinite(offset)) {
    fail("expected a finite scale_factor other than 0 and a finite add_offset, found " +
         std::to_string(scale) + " and " + std::to_string(offset));
  }
  if (is_packed && !own->is_floating()) quantum = std::fabs(scale);

  const auto is_unpacked = [&](const StoredType& its) {
    const Attribute* const factor = find("scale_factor");
    return is_packed && its.bits > own->bits &&
           (its.is_floating() || (factor != nullptr && factor->type() == its.type));
  };
  for (const char* name : {"_FillValue", "missing_value"}) {
    for (const double v : numbers(name, 0)) {
      const StoredType& its = *stored_type(find(name)->type());
      fills.push_back(own->stored(v, its));
      if (is_unpacked(its)) missing.push_back(v);
    }
  }
  if (find("_FillValue") == nullptr)
    fills.push_back(own->stored(type_in_file->fill, *type_in_file)); // NaN equals nothing

  const auto set_limit = [&](bool lower, const std::string& name, double v) {
    const StoredType& its = *stored_type(find(name)->type());
    const bool is_number = is_unpacked(its);
    const bool is_low = lower == (is_number || scale > 0.0);
    (is_low ? low : high) = is_number ? v : own->stored(v, its) * scale + offset;
  };
  for (const double v : numbers("valid_min", 1)) set_limit(true, "valid_min", v);
  for (const double v : numbers("valid_max", 1)) set_limit(false, "valid_max", v);
  if (const auto range = numbers("valid_range", 2); !range.empty()) {
    set_limit(true, "valid_range", range[0]);
    set_limit(false, "valid_range", range[1]);
  }
}

void Packing::unpack(std::vector<double>& values) const {
  const auto is_missing = [&](double v) {
    return std::any_of(missing.begin(), missing.end(),
                       [&](double m) { return std::fabs(v - m) <= half(quantum); });
  };
  for (double& v : values) {
    if (std::find(fills.begin(), fills.end(), v) != fills.end()) {
      v = none;
      continue;
    }
    if (!is_packed) continue;
    v = v * scale + offset;
    if (std::fabs(v) <= half(quantum)) v = 0.0;
    if (is_missing(v)) v = none;
  }
}

double Packing::id(double number) const {
  if (std::isnan(number))
    return std::find(fills.begin(), fills.end(), 0.0) == fills.end() ? number : 0.0;
  const double whole = std::round(number);
  return std::fabs(number - whole) <= half(quantum) ? whole : number;
}

double Packing::tolerance() const {
  const double largest = std::fmax(std::isfinite(low) ? std::fabs(low) : 0.0,
                                   std::isfinite(high) ? std::fabs(high) : 0.0);
  return half(quantum) + 1e-6 * largest;
}

} // namespace nunatak::io
