// What a variable of the model is called and means in a file: the one table of output metadata
// (variables.cpp).
#pragma once

#include <string>
#include <vector>

namespace nunatak {

/// Shape and type in a file: numbers of shape (y, x); the same with _FillValue where there is no
/// ice; integers of shape (y, x), a mask or label; numbers of shape (y, x, z).
enum class Kind { map, ice_map, integers, columns };

/// restart: every restart file holds it; diagnostic: a run computes it (but tauc and hardav where
/// they were given).
enum class Role { restart, diagnostic };

/// Values of a mask and their meanings (CF flag_values, flag_meanings).
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
  const char* standard_name;  ///< only where CF has one, else ""
  const char* long_name;
  Flags flags = {};
};

/// All variables, in the order of files.
const std::vector<VariableInfo>& variables();

/// The table entry of a variable; throws Error naming the variable and the known ones if there is
/// none.
const VariableInfo& variable_info(const std::string& name);

} // namespace nunatak
