// The systems whose output nunatak-io writes: grids, variables, ownership. See workload.hpp.
// `detail` is the part of a name after the colon.
#include "miniapp/base/error.hpp"
#include "miniapp/base/parse.hpp"
#include "miniapp/tools/io/workload.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <numeric>
#include <sstream>

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

/// Adds `n` variables: stem and number.
void add(Workload& w, io::Type type, const std::vector<std::string>& dimensions,
         const std::string& stem, int n, Content content = Content::pattern, bool records = true) {
  for (int k = 1; k <= n; ++k)
    w.variables.push_back({stem + std::to_string(k), type, dimensions, content, records});
}

/// Three rectangles, 30 % of the unit square (drawn above mom_workload).
bool is_continent(double y, double x) {
  return (x < 0.36 && y > 0.48) || (x > 0.60 && x < 0.70 && y > 0.20) || y < 0.06;
}

/// Place of cell (x, y) of a square with 2^k x 2^k cells on Hilbert's curve.
std::uint64_t hilbert(int k, std::uint64_t x, std::uint64_t y) {
  std::uint64_t place = 0;
  for (std::uint64_t side = std::uint64_t{1} << k >> 1; side > 0; side /= 2) {
    const bool right = (x & side) != 0, up = (y & side) != 0;
    place = 4 * place + (right ? (up ? 2 : 3) : (up ? 1 : 0));
    x &= side - 1;
    y &= side - 1;
    if (up) continue;
    if (right) {
      x = side - 1 - x;
      y = side - 1 - y;
    }
    std::swap(x, y);
  }
  return place;
}

/// Equal pieces of a curve for the ranks: the rank of each cell, from its place on the curve.
std::vector<std::size_t> deal(const std::vector<std::uint64_t>& place, std::size_t ranks) {
  std::vector<std::size_t> order(place.size()), owner(place.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return place[a] < place[b]; });
  for (std::size_t n = 0; n < order.size(); ++n) owner[order[n]] = n * ranks / order.size();
  return owner;
}

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
  add(w, io::Type::float32, {"lat", "lon"}, "MAP", 93);
  add(w, io::Type::float32, {"lat", "lev", "lon"}, "FIELD", 186);
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
  w.is_missing = [g](std::size_t j, std::size_t i) {
    return is_continent((static_cast<double>(j) + 0.5) / static_cast<double>(g.ny),
                        (static_cast<double>(i) + 0.5) / static_cast<double>(g.nx));
  };
  add(w, io::Type::float64, {"yt_ocean", "xt_ocean"}, {"eta_t", "pbot_t", "patm_t", "rho0_t"},
      Content::masked);
  add(w, io::Type::float64, {"st_ocean", "yt_ocean", "xt_ocean"},
      {"temp", "salt", "age_global", "u", "v", "wt"}, Content::masked);
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

/// F: a history file of the atmosphere, on the spectral elements of a cubed sphere. An element has
/// nine columns of its own, numbered one after another. The dynamics have elements in equal pieces
/// of a curve; the physics exchange every second column with the rank half the curve away.
void make_atmosphere(Workload& w, double scale, std::size_t levels) {
  const std::size_t ne = std::max<std::size_t>(2, std::lround(120.0 * scale)),
                    elements = 6 * ne * ne, columns = 9 * elements + 2;
  w.text = "ne" + std::to_string(ne) + ", " + std::to_string(columns) + " columns x " +
           std::to_string(levels) + ", 321 maps, 63 with levels";
  w.dimensions = {{"lev", "1", levels, -1, true, 1.0},
                  {"ncol", "", columns, 0, false, 0.0},
                  {"ncol_d", "", columns, 0, false, 0.0}};
  w.owners = [=](const std::string& dimension, std::size_t ranks) {
    int k = 0;
    while (std::size_t{1} << k < ne) ++k;
    std::vector<std::uint64_t> place(elements);
    for (std::size_t e = 0; e < elements; ++e)
      place[e] = (e / ne / ne << 2 * k) + hilbert(k, e % ne, e / ne % ne);
    const std::vector<std::size_t> of_element = deal(place, ranks);
    std::vector<std::size_t> owner(columns);
    for (std::size_t c = 0; c < columns; ++c) {
      const bool exchanged = dimension == "ncol" && c % 2 == 1;
      owner[c] = (of_element[std::min(c / 9, elements - 1)] + (exchanged ? ranks / 2 : 0)) % ranks;
    }
    return owner;
  };
  add(w, io::Type::float64, {"ncol_d"}, {"area"}, Content::pattern, false);
  add(w, io::Type::float64, {"ncol"}, {"lat", "lon"}, Content::pattern, false);
  add(w, io::Type::float32, {"ncol"}, "MAP", 321);
  add(w, io::Type::float32, {"lev", "ncol"}, "FIELD", 63);
}

