// A history file of the Global Cloud Resolving Model: cells, corners and edges of a geodesic grid, each rank a range of them in
// Morton order along the sphere. See workload.hpp and geodesic.hpp.
//
// Schuchardt et al. (2009), Palmer et al. (2011), Efficient data IO for a parallel Global Cloud Resolving Model: 10 4^R + 2 cells
// (R = 11: 4 km, R = 12: 2 km), temperature, pressure and others at cells, vorticity at corners, wind at edges; the file holds
// the grid as neighbours, corners and edges of each cell and corners of each edge. Levels: 25 layers and 26 interfaces, a choice
// of ours; floats, indices as 32-bit integers. -scale halves or doubles: R + log2(scale), rounded.
#include "miniapp/base/error.hpp"
#include "miniapp/base/words.hpp"
#include "miniapp/tools/io/geodesic.hpp"
#include "miniapp/tools/io/workload.hpp"

#include <algorithm>
#include <cmath>

namespace nunatak::tools {

Workload gcrm_workload(const std::string& detail, double scale, bool scale_levels) {
  const auto asked = static_cast<int>(whole_number(detail, 0, 12, "option -workload 'gcrm:" + detail + "'"));
  const int R = std::clamp(asked + static_cast<int>(std::lround(std::log2(scale))), 0, 12);
  const Geodesic sphere(R);
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  const std::size_t layers = scale_levels ? scaled(25, scale) : 25;
  Workload w;
  w.text = "R = " + std::to_string(R) + ", " + std::to_string(sphere.cells()) + " cells x " + std::to_string(layers) +
           ", 9 arrays and 4 of the grid";
  w.dimensions = {{"cells", "", size(sphere.cells()), 0, false, 0.0},
                  {"corners", "", size(sphere.corners()), 0, false, 0.0},
                  {"edges", "", size(sphere.edges()), 0, false, 0.0},
                  {"layers", "1", layers, -1, true, 1.0},
                  {"interfaces", "1", layers + 1, -1, true, 1.0},
                  {"cell_sides", "", 6, -1, false, 0.0},
                  {"edge_sides", "", 2, -1, false, 0.0}};
  w.grid = [](std::size_t ranks) { return std::vector<std::size_t>{ranks}; };
  const auto cells_and = [&](const char* name, auto around) {
    w.variables.push_back({name, io::Type::int32, {"cells", "cell_sides"}, Content::given, false, [=](std::uint64_t place) {
                             return around(static_cast<std::int64_t>(place / 6))[place % 6];
                           }});
  };
  cells_and("cell_neighbors", [=](std::int64_t cell) { return sphere.cell_neighbors(cell); });
  cells_and("cell_corners", [=](std::int64_t cell) { return sphere.cell_corners(cell); });
  cells_and("cell_edges", [=](std::int64_t cell) { return sphere.cell_edges(cell); });
  w.variables.push_back(
      {"edge_corners", io::Type::int32, {"edges", "edge_sides"}, Content::given, false, [=](std::uint64_t place) {
         return sphere.edge_corners(static_cast<std::int64_t>(place / 2))[place % 2];
       }});
  w.variables.push_back({"surface_temperature", io::Type::float32, {"cells"}});
  for (const char* name : {"temperature", "pressure", "water_vapor", "cloud_water"}) {
    w.variables.push_back({name, io::Type::float32, {"cells", "layers"}});
  }
  for (const char* name : {"geopotential", "vertical_velocity"}) {
    w.variables.push_back({name, io::Type::float32, {"cells", "interfaces"}});
  }
  w.variables.push_back({"vorticity", io::Type::float32, {"corners", "layers"}});
  w.variables.push_back({"wind", io::Type::float32, {"edges", "layers"}});
  return w;
}

} // namespace nunatak::tools
