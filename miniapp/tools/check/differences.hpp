// Where two fields differ: how many cells, the first of them, by how much at most; a picture of all
// of them. Neighbours: pico_answer.hpp (makes the fields), nunatak_check.cpp (reports).
#pragma once

#include "miniapp/tools/check/pico_answer.hpp"
#include "miniapp/tools/records.hpp"

namespace nunatak::tools {

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

/// Cells differ if |found - expected| > tolerance (|found| + small); tolerance 0: if they are not
/// the same number.
struct Closeness {
  double tolerance = 0.0, small = 0.0;
};

/// `where`: cells of value 0 are not compared; nullptr: all are. Cells that differ are set to 1 in
/// `marks`. Collective.
FieldDifference compare(Ranks& ranks, const std::string& name, const CellValues& expected,
                        const CellValues& found, const CellValues* where,
                        const Closeness& closeness, CellValues& marks);

/// Numbers of shelves are one labelling of many. `ours` with the numbers of `theirs`: the pairs
/// that share most cells are matched first; a shelf without partner gets a number that `theirs` has
/// not. The partitions are equal if the results are. Collective.
CellValues with_numbers_of(Ranks& ranks, const CellValues& ours, const CellValues& theirs);

/// A field of the file with that of an answer: masks exactly, shelves as partitions, water to
/// `tolerance`. Collective.
FieldDifference compare_field(Ranks& ranks, const PicoFile& file, const PicoField& field,
                              const std::vector<PicoFields>& answer, double tolerance,
                              CellValues& marks);
/// The file's cell types with those by flotation. Collective.
FieldDifference compare_types(Ranks& ranks, const PicoFile& file,
                              const std::vector<PicoInput>& input, CellValues& marks);

/// Zeros in all owned cells.
CellValues no_marks(const Ranks& ranks);

/// Netpbm picture (PPM): `types` in grey (ice and bare land light, shelves darker, ocean black),
/// marks in red; north, where y is largest, up. Written by rank 0. Collective; an empty path is
/// fine.
void write_picture(const std::string& path, Ranks& ranks, const std::vector<PicoInput>& input,
                   const CellValues& marks, bool y_ascends);

} // namespace nunatak::tools
