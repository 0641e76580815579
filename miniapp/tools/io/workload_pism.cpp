// The state of an ice sheet model: boxes in y and x, whole columns. See workload.hpp.
//
// Grids: Dickens and Morey (2013), Increasing the scalability of PISM for high resolution ice sheet models (points along x, y,
// z): Greenland at 5 and 1 km, Antarctica at 10 km. Their files hold the state of PISM 0.5; the list of variables here is ours
// (what nunatak writes, in PISM's manner): 15 maps and 6 arrays of columns, doubles, and a mask of bytes. Arrays in memory are
// (y,x,z) with one ring of ghosts, columns contiguous.
#include "miniapp/base/error.hpp"
#include "miniapp/tools/io/workload.hpp"

namespace nunatak::tools {

Workload pism_workload(const std::string& detail, double scale, bool scale_levels) {
  struct Grid {
    const char* name;
    std::size_t Mx, My, Mz;
    double spacing;
  };
  const Grid grids[] = {{"G5km", 301, 561, 201, 5000.0}, {"A10km", 600, 600, 301, 10000.0}, {"G1km", 1501, 2801, 401, 1000.0}};
  for (const Grid& g : grids) {
    if (detail != g.name) continue;
    const std::size_t My = scaled(g.My, scale), Mx = scaled(g.Mx, scale), Mz = scale_levels ? scaled(g.Mz, scale) : g.Mz;
    Workload w;
    w.text = std::to_string(Mx) + " x " + std::to_string(My) + " x " + std::to_string(Mz) + ", 15 maps, 6 arrays of columns";
    w.dimensions = {{"y", "m", My, 0, false, g.spacing}, {"x", "m", Mx, 1, false, g.spacing}, {"z", "m", Mz, -1, true, 20.0}};
    w.ghosts = 1;
    w.grid = [=](std::size_t ranks) { return square_patches(ranks, My, Mx); };
    for (const char* name : {"lat", "lon"}) w.variables.push_back({name, io::Type::float64, {"y", "x"}, Content::pattern, false});
    w.variables.push_back({"mask", io::Type::int8, {"y", "x"}});
    for (const char* name : {"thk", "topg", "usurf", "dbdt", "bheatflx", "bmelt", "bwat", "tauc", "ubar", "vbar",
                             "climatic_mass_balance", "ice_surface_temp"}) {
      w.variables.push_back({name, io::Type::float64, {"y", "x"}});
    }
    for (const char* name : {"enthalpy", "temp", "age", "uvel", "vvel", "wvel"}) {
      w.variables.push_back({name, io::Type::float64, {"y", "x", "z"}});
    }
    return w;
  }
  throw Error("option -workload: expected pism:G5km, pism:A10km or pism:G1km, found 'pism:" + detail + "'");
}

} // namespace nunatak::tools
