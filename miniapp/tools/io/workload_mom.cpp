// A restart file of an ocean model on a tripolar grid: boxes, some of them all land. See workload.hpp.
//
// Grids of MOM5 at 1/4 degree (1440 x 1080 x 50) and 1/10 degree (3600 x 2700 x 75), lon x lat x depth, lon fastest, in memory
// and in the file. Continents are three rectangles (shares of the grid), 30 % of the cells:
//
//   1.0 +------------+--------------------+
//       |############|        ####        |     #  land: _FillValue
//       |############|        ####        |
//   0.5 |############|        ####        |     With 2 x 3 ranks the box in the upper left is all land: that rank has no cells,
//       |                     ####        |     and the rank before it puts the fill values, as MOM's I/O root does for the
//       |#################################|     domains that its mask table leaves out.
//   0.0 +---------------------------------+
#include "miniapp/base/error.hpp"
#include "miniapp/tools/io/workload.hpp"

namespace nunatak::tools {

Workload mom_workload(const std::string& detail, double scale, bool scale_levels) {
  struct Grid {
    const char* name;
    std::size_t lon, lat, depth;
    double step;
  };
  const Grid grids[] = {{"0.25", 1440, 1080, 50, 0.25}, {"0.1", 3600, 2700, 75, 0.1}};
  for (const Grid& g : grids) {
    if (detail != g.name) continue;
    const std::size_t ny = scaled(g.lat, scale), nx = scaled(g.lon, scale), nz = scale_levels ? scaled(g.depth, scale) : g.depth;
    Workload w;
    w.text =
        std::to_string(nx) + " x " + std::to_string(ny) + " x " + std::to_string(nz) + ", 4 maps, 6 arrays with levels, land";
    w.order = "zyx";
    w.dimensions = {{"st_ocean", "m", nz, -1, true, 10.0},
                    {"yt_ocean", "1", ny, 0, false, 1.0}, // the grid is curved: numbers of rows and columns
                    {"xt_ocean", "1", nx, 1, false, 1.0}};
    w.ghosts = 1;
    w.grid = [=](std::size_t ranks) { return square_patches(ranks, ny, nx); };
    w.is_land = [=](std::size_t j, std::size_t i) {
      const double y = (static_cast<double>(j) + 0.5) / static_cast<double>(ny),
                   x = (static_cast<double>(i) + 0.5) / static_cast<double>(nx);
      return (x < 0.36 && y > 0.48) || (x > 0.60 && x < 0.70 && y > 0.20) || y < 0.06;
    };
    const std::vector<std::string> map = {"yt_ocean", "xt_ocean"}, levels = {"st_ocean", "yt_ocean", "xt_ocean"};
    for (const char* name : {"eta_t", "pbot_t", "patm_t", "rho0_t"}) {
      w.variables.push_back({name, io::Type::float64, map, Content::ocean});
    }
    for (const char* name : {"temp", "salt", "age_global", "u", "v", "wt"}) {
      w.variables.push_back({name, io::Type::float64, levels, Content::ocean});
    }
    return w;
  }
  throw Error("option -workload: expected mom:0.25 or mom:0.1, found 'mom:" + detail + "'");
}

} // namespace nunatak::tools
