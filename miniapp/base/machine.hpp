// The LogGP constants of a modelled machine (kernels/grid/virtual/loggp.hpp) as options and JSON.
#pragma once

#include "kernels/grid/virtual/loggp.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace nunatak {

class OptionTable;

nlohmann::ordered_json to_json(const LogGP& machine);

struct MachineOptions {
  LogGP given;      ///< set by -loggp_L and the like
  std::string file; ///< -machine

  void add_to(OptionTable& table);
  /// The constants of `file`, or `given` if there is no file. Throws Error naming the file.
  LogGP machine() const;
  struct OutputConstant {
    const char* key;
    double* value;
    bool zero; ///< may be 0
  };
  /// Replaces values by the numbers in the section "output" of `file` that are there. Throws Error
  /// unless they are above 0, or 0 where that may be.
  void read_output(const std::vector<OutputConstant>& constants) const;

private:
  nlohmann::json contents() const;
};

} // namespace nunatak
