// How a variable of an input file becomes a field of the run: what the file says of itself
// (coordinates) held against what it holds, the block of the file that covers a patch,
// interpolation, faults. Neighbour: input.hpp, whose functions use it.
#pragma once

#include "io/reader.hpp"
#include "miniapp/base/mpi_ranks.hpp"
#include "miniapp/model/grid.hpp"

#include <array>
#include <string>
#include <vector>

namespace nunatak {

/// Throws Error if a coordinate has not one dimension, its own: one of another length would place
/// the fields wrongly. `what` begins its text.
void check_own_dimension(const io::Reader& in, const std::string& name, const std::string& what);

/// The points of a coordinate in metres, increasing; `flip`: they decrease in the file. Collective.
/// Throws Error if there is no such variable, or if it is not regular, has fewer than two points or
/// a spacing that no ice sheet has.
Axis read_axis(const io::Reader& in, const std::string& name, bool& flip);

/// `thickness`: bilinear over icy points; the ice extent is that of the nearest point.
enum class Interpolation { bilinear, nearest, thickness };

/// What a variable of the input must be like.
struct FieldInfo {
  std::string variable, units; // "": not converted
  double min, max;             // in these units
  Interpolation method = Interpolation::bilinear;
  bool of_ids = false;   // whole numbers only, 0 where there is none
  bool of_ice = false;   // says nothing where the file has no ice: there the mean over ice is taken
  bool has_mean = false; // of several records, where thk has others
  bool is_used = true;   // if not, a field with missing values is left out
};

/// Where a point lies between the points of the file: index of the point before, and the weight of
/// the one after.
struct Place {
  int before;
  double weight;
};

/// The block of a file that covers a patch, in the order of the file, and where every point of the
/// patch lies in it. The file's points are on the axes x and y; `flip_x`: its x decreases.
struct FileBlock {
  FileBlock(const Axis& axis_x, const Axis& axis_y, bool flip_x, bool flip_y, const Grid& grid,
            const Patch& patch);

  /// f(position in the block, weight) for the points of the file around the point with view indices
  /// (j, i).
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
  std::vector<Place> x,
      y; // per owned column and row; indices along increasing coordinates, within the block
  bool flip_rows, flip_columns;
};

/// What can be wrong with a value.
enum Fault : std::size_t { not_a_number, negative, out_of_range, n_faults };

/// How many points each fault touches, and one of these points.
class Faults {
public:
  void add(Fault fault, std::int64_t cell);
  /// Throws Error on all ranks if a point of any rank has a fault; `what` begins its text. Two
  /// reductions.
  void check(MpiRanks& ranks, const Grid& grid, const FieldInfo& info,
             const std::string& what) const;

private:
  std::vector<std::int64_t> m_count = std::vector<std::int64_t>(n_faults, 0),
                            m_where = std::vector<std::int64_t>(n_faults, -1);
};

/// The value at the point (j, i) from `values` of the points around it, in the order of the block;
/// NaN if none says anything. `ice`: thickness at these points if info.of_ice. `fault`: what is
/// wrong with one of them, else as it was.
double interpolate(const FieldInfo& info, const FileBlock& block, int j, int i,
                   const std::vector<double>& values, const std::vector<double>& ice, Fault& fault);

/// The mean of the numbers, none larger than `largest`, in place of NaN, in owned cells; 0 if there
/// is no number. One reduction.
void fill_with_mean(MpiRanks& ranks, const SharedArray2<double>& field, double largest);

/// The value of a column at a height (m): linear between its heights z, constant above the highest.
double at_height(const std::vector<double>& column, const std::vector<double>& z, double height);

} // namespace nunatak
