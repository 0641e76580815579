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
  const char *name, *other;
  nc_type type;
  int bits;
  double smallest, fill;

  bool is_floating() const { return type == NC_FLOAT || type == NC_DOUBLE; }

  /// A value of an attribute, as a variable of this type stores it.
  double stored(double v, const StoredType& its) const {
    if (type == NC_FLOAT && std::fabs(v) <= static_cast<double>(NC_MAX_FLOAT))
      return static_cast<double>(static_cast<float>(v)); // given as double
    if (is_floating() || its.bits != bits || its.type == type) return v;
    const double range = std::ldexp(1.0, bits);
    if (v < smallest) return v + range;
    return v >= smallest + range ? v - range : v;
  }
};

const StoredType stored_types[] = {
    {"byte", "ubyte", NC_BYTE, 8, -0x1p7, none},
    {"ubyte", "byte", NC_UBYTE, 8, 0.0, none},
    {"short", "ushort", NC_SHORT, 16, -0x1p15, NC_FILL_SHORT},
    {"ushort", "short", NC_USHORT, 16, 0.0, NC_FILL_USHORT},
    {"int", "uint", NC_INT, 32, -0x1p31, NC_FILL_INT},
    {"uint", "int", NC_UINT, 32, 0.0, NC_FILL_UINT},
    {"int64", "uint64", NC_INT64, 64, -0x1p63, static_cast<double>(NC_FILL_INT64)},
    {"uint64", "int64", NC_UINT64, 64, 0.0, static_cast<double>(NC_FILL_UINT64)},
    {"float", "", NC_FLOAT, 128, 0.0, static_cast<double>(NC_FILL_FLOAT)},
    {"double", "", NC_DOUBLE, 256, 0.0, NC_FILL_DOUBLE}};

const StoredType* stored_type(const std::string& name) {
  const auto found = std::find_if(std::begin(stored_types), std::end(stored_types),
                                  [&](const StoredType& type) { return name == type.name; });
  return found == std::end(stored_types) ? nullptr : found;
}

double half(double quantum) { return 0.505 * quantum; } // with the rounding of 32-bit packing

} // namespace

Packing::Packing(const Contents::Variable& variable, const std::string& path) {
  const StoredType* const type_in_file = stored_type(variable.type);
  const StoredType* type = type_in_file;
  if (type == nullptr) return;
  const auto fail = [&](const std::string& what) {
    throw Error("file '" + path + "': variable '" + variable.name + "': " + what);
  };
  const auto find = [&](const std::string& name) { return io::find(variable.attributes, name); };
  /// Values of an attribute, as many as expected (0: any number); none if it is absent.
  const auto numbers = [&](const std::string& name, std::size_t expected) -> std::vector<double> {
    const Contents::Attribute* const a = find(name);
    if (a == nullptr) return {};
    if (!a->is_number || (expected > 0 && a->length != expected)) {
      fail("attribute '" + name + "': expected " +
           (expected == 0 ? "numbers" : std::to_string(expected) + " number(s)") + ", found " +
           std::to_string(a->length) + " of type " + a->type);
    }
    return a->numbers;
  };
  if (const Contents::Attribute* const a = find("_Unsigned");
      a != nullptr && !type->is_floating()) {
    std::string word = plain_text(*a);
    std::transform(word.begin(), word.end(), word.begin(), ::tolower);
    if (word != "true" && word != "false")
      fail("attribute '_Unsigned': expected true or false, found '" + word + "'");
    if ((word == "true") != (type->smallest == 0.0)) type = stored_type(type->other);
  }
  nc_type = type->type;

  for (const double v : numbers("scale_factor", 1)) scale = v;
  for (const double v : numbers("add_offset", 1)) offset = v;
  is_packed = find("scale_factor") != nullptr || find("add_offset") != nullptr;
  if (!std::isfinite(scale) || scale == 0.0 || !std::isfinite(offset)) {
    fail("expected a finite scale_factor other than 0 and a finite add_offset, found " +
         std::to_string(scale) + " and " + std::to_string(offset));
  }
  if (is_packed && !type->is_floating()) quantum = std::fabs(scale);

  const auto is_unpacked = [&](const StoredType& its) {
    const Contents::Attribute* const factor = find("scale_factor");
    return is_packed && its.bits > type->bits &&
           (its.is_floating() || (factor != nullptr && factor->type == its.name));
  };
  for (const char* name : {"_FillValue", "missing_value"}) {
    for (const double v : numbers(name, 0)) {
      const StoredType& its = *stored_type(find(name)->type);
      fills.push_back(type->stored(v, its));
      if (is_unpacked(its)) missing.push_back(v);
    }
  }
  if (find("_FillValue") == nullptr)
    fills.push_back(type->stored(type_in_file->fill, *type_in_file)); // NaN equals nothing

  const auto set_limit = [&](bool lower, const std::string& name, double v) {
    const StoredType& its = *stored_type(find(name)->type);
    const bool is_number = is_unpacked(its);
    const bool is_low = lower == (is_number || scale > 0.0);
    (is_low ? low : high) = is_number ? v : type->stored(v, its) * scale + offset;
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
