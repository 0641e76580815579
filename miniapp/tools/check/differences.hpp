// The fields of PICO under the names of PISM, and where two of them differ: how many cells, the
// first of them, by how much at most, a picture. Neighbours: pico_answer.hpp (makes the fields),
// nunatak_check.cpp (reports).
#pragma once

#include "miniapp/tools/check/pico_answer.hpp"
#include "miniapp/tools/records.hpp"

namespace nunatak::tools {

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

/// One field, on all ranks alike.
struct FieldDifference {
  std::string name;
  std::int64_t compared = 0, different = 0; ///< cells
  double largest = 0.0;                     ///< |found - expected|; NaN if a value is missing
  int j = 0,
      i = 0; ///< of the first that differs, in raster order; with what is expected and found there
  double expected = 0.0, found = 0.0;

  /// A line of the table: with x and y in m.
  Record record(const PicoFile& file) const;
};

/// A field of the file with that of an answer. Masks exactly; shelves as partitions, whose numbers
/// are one labelling of many; water in shelves and lakes, where |found - expected| <= tolerance
/// (|found| + small). Cells that differ are set to 1 in `marks`. Collective.
FieldDifference compare_field(Ranks& ranks, const PicoFile& file, const PicoField& field,
                              const std::vector<PicoFields>& answer, double tolerance,
                              GridValues& marks);
/// The file's cell types with those by flotation. Collective.
FieldDifference compare_types(Ranks& ranks, const PicoFile& file,
                              const std::vector<PicoInput>& input, GridValues& marks);

/// Netpbm picture (PPM): cell types in grey (ice and bare land light, shelves darker, ocean black),
/// marks in red; north, where y is largest, up. Written by rank 0. Collective; an empty path is
/// fine.
void write_picture(const std::string& path, Ranks& ranks, const std::vector<PicoInput>& input,
                   const GridValues& marks, bool y_ascends);

} // namespace nunatak::tools