/// G: the ocean, on cells, edges and vertices of an unstructured mesh, levels fastest in the file.
/// Its numbers do not follow the pieces: every cell is a run, as nearly in the published counts.
void make_ocean(Workload& w, double scale, std::size_t levels) {
  const auto times = [&](double n) {
    return std::max<std::size_t>(2, std::lround(n * scale * scale));
  };
  const std::size_t cells = times(3693225), edges = times(11135652), vertices = times(7441216);
  w.text = std::to_string(cells) + " cells, " + std::to_string(edges) + " edges x " +
           std::to_string(levels) + ", 41 arrays";
  w.order = "yxz";
  w.dimensions = {{"nCells", "", cells, 0, false, 0.0},
                  {"nEdges", "", edges, 0, false, 0.0},
                  {"nVertices", "", vertices, 0, false, 0.0},
                  {"nVertLevels", "1", levels, -1, true, 1.0},
                  {"nVertLevelsP1", "1", levels + 1, -1, true, 1.0}};
  w.owners = [=](const std::string& dimension, std::size_t ranks) {
    std::vector<std::size_t> owner(dimension == "nCells"   ? cells
                                   : dimension == "nEdges" ? edges
                                                           : vertices);
    const std::size_t n = owner.size();
    auto step = static_cast<std::size_t>(0.618 * static_cast<double>(n)); // from place to place
    while (std::gcd(step, n) != 1) ++step;
    for (std::size_t c = 0; c < n; ++c) owner[c] = c * step % n * ranks / n;
    return owner;
  };
  add(w, io::Type::int32, {"nCells"}, {"maxLevelCell"}, Content::pattern, false);
  add(w, io::Type::int32, {"nEdges"}, {"maxLevelEdgeTop", "maxLevelEdgeBot"}, Content::pattern,
      false);
  add(w, io::Type::float64, {"nCells"}, {"bottomDepth"}, Content::pattern, false);
  for (const char* of : {"nCells", "nEdges", "nVertices"})
    add(w, io::Type::int32, {of, "nVertLevels"}, of + std::string("Mask"), 1, Content::pattern,
        false);
  add(w, io::Type::float64, {"nCells"}, "map", 4);
  add(w, io::Type::float64, {"nCells", "nVertLevels"}, "field", 24);
  add(w, io::Type::float64, {"nEdges", "nVertLevels"}, {"normalVelocity"});
  add(w, io::Type::float64, {"nVertices", "nVertLevels"}, {"relativeVorticity"});
  add(w, io::Type::float64, {"nCells", "nVertLevelsP1"}, "interface", 4);
}

