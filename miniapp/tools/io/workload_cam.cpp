// A history file of the Community Atmosphere Model: latitudes and levels are cut among the ranks. See workload.hpp.
//
// Tseng and Ding (2008), Efficient parallel I/O in Community Atmosphere Model (CAM), International Journal of High Performance
// Computing Applications 22: finite-volume grids FV-B (2 x 2.5 degrees), FV-C (1 x 1.25) and FV-D (0.5 x 0.625), poles included,
// 26 levels; arrays are lon x lev x lat in memory (Fortran: lon fastest) and lon x lat x lev in the file; one history file of
// FV-D holds 4.1 GB. How many arrays that were is not told: 186 with levels and 93 without, floats, make 4.0997 GB.
#include "miniapp/base/error.hpp"
#include "miniapp/tools/io/workload.hpp"

namespace nunatak::tools {

Workload cam_workload(const std::string& detail, double scale, bool scale_levels) {
  struct Grid {
    const char* name;
    std::size_t lon, lat;
    double step;
  };
  const Grid grids[] = {{"FV-B", 144, 91, 2.5}, {"FV-C", 288, 181, 1.25}, {"FV-D", 576, 361, 0.625}};
  for (const Grid& g : grids) {
    if (detail != g.name) continue;
    const std::size_t lat = scaled(g.lat, scale), lon = scaled(g.lon, scale), lev = scale_levels ? scaled(26, scale) : 26;
    Workload w;
    w.text =
        std::to_string(lon) + " x " + std::to_string(lat) + " x " + std::to_string(lev) + ", 93 maps, 186 arrays with levels";
    w.order = "zyx";
    w.dimensions = {{"lat", "degrees_north", lat, 0, false, 0.8 * g.step},
                    {"lev", "1", lev, 1, true, 1.0},
                    {"lon", "degrees_east", lon, -1, false, g.step}};
    w.grid = equal_factors;
    for (int n = 1; n <= 93; ++n) {
      w.variables.push_back({"MAP" + std::to_string(n), io::Type::float32, {"lat", "lon"}});
    }
    for (int n = 1; n <= 186; ++n) {
      w.variables.push_back({"FIELD" + std::to_string(n), io::Type::float32, {"lat", "lev", "lon"}});
    }
    return w;
  }
  throw Error("option -workload: expected cam:FV-B, cam:FV-C or cam:FV-D, found 'cam:" + detail + "'");
}

} // namespace nunatak::tools
