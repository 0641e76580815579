// Names, units and metadata of the model's variables in files, as one table (variables.cpp).
#pragma once

#include <string>
#include <vector>

namespace nunatak {

/// Shape and type in a file: doubles of shape (y, x); the same with _FillValue in ice-free cells;
/// integers of shape (y, x), a mask or label; doubles of shape (y, x, z).
enum class Kind { map, ice_map, integers, columns };

/// restart: in every restart file; diagnostic: computed by a run (except tauc and hardav if given).
enum class Role { restart, diagnostic };

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
  Flags flags = {};
};

/// All variables, in file order.
const std::vector<VariableInfo>& variables();

/// The table entry of a variable; throws Error naming it and the known ones if it is unknown.
const VariableInfo& variable_info(const std::string& name);

} // namespace nunatak
