// From a variable of an input file to a field: checks, block, interpolation. Used by input.hpp.
#pragma once

#include "io/reader.hpp"
#include "miniapp/base/mpi_ranks.hpp"
#include "miniapp/model/grid.hpp"

#include <string>
#include <vector>

namespace nunatak {

/// Throws Error, beginning with `what`, unless the coordinate has exactly its own dimension.
void check_own_dimension(const io::Reader& in, const std::string& name, const std::string& what);

/// The points of a coordinate in metres, increasing; `flip`: they decrease in the file. Collective.
/// Throws Error if it is missing, not regular, has fewer than two points or an implausible spacing.
Axis read_axis(const io::Reader& in, const std::string& name, bool& flip);

/// `thickness`: bilinear over icy points; the ice extent is that of the nearest point.
enum class Interpolation { bilinear, nearest, thickness };

/// Requirements on a variable of the input.
struct FieldInfo {
  std::string variable, units; // "": not converted
  double min, max;             // in these units
  Interpolation method = Interpolation::bilinear;
  bool of_ids = false;   // integers; 0 means none
  bool of_ice = false;   // undefined without ice: there the mean over ice is used
  bool has_mean = false; // has other records than thk: their mean is used
  bool is_used = true;   // if false, a field with missing values is ignored
};

/// The position of a point between two file points: index of the lower one, weight of the upper.
struct Place {
  int before;
  double weight;
};

/// The block of a file that covers a patch, in file order, and the position of the patch's points
/// in it. x and y are the file's axes; `flip_x`: its x decreases.
struct FileBlock {
  FileBlock(const Axis& axis_x, const Axis& axis_y, bool flip_x, bool flip_y, const Grid& grid,
            const Patch& patch);

  /// f(position in the block, weight) for the file points around the view indices (j, i).
  template <class F> void for_each_corner(int j, int i, const F& f) const {
    const Place &py = y[static_cast<std::size_t>(j - 1)], &px = x[static_cast<std::size_t>(i - 1)];
    for (int corner = 0; corner < 4; ++corner) {
      const int dj = corner / 2, di = corner % 2;
      const double weight =
          (dj == 1 ? py.weight : 1.0 - py.weight) * (di == 1 ? px.weight : 1.0 - px.weight);
      if (weight == 0.0) continue;
      const std::size_t row = static_cast<std::size_t>(py.before + dj),
                        column = static_cast<std::size_t>(px.before + di);
      f((flip_rows ? count[0] - 1 - row : row) * count[1] +
            (flip_columns ? count[1] - 1 - column : column),
        weight);
    }
  }

  std::vector<std::size_t> start, count; // rows, columns
  // Per owned column and row; indices increase with the coordinate, within the block.
  std::vector<Place> x, y;
  bool flip_rows, flip_columns;
};

enum Fault : std::size_t { not_a_number, negative, out_of_range, n_faults };

/// Counts the points with each fault and keeps one of these points.
class Faults {
public:
  void add(Fault fault, std::int64_t cell);
  /// Throws Error, beginning with `what`, on all ranks if any rank has a fault. Two reductions.
  void check(MpiRanks& ranks, const Grid& grid, const FieldInfo& info,
             const std::string& what) const;

private:
  std::vector<std::int64_t> m_count = std::vector<std::int64_t>(n_faults, 0),
                            m_where = std::vector<std::int64_t>(n_faults, -1);
};

/// The value at (j, i) from the `values` around it, in the order of the block; NaN if none is
/// valid. `ice`: thickness at these points if info.of_ice. `fault` is set if one is invalid.
double interpolate(const FieldInfo& info, const FileBlock& block, int j, int i,
                   const std::vector<double>& values, const std::vector<double>& ice, Fault& fault);

/// Replaces NaN in owned cells by the mean of values up to `largest` (0 if none). One reduction.
void fill_with_mean(MpiRanks& ranks, const SharedArray2<double>& field, double largest);

/// The value of a column at a height (m): linear between the heights z, constant above the highest.
double at_height(const std::vector<double>& column, const std::vector<double>& z, double height);

} // namespace nunatak