/// I: the land, on latitudes and longitudes. The land cells, row by row, are cut into 20 segments
/// per rank, dealt round-robin (the namelist's nsegspc); the ocean's fill values in equal pieces.
void make_land(Workload& w, double scale) {
  const std::size_t ny = scaled(360, scale), nx = scaled(720, scale);
  w.text =
      std::to_string(nx) + " x " + std::to_string(ny) + ", 465 maps, 81 with levels, ocean missing";
  w.dimensions = {{"levgrnd", "1", 15, -1, true, 1.0},
                  {"levlak", "1", 10, -1, true, 1.0},
                  {"ltype", "1", 9, -1, true, 1.0},
                  {"natpft", "1", 17, -1, true, 1.0},
                  {"lat", "degrees_north", ny, 0, false, 0.5 / scale},
                  {"lon", "degrees_east", nx, 0, false, 0.5 / scale}};
  w.is_missing = [=](std::size_t j, std::size_t i) {
    return !is_continent((static_cast<double>(j) + 0.5) / static_cast<double>(ny),
                         (static_cast<double>(i) + 0.5) / static_cast<double>(nx));
  };
  w.owners = [ny, nx, is_missing = w.is_missing](const std::string&, std::size_t ranks) {
    std::vector<std::size_t> owner(ny * nx), land, ocean;
    for (std::size_t c = 0; c < owner.size(); ++c)
      (is_missing(c / nx, c % nx) ? ocean : land).push_back(c);
    for (std::size_t n = 0; n < land.size(); ++n)
      owner[land[n]] = n * 20 * ranks / land.size() % ranks;
    for (std::size_t n = 0; n < ocean.size(); ++n) owner[ocean[n]] = n * ranks / ocean.size();
    return owner;
  };
  const auto add_all = [&](const std::vector<std::string>& dimensions, const std::string& stem,
                           int fixed, int all) {
    add(w, io::Type::float32, dimensions, stem + "_FIXED", fixed, Content::masked, false);
    add(w, io::Type::float32, dimensions, stem, all - fixed, Content::masked);
  };
  add(w, io::Type::int32, {"lat", "lon"}, {"landmask", "pftmask"}, Content::masked, false);
  add_all({"lat", "lon"}, "MAP", 3, 463);
  add_all({"levgrnd", "lat", "lon"}, "SOIL", 6, 75);
  add_all({"levlak", "lat", "lon"}, "LAKE", 2, 4);
  add_all({"ltype", "lat", "lon"}, "LANDUNIT", 0, 1);
  add_all({"natpft", "lat", "lon"}, "PLANT", 0, 1);
}

/// History files of the Energy Exascale Earth System Model: the variables that are distributed, 387
/// of 414 in F (h0), 41 of 52 in G, 546 of 560 in I (h0), with the types, sizes and numbers that
/// the benchmark E3SM-IO publishes (docs/variables.md, datasets/README.md: F of 21600 processes, G
/// of 9600, I of 1344). The decompositions are synthesised; the counts of runs follow the published
/// ones: per rank and map of two dimensions 36 to 38 (F), 20 to 25 of land (I). -scale 0.25 makes
/// F the grid ne30, with 48602 columns.
Workload e3sm_workload(const std::string& detail, double scale, bool scale_levels) {
  Workload w;
  w.order = "zyx";
  if (detail == "F") {
    make_atmosphere(w, scale, scale_levels ? scaled(72, scale) : 72);
  } else if (detail == "G") {
    make_ocean(w, scale, scale_levels ? scaled(80, scale) : 80);
  } else if (detail == "I") {
    make_land(w, scale);
  } else {
    throw Error("option -workload: expected e3sm:F, e3sm:G or e3sm:I, found 'e3sm:" + detail + "'");
  }
  return w;
}

/// The triangles of an icosahedron whose edges are halved, then halved k times: ICON's R2Bk, 80 4^k
/// cells. In the file they are numbered root by root, the four parts of a triangle one after
/// another; the ranks have equal pieces of Hilbert's curve through the unfolded icosahedron, so
/// that a rank's edge cuts the parts into shorter runs. Levels are slowest in the file.
/// Giorgetta et al. (2018), ICON-A, the atmosphere component of the ICON Earth system model: R2B4,
/// 47 levels. Our choice: 8 arrays with levels, 12 maps, floats. -scale: k + log2(scale).
Workload icon_workload(const std::string& detail, double scale, bool scale_levels) {
  const std::string what = "option -workload 'icon:" + detail + "'";
  if (detail.rfind("R2B", 0) != 0)
    throw Error(
        "option -workload: expected icon:R2B and a number of 0 to 10, found 'icon:" + detail + "'");
  const auto asked = static_cast<int>(whole_number(detail.substr(3), 0, 10, what));
  const int k = std::clamp(asked + static_cast<int>(std::lround(std::log2(scale))), 0, 10);
  const std::size_t of_root = std::size_t{4} << 2 * k,
                    levels = scale_levels ? scaled(47, scale) : 47;
  Workload w;
  w.text = "R2B" + std::to_string(k) + ", " + std::to_string(20 * of_root) + " triangles x " +
           std::to_string(levels) + ", 12 maps, 8 with levels";
  w.order = "zyx";
  w.dimensions = {{"height", "1", levels, -1, true, 1.0},
                  {"ncells", "", 20 * of_root, 0, false, 0.0}};
  w.owners = [=](const std::string&, std::size_t ranks) {
    struct Point {
      double x, y;
    };
    const auto middle = [](Point a, Point b) { return Point{(a.x + b.x) / 2, (a.y + b.y) / 2}; };
    const int bits = k + 6; // cells of the curve are smaller than a triangle
    const double height = std::sqrt(0.75), size = std::ldexp(1.0, bits) / 8;
    std::vector<std::uint64_t> place;
    for (std::size_t cell = 0; cell < 20 * of_root; ++cell) {
      const std::size_t root = cell / of_root, row = root / 5;
      const double x = static_cast<double>(root % 5) + 0.5 * static_cast<double>((row + 1) / 2),
                   low = height * static_cast<double>((row + 1) / 2),
                   tip = row % 2 == 0 ? low + height : low - height;
      Point a{x, low}, b{x + 1, low}, c{x + 0.5, tip};
      for (int digit = k; digit >= 0; --digit) {
        const Point ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
        const std::size_t part = cell >> 2 * digit & 3;
        a = part == 1 ? ab : part == 2 ? ca : part == 3 ? bc : a;
        b = part == 0 ? ab : part == 2 ? bc : part == 3 ? ca : b;
        c = part == 0 ? ca : part == 1 ? bc : part == 3 ? ab : c;
      }
      place.push_back(hilbert(bits, static_cast<std::uint64_t>((a.x + b.x + c.x) / 3 * size),
                              static_cast<std::uint64_t>((a.y + b.y + c.y) / 3 * size)));
    }
    return deal(place, ranks);
  };
  add(w, io::Type::float32, {"ncells"}, "map", 12);
  add(w, io::Type::float32, {"height", "ncells"}, "field", 8);
  return w;
}

