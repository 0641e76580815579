// The systems whose output nunatak-io writes: grids, variables, ownership. See workload.hpp.
#include "miniapp/base/error.hpp"
#include "miniapp/base/parse.hpp"
#include "miniapp/tools/io/workload.hpp"

#include <algorithm>
#include <cmath>

namespace nunatak::tools {

namespace {

/// round(length * scale), at least 2; odd if `length` is.
std::size_t scaled(std::size_t length, double scale) {
  const double number = std::round(static_cast<double>(length) * scale);
  std::size_t n = std::max<std::size_t>(2, static_cast<std::size_t>(number));
  if (length % 2 == 1 && n % 2 == 0) n += 1;
  return n;
}

struct Grid {
  std::string name;
  std::size_t nx, ny, nz;
  double step; ///< coordinate spacing
};

/// The grid named by `detail`, its lengths times `scale`.
Grid grid_of(const std::string& system, const std::string& detail, const std::vector<Grid>& grids,
             double scale, bool scale_levels) {
  std::string names;
  for (const Grid& g : grids) {
    if (detail == g.name)
      return {g.name, scaled(g.nx, scale), scaled(g.ny, scale),
              scale_levels ? scaled(g.nz, scale) : g.nz, g.step};
    names += (names.empty() ? "" : &g == &grids.back() ? " or " : ", ") + system + ":" + g.name;
  }
  throw Error("option -workload: expected " + names + ", found '" + system + ":" + detail + "'");
}

std::string size_of(const Grid& g) {
  return std::to_string(g.nx) + " x " + std::to_string(g.ny) + " x " + std::to_string(g.nz);
}

/// Factors of `ranks`, the first for ly: patches as square, or factors as equal, as possible.
std::vector<std::size_t> square_patches(std::size_t ranks, std::size_t ly, std::size_t lx) {
  std::size_t best = 1;
  const auto outline = [&](std::size_t py) { // half the perimeter of a patch
    return static_cast<double>(ly) / static_cast<double>(py) +
           static_cast<double>(lx) * static_cast<double>(py) / static_cast<double>(ranks);
  };
  for (std::size_t py = 1; py <= ranks; ++py) {
    if (ranks % py == 0 && outline(py) < outline(best)) best = py;
  }
  return {best, ranks / best};
}

std::vector<std::size_t> equal_factors(std::size_t ranks) {
  std::size_t small = 1;
  for (std::size_t f = 1; f * f <= ranks; ++f) {
    if (ranks % f == 0) small = f;
  }
  return {ranks / small, small};
}

void add(Workload& w, io::Type type, const std::vector<std::string>& dimensions,
         std::initializer_list<const char*> names, Content content = Content::pattern,
         bool records = true) {
  for (const char* name : names) w.variables.push_back({name, type, dimensions, content, records});
}

} // namespace

/// The state of an ice sheet model: boxes in y and x, columns contiguous, a ring of ghosts.
///
/// Grids of PISM 0.5: Dickens and Morey (2013), Increasing the scalability of PISM for high
/// resolution ice sheet models (points along x, y, z): Greenland at 5 and 1 km, Antarctica at 10
/// km. Variables as in nunatak: 15 maps, 6 arrays of columns, doubles, and a mask of bytes.
Workload pism_workload(const std::string& detail, double scale, bool scale_levels) {
  const std::vector<Grid> grids = {{"G5km", 301, 561, 201, 5000.0},
                                   {"A10km", 600, 600, 301, 10000.0},
                                   {"G1km", 1501, 2801, 401, 1000.0}};
  const Grid g = grid_of("pism", detail, grids, scale, scale_levels);
  Workload w;
  w.text = size_of(g) + ", 15 maps, 6 arrays of columns";
  w.dimensions = {{"y", "m", g.ny, 0, false, g.step},
                  {"x", "m", g.nx, 1, false, g.step},
                  {"z", "m", g.nz, -1, true, 20.0}};
  w.ghosts = 1;
  w.grid = [g](std::size_t ranks) { return square_patches(ranks, g.ny, g.nx); };
  add(w, io::Type::float64, {"y", "x"}, {"lat", "lon"}, Content::pattern, false);
  add(w, io::Type::int8, {"y", "x"}, {"mask"});
  add(w, io::Type::float64, {"y", "x"},
      {"thk", "topg", "usurf", "dbdt", "bheatflx", "bmelt", "bwat", "tauc", "ubar", "vbar",
       "climatic_mass_balance", "ice_surface_temp"});
  add(w, io::Type::float64, {"y", "x", "z"}, {"enthalpy", "temp", "age", "uvel", "vvel", "wvel"});
  return w;
}

/// A history file of the Community Atmosphere Model, decomposed along latitudes and levels.
///
/// Tseng and Ding (2008), Efficient parallel I/O in Community Atmosphere Model (CAM), International
/// Journal of High Performance Computing Applications 22: finite-volume grids FV-B (2 x 2.5
/// degrees), FV-C (1 x 1.25) and FV-D (0.5 x 0.625), poles included, 26 levels; lon x lev x lat in
/// memory (Fortran: lon fastest), lon x lat x lev in the file. An FV-D file holds 4.1 GB: here 186
/// arrays with levels and 93 without, floats, 4.0997 GB.
Workload cam_workload(const std::string& detail, double scale, bool scale_levels) {
  const std::vector<Grid> grids = {
      {"FV-B", 144, 91, 26, 2.5}, {"FV-C", 288, 181, 26, 1.25}, {"FV-D", 576, 361, 26, 0.625}};
  const Grid g = grid_of("cam", detail, grids, scale, scale_levels);
  Workload w;
  w.text = size_of(g) + ", 93 maps, 186 arrays with levels";
  w.order = "zyx";
  w.dimensions = {{"lat", "degrees_north", g.ny, 0, false, 0.8 * g.step},
                  {"lev", "1", g.nz, 1, true, 1.0},
                  {"lon", "degrees_east", g.nx, -1, false, g.step}};
  w.grid = equal_factors;
  for (int n = 1; n <= 93; ++n)
    w.variables.push_back({"MAP" + std::to_string(n), io::Type::float32, {"lat", "lon"}});
  for (int n = 1; n <= 186; ++n)
    w.variables.push_back({"FIELD" + std::to_string(n), io::Type::float32, {"lat", "lev", "lon"}});
  return w;
}

/// A restart file of an ocean model on a tripolar grid: boxes, some of them all land.
///
/// Grids of MOM5 at 1/4 degree (1440 x 1080 x 50) and 1/10 degree (3600 x 2700 x 75), lon x lat x
/// depth, lon fastest, in memory and in the file. Continents are three rectangles (axes: fractions
/// of the grid), 30 % of the cells:
///
///   1.0 +------------+--------------------+
///       |############|        ####        |     #  land: _FillValue
///       |############|        ####        |
///   0.5 |############|        ####        |     With 2 x 3 ranks the box in the upper left is
///       |                     ####        |     all land: that rank has no cells
///       |#################################|
///   0.0 +---------------------------------+
///
/// The rank before such a rank writes the fill values, as MOM's I/O root does.
Workload mom_workload(const std::string& detail, double scale, bool scale_levels) {
  const Grid g =
      grid_of("mom", detail, {{"0.25", 1440, 1080, 50, 0.25}, {"0.1", 3600, 2700, 75, 0.1}}, scale,
              scale_levels);
  Workload w;
  w.text = size_of(g) + ", 4 maps, 6 arrays with levels, land";
  w.order = "zyx";
  w.dimensions = {{"st_ocean", "m", g.nz, -1, true, 10.0},
                  {"yt_ocean", "1", g.ny, 0, false, 1.0}, // curvilinear: row and column numbers
                  {"xt_ocean", "1", g.nx, 1, false, 1.0}};
  w.ghosts = 1;
  w.grid = [g](std::size_t ranks) { return square_patches(ranks, g.ny, g.nx); };
  w.is_land = [g](std::size_t j, std::size_t i) {
    const double y = (static_cast<double>(j) + 0.5) / static_cast<double>(g.ny),
                 x = (static_cast<double>(i) + 0.5) / static_cast<double>(g.nx);
    return (x < 0.36 && y > 0.48) || (x > 0.60 && x < 0.70 && y > 0.20) || y < 0.06;
  };
  add(w, io::Type::float64, {"yt_ocean", "xt_ocean"}, {"eta_t", "pbot_t", "patm_t", "rho0_t"},
      Content::ocean);
  add(w, io::Type::float64, {"st_ocean", "yt_ocean", "xt_ocean"},
      {"temp", "salt", "age_global", "u", "v", "wt"}, Content::ocean);
  return w;
}

/// A history file of the Global Cloud Resolving Model: cells, corners and edges of a geodesic grid,
/// each rank has a range in Morton order. An icosahedron whose triangles are halved R times has 10
/// 4^R + 2 points (cells), 20 4^R triangles (corners) and 30 4^R lines (edges).
///
/// Schuchardt et al. (2009), Palmer et al. (2011), Efficient data IO for a parallel Global Cloud
/// Resolving Model (R = 11: 4 km, R = 12: 2 km): temperature, pressure and others at cells,
/// vorticity at corners, wind at edges; neighbours, corners and edges of each cell, corners of each
/// edge. Our choice: 25 layers, 26 interfaces, floats, 32-bit indices. -scale: R + log2(scale).
Workload gcrm_workload(const std::string& detail, double scale, bool scale_levels) {
  const auto asked =
      static_cast<int>(whole_number(detail, 0, 12, "option -workload 'gcrm:" + detail + "'"));
  const int R = std::clamp(asked + static_cast<int>(std::lround(std::log2(scale))), 0, 12);
  const std::size_t n = std::size_t{1} << (2 * R), cells = 10 * n + 2;
  const std::size_t layers = scale_levels ? scaled(25, scale) : 25;
  Workload w;
  w.text = "R = " + std::to_string(R) + ", " + std::to_string(cells) + " cells x " +
           std::to_string(layers) + ", 9 arrays and 4 of the grid";
  w.dimensions = {{"cells", "", cells, 0, false, 0.0},
                  {"corners", "", 20 * n, 0, false, 0.0},
                  {"edges", "", 30 * n, 0, false, 0.0},
                  {"layers", "1", layers, -1, true, 1.0},
                  {"interfaces", "1", layers + 1, -1, true, 1.0},
                  {"cell_sides", "", 6, -1, false, 0.0},
                  {"edge_sides", "", 2, -1, false, 0.0}};
  w.grid = [](std::size_t ranks) { return std::vector<std::size_t>{ranks}; };
  add(w, io::Type::int32, {"cells", "cell_sides"}, {"cell_neighbors", "cell_corners", "cell_edges"},
      Content::pattern, false);
  add(w, io::Type::int32, {"edges", "edge_sides"}, {"edge_corners"}, Content::pattern, false);
  add(w, io::Type::float32, {"cells"}, {"surface_temperature"});
  add(w, io::Type::float32, {"cells", "layers"},
      {"temperature", "pressure", "water_vapor", "cloud_water"});
  add(w, io::Type::float32, {"cells", "interfaces"}, {"geopotential", "vertical_velocity"});
  add(w, io::Type::float32, {"corners", "layers"}, {"vorticity"});
  add(w, io::Type::float32, {"edges", "layers"}, {"wind"});
  return w;
}

} // namespace nunatak::tools
