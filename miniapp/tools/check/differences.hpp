// PICO fields under PISM's names, and their differences. Neighbours: compare.hpp (prints and draws
// them), pico_answer.hpp (the fields), nunatak_check.cpp (reports).
#pragma once

#include "miniapp/tools/check/pico_answer.hpp"

namespace nunatak::tools {

template <class T> using PicoMap = Array2<T> PicoFields::*;

struct PicoField {
  const char *name, *unit;         ///< unit "": a mask, compared exactly in every cell
  double scale, small;             ///< factor to `unit`; a negligible magnitude
  PicoMap<int> mask = nullptr;     ///< either this, or
  PicoMap<double> water = nullptr; ///< this, compared in shelves and lakes only
  bool is_water() const { return water != nullptr; }
};
/// All fields that a file may have, except `mask`.
const std::vector<PicoField>& pico_fields();

/// Compares masks exactly; shelves as partitions, independent of numbering; water in shelves and
/// lakes, where |found - expected| <= tolerance (|found| + small). Collective.
FieldDifference compare_field(Ranks& ranks, const PicoFile& file, const PicoField& field,
                              const std::vector<PicoFields>& answer, double tolerance);
/// Compares the file's cell types with those by flotation. Collective.
FieldDifference compare_types(Ranks& ranks, const PicoFile& file,
                              const std::vector<PicoInput>& input);

/// write_picture() of compare.hpp: ice and bare land light, shelves darker, ocean black; "" writes
/// nothing. Collective.
void write_picture(const std::string& path, Ranks& ranks, const std::vector<PicoInput>& input,
                   const Grid& grid, const std::vector<FieldDifference>& fields);

} // namespace nunatak::tools
