// The constants of a modelled machine (kernels/grid/virtual/loggp.hpp) as options and as JSON, for
// all programs with virtual ranks.
#pragma once

#include "kernels/grid/virtual/loggp.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace nunatak {

class OptionTable;

nlohmann::ordered_json to_json(const LogGP& machine);

struct MachineOptions {
  LogGP given;      ///< by -loggp_L and the like
  std::string file; ///< -machine

  void add_to(OptionTable& table);
  /// That of the file, if one is given. Throws Error naming the file and what is wrong with it.
  LogGP machine() const;
};

} // namespace nunatak
