#include "miniapp/tools/check/pico_answer.hpp"

#include "kernels/pico/melt.hpp"

#include <cmath>

namespace nunatak::tools {

namespace {

template <class T>
CellValues owned(const Ranks& ranks, const std::vector<PicoFields>& fields,
                 Array2<T> PicoFields::*field, double scale) {
  CellValues values;
  for (int r = 0; r < ranks.local_size(); ++r) {
    const Patch p = ranks.patch(r);
    const Array2<T>& a = fields[static_cast<std::size_t>(r)].*field;
    values.emplace_back(static_cast<std::size_t>(p.cells()));
    for_owned(p, [&](std::size_t n, int j, int i) {
      values.back()[n] = scale * static_cast<double>(a(j, i));
    });
  }
  return values;
}

/// The smallest value of each shelf, 0 for none. In fixed point, 2^-40. Collective.
std::vector<double> smallest_of_shelves(Ranks& ranks, const pico::Shelves& shelves,
                                        const std::vector<PicoFields>& out,
                                        const CellValues& values) {
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
  std::vector<std::vector<std::int64_t>> most; // of the negative value
  for (int r = 0; r < ranks.local_size(); ++r) {
    const auto n_r = static_cast<std::size_t>(r);
    most.emplace_back(static_cast<std::size_t>(shelves.table.shelves) + 1, none);
    for_owned(ranks.patch(r), [&](std::size_t n, int j, int i) {
      const double v = values[n_r][n];
      std::int64_t& of_shelf = most.back()[static_cast<std::size_t>(out[n_r].shelf_mask(j, i))];
      if (std::fabs(v) < 1e5)
        of_shelf = std::max<std::int64_t>(of_shelf, std::llround(std::ldexp(-v, 40)));
    });
  }
  ranks.max(most);
  std::vector<double> smallest;
  for (const std::int64_t m : most[0])
    smallest.push_back(m == none ? 0.0 : -std::ldexp(static_cast<double>(m), -40));
  return smallest;
}

/// Makes each shelf a basin of its own, whose sea is the shelf itself, with the water that the file
/// has in box 0.
void take_box0(Ranks& ranks, const PicoFile& file, pico::Shelves& shelves,
               const std::vector<PicoFields>& out, std::vector<PicoInput>& input) {
  const auto smallest = [&](const std::string& name, const std::string& unit) {
    return smallest_of_shelves(ranks, shelves, out, file.read(ranks, name, unit, "the water"));
  };
  const std::vector<double> T = smallest("pico_temperature_box0", "kelvin"),
                            S = smallest("pico_salinity_box0", "g/kg");
  const int n_shelves = shelves.table.shelves;
  shelves.table.reset(n_shelves, n_shelves);
  for (int s = 1; s <= n_shelves; ++s)
    shelves.table.cells[shelves.table.at(s, s)] =
        shelves.table.front_cells[shelves.table.at(s, s)] = 1;
  for (std::size_t r = 0; r < input.size(); ++r) {
    pico::LocalShelves& local = shelves.local[r];
    input[r].basins = out[r].shelf_mask;
    local.sea.clear();
    for (std::size_t n = 0; n < local.cell.size(); ++n) {
      const int c = local.cell[n];
      input[r].theta.data()[c] = T[static_cast<std::size_t>(local.shelf[n])];
      input[r].salt.data()[c] = S[static_cast<std::size_t>(local.shelf[n])];
      local.sea.emplace_back(c, c + 1);
    }
  }
}

} // namespace

PicoAnswer compute_pico(Ranks& ranks, const PicoFile& file, const PicoOptions& options,
                        const std::vector<PicoInput>& input, OceanSource source,
                        PismDefects defects) {
  PicoAnswer answer;
  for (int r = 0; r < ranks.local_size(); ++r) answer.fields.emplace_back(ranks.patch(r));
  PicoOptions by_segments = options; // what follows changes its answer in place
  by_segments.by_loops = false;
  pico::ShelfGeometry geometry(ranks, file.dx, file.dy, by_segments,
                               defects.labels ? label_as_pism_2_3 : LabelPatch());
  pico::Shelves shelves = geometry.update(input, answer.fields);
  Kokkos::fence();
  answer.shelves = shelves.table.shelves;
  if (defects.distances) saturate_distances(ranks, options, shelves, answer.fields);
  if (source == OceanSource::none) return answer;
  std::vector<PicoInput> ocean = input;
  if (source == OceanSource::box0) take_box0(ranks, file, shelves, answer.fields, ocean);
  PicoReport report;
  pico::ShelfMelt(ranks, file.dx, file.dy, options).update(shelves, ocean, answer.fields, report);
  return answer;
}

const std::vector<PicoField>& pico_fields() {
  // the melt is gamma / (nu lambda) times a difference of two temperatures near 271 K: small values
  // are as far off as its mean
  using F = PicoFields;
  static const std::vector<PicoField> all = {
      {"pico_ice_rise_mask", "", 1.0, 0.0, &F::ice_rise_mask},
      {"pico_ocean_mask", "", 1.0, 0.0, &F::ocean_mask},
      {"pico_lake_mask", "", 1.0, 0.0, &F::lake_mask},
      {"pico_contshelf_mask", "", 1.0, 0.0, &F::contshelf_mask},
      {"pico_shelf_mask", "", 1.0, 0.0, &F::shelf_mask},
      {"pico_distance_gl", "", 1.0, 0.0, &F::distance_gl},
      {"pico_distance_cf", "", 1.0, 0.0, &F::distance_cf},
      {"pico_box_mask", "", 1.0, 0.0, &F::box_mask},
      {"pico_temperature_box0", "kelvin", 1.0, 0.0, nullptr, &F::temperature_box0},
      {"pico_salinity_box0", "g/kg", 1.0, 0.0, nullptr, &F::salinity_box0},
      {"pico_temperature", "kelvin", 1.0, 0.0, nullptr, &F::temperature},
      {"pico_salinity", "g/kg", 1.0, 0.0, nullptr, &F::salinity},
      {"pico_overturning", "m3 s-1", 1.0, 0.0, nullptr, &F::overturning},
      {"pico_basal_melt_rate", "m s-1", 1.0, 1e-8, nullptr, &F::melt},
      {"shelfbmassflux", "kg m-2 s-1", rho_ice, 1e-5, nullptr, &F::melt},
      {"shelfbtemp", "kelvin", 1.0, 0.0, nullptr, &F::base_temperature},
  };
  return all;
}

CellValues values_of(const Ranks& ranks, const std::vector<PicoFields>& fields,
                     const PicoField& field) {
  return field.is_water() ? owned(ranks, fields, field.water, field.scale)
                          : owned(ranks, fields, field.mask, field.scale);
}

CellValues in_shelves(const Ranks& ranks, const std::vector<PicoFields>& fields) {
  CellValues shelves = owned(ranks, fields, &PicoFields::shelf_mask, 1.0);
  const CellValues lakes = owned(ranks, fields, &PicoFields::lake_mask, 1.0);
  for (std::size_t r = 0; r < shelves.size(); ++r) {
    for (std::size_t n = 0; n < shelves[r].size(); ++n)
      shelves[r][n] = shelves[r][n] > 0.0 || lakes[r][n] > 0.0 ? 1.0 : 0.0;
  }
  return shelves;
}

} // namespace nunatak::tools
