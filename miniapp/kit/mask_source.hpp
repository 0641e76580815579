// The mask of a tool, a function of the global cell: a formula, a picture or a NetCDF file.
//
//   -mask serpentine | spiral | comb | checkerboard | empty | full    0 or 1
//   -mask percolation:P[:SEED]                                        0 or 1
//   -mask shelves[:SEED[:ROUGHNESS]]            2 grounded, 3 floating, 4 ocean
//   -mask "P1 3 2 110 011"                      the text of a picture
//   -i picture.pbm                              the same in a file; the upper row is row 0
//   -i file.nc [-variable NAME]                 (y, x) or (time, y, x), of which the last record
//
// Default: `mask`, or else the cell types from `thk` and `topg`: 0 ice-free land, 2 grounded, 3
// floating, 4 ocean. See also kernels/cases/masks.hpp (formulas), mask_fields.hpp.
#pragma once

#include "miniapp/base/option_table.hpp"
#include "miniapp/kit/compare.hpp"

#include <functional>
#include <string>

namespace nunatak::kit {

struct MaskOptions {
  std::string file;     // -i
  std::string variable; // -variable
  std::string mask;     // -mask
  int Mx = 201, My = 0; // for generated masks; My = 0: Mx
  int refine = 1;       // subdivides cells into refine x refine

  void add_to(OptionTable& table);
};

struct Mask {
  int Mx = 0, My = 0;
  std::string name; ///< "percolation:0.6:1", "antarctica.nc mask"
  std::function<int(int j, int i)> value;
  bool cell_types = false;            ///< values are cell types instead of 0 and 1
  std::vector<double> x = {}, y = {}; ///< cell coordinates of a file, m; may be empty

  MapGrid grid() const { return {Mx, My, x, y}; }
  std::vector<int> values() const; ///< of all cells in raster order
};

/// The function of the cells of these values in raster order.
std::function<int(int j, int i)> raster(int Mx, std::vector<int> values);

/// Collective; every process holds all values of a file. Throws Error on all ranks.
Mask read_mask(const MaskOptions& options);

} // namespace nunatak::kit
