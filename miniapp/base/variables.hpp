// Names, units and metadata of the model's variables in files, as one table (variables.cpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace nunatak {

/// Shape and type in a file. map: doubles (y, x); ice_map: with _FillValue in ice-free cells;
/// integers: (y, x), a mask or label; columns: doubles (y, x, z).
enum class Kind { map, ice_map, integers, columns };

/// state, forcing: in every restart file; ocean: forcing in those with an ocean; diagnostic:
/// computed by a run.
enum class Role { state, forcing, ocean, diagnostic };

/// What an input may hold, in the units of the model's array.
struct Range {
  double min, max;
  /// The value of a forcing that an input lacks; the option of its name replaces it.
  std::optional<double> constant = {};
};

/// Mask values and their meanings (CF flag_values, flag_meanings).
struct Flags {
  std::vector<int> values;
  const char* meanings = "";
};

struct VariableInfo {
  const char* name;
  Kind kind;
  Role role;
  const char* internal_units; ///< units of the model's array
  const char* units;          ///< units in the file; "" for none
  const char* standard_name;  ///< "" if CF has none
  const char* long_name;
  std::optional<Range> input = {}; ///< none: not read, as what follows from the rest
  Flags flags = {};
};

const std::vector<VariableInfo>& variables();

/// Throws Error naming the variable and the known ones if it is unknown.
const VariableInfo& variable_info(const std::string& name);

/// The variables with a constant that an option replaces.
std::vector<VariableInfo> constant_forcing();

} // namespace nunatak
