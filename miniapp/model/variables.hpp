// What a variable of the model is called and means in a file: the one table of output metadata (variables.cpp).
#pragma once

#include <string>
#include <vector>

namespace nunatak {

struct VariableInfo {
  const char* name;
  bool columns;               ///< shape (y, x, z), else (y, x)
  bool integer;               ///< an integer mask or label
  const char* internal_units; ///< units of the model's array
  const char* units;          ///< units in the file; "" for none
  const char* standard_name;  ///< only where CF has one, else ""
  const char* long_name;
  std::vector<int> flag_values = {};
  const char* flag_meanings = "";
  bool ice_only = false; ///< _FillValue where there is no ice
};

/// The table entry of a variable; throws Error naming the variable and the known ones if there is none.
const VariableInfo& variable_info(const std::string& name);

/// Names of all variables, in the order of the table.
std::vector<std::string> variable_names();

} // namespace nunatak