struct System {
  const char* name;
  Workload (*make)(const std::string& detail, double scale, bool scale_levels);
  std::vector<const char*> sizes; ///< listed by -help
};

const std::vector<System> systems = {{"pism", pism_workload, {"G5km", "A10km", "G1km"}},
                                     {"cam", cam_workload, {"FV-B", "FV-C", "FV-D"}},
                                     {"mom", mom_workload, {"0.25", "0.1"}},
                                     {"gcrm", gcrm_workload, {"6", "9", "11"}},
                                     {"e3sm", e3sm_workload, {"F", "G", "I"}},
                                     {"icon", icon_workload, {"R2B4", "R2B6", "R2B9"}}};

} // namespace

Workload make_workload(const std::string& name, double scale, bool scale_levels,
                       std::size_t variables) {
  const std::size_t colon = name.find(':');
  const std::string system = name.substr(0, colon),
                    detail = colon == std::string::npos ? "" : name.substr(colon + 1);
  if (!(scale >= 1e-6 && scale <= 100.0))
    throw Error("option -scale: expected a number from 1e-6 to 100, found " +
                std::to_string(scale));
  const auto found = std::find_if(systems.begin(), systems.end(),
                                  [&](const System& known) { return known.name == system; });
  if (found == systems.end())
    throw Error("option -workload: expected pism:, cam:, mom:, gcrm:, e3sm: or icon: and a size "
                "(-help lists them), found '" +
                name + "'");
  Workload workload = found->make(detail, scale, scale_levels);
  workload.name = name;
  const std::size_t all = workload.variables.size();
  if (variables > 0 && variables < all) {
    std::vector<WorkloadVariable> kept;
    for (std::size_t v = 0; v < all; ++v) {
      if ((v + 1) * variables / all > v * variables / all) kept.push_back(workload.variables[v]);
    }
    workload.variables = kept;
    workload.text += "; " + std::to_string(variables) + " of these variables";
  }
  std::vector<WorkloadVariable> coordinates; // first in the file
  for (const WorkloadDimension& d : workload.dimensions) {
    if (d.spacing != 0.0)
      coordinates.push_back({d.name, io::Type::float64, {d.name}, Content::coordinate, false});
  }
  workload.variables.insert(workload.variables.begin(), coordinates.begin(), coordinates.end());
  return workload;
}

std::vector<std::string> workload_table() {
  std::vector<std::string> lines;
  for (const System& system : systems) {
    for (const char* size : system.sizes) {
      const Workload workload = make_workload(std::string(system.name) + ":" + size);
      std::ostringstream line;
      line << std::left << std::setw(11) << workload.name << std::right << std::setw(13)
           << workload.bytes_per_record() << " bytes per record, " << workload.text;
      lines.push_back(line.str());
    }
  }
  return lines;
}

} // namespace nunatak::tools
