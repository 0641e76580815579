// PICO fields under PISM's names, and their differences in numbers and as a picture. Neighbours:
// pico_answer.hpp (the fields), nunatak_check.cpp (reports).
#pragma once

#include "miniapp/tools/check/pico_answer.hpp"
#include "miniapp/tools/records.hpp"

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

/// The differences of one field, the same on all ranks.
struct FieldDifference {
  std::string name;
  std::int64_t compared = 0, different = 0; ///< cells
  double largest = 0.0;                     ///< |found - expected|; NaN if a value is missing
  /// The first cell that differs, in raster order, and its values.
  int j = 0, i = 0;
  double expected = 0.0, found = 0.0;

  /// A table row, with x and y in m.
  Record record(const PicoFile& file) const;
};

/// Compares masks exactly; shelves as partitions, independent of numbering; water in shelves and
/// lakes, where |found - expected| <= tolerance (|found| + small). Marks cells that differ.
/// Collective.
FieldDifference compare_field(Ranks& ranks, const PicoFile& file, const PicoField& field,
                              const std::vector<PicoFields>& answer, double tolerance,
                              GridValues& marks);
/// Compares the file's cell types with those by flotation. Collective.
FieldDifference compare_types(Ranks& ranks, const PicoFile& file,
                              const std::vector<PicoInput>& input, GridValues& marks);

/// Writes a Netpbm picture (PPM): cell types in grey (ice and bare land light, shelves darker,
/// ocean black), marks in red; the largest y is up. Rank 0 writes; "" writes nothing. Collective.
void write_picture(const std::string& path, Ranks& ranks, const std::vector<PicoInput>& input,
                   const GridValues& marks, bool y_ascends);

} // namespace nunatak::tools
