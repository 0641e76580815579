// The LogGP constants of a modelled machine (kernels/grid/virtual/loggp.hpp) as options and JSON.
#pragma once

#include "kernels/grid/virtual/loggp.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace nunatak {

class OptionTable;

nlohmann::ordered_json to_json(const LogGP& machine);

struct MachineOptions {
  LogGP given;      ///< set by -loggp_L and the like
  std::string file; ///< -machine

  void add_to(OptionTable& table);
  /// The constants of `file`, or `given` if there is no file. Throws Error naming the file.
  LogGP machine() const;
  /// Replaces `value` by the number `key` in the section "output" of `file` if it is there. Throws
  /// Error unless it is above 0, or 0 with `zero`.
  void read_output(const char* key, double& value, bool zero = false) const;

private:
  nlohmann::json contents() const;
};

} // namespace nunatak
