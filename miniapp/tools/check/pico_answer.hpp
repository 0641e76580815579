// PICO on the input of a file, field by field under the names of PISM. Neighbours: pico_file.hpp
// (the input), differences.hpp (compares two such answers), kernels/pico (what computes).
#pragma once

#include "miniapp/tools/check/pico_file.hpp"
#include "miniapp/tools/check/pism_2_3.hpp"

namespace nunatak::tools {

struct PicoAnswer {
  std::vector<PicoFields> fields; ///< of each local rank
  int shelves = 0;
};

/// With water if `source` is not `none`. From box0 fields: the water of a shelf is the coldest of
/// its cells in the file, where fewest cells are warmed to the melting point, instead of a mean
/// over basins. Collective.
PicoAnswer compute_pico(Ranks& ranks, const PicoFile& file, const PicoOptions& options,
                        const std::vector<PicoInput>& input, OceanSource source,
                        PismDefects defects);

template <class T> using PicoMap = Array2<T> PicoFields::*;

/// A field to compare.
struct PicoField {
  const char *name, *unit; ///< unit "": a mask, every cell of which is compared exactly
  double scale, small;     ///< of values here to those in `unit`; a magnitude that counts as none
  PicoMap<int> mask = nullptr;     ///< one of these;
  PicoMap<double> water = nullptr; ///< in shelves and lakes only
  bool is_water() const { return water != nullptr; }
};
/// All that a file may have, except `mask`.
const std::vector<PicoField>& pico_fields();

/// The values of a field in owned cells. `compared`: in shelves and lakes.
CellValues values_of(const Ranks& ranks, const std::vector<PicoFields>& fields,
                     const PicoField& field);
CellValues in_shelves(const Ranks& ranks,
                      const std::vector<PicoFields>& fields); ///< 1 there, else 0

} // namespace nunatak::tools
