#include "miniapp/tools/check/differences.hpp"

#include "kernels/ice/geometry.hpp"
#include "miniapp/base/world.hpp"

namespace nunatak::tools {

const std::vector<PicoField>& pico_fields() {
  // small values of the melt, gamma / (nu lambda) times a difference of two temperatures near 271
  // K, have the absolute error of its mean
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

FieldDifference compare_field(Ranks& ranks, const PicoFile& file, const PicoField& field,
                              const std::vector<PicoFields>& answer, double tolerance) {
  const GridValues found = file.read(field.name, field.unit, "the comparison");
  if (!field.is_water()) {
    GridValues expected =
        gathered(ranks, [&](std::size_t r, int j, int i) { return (answer[r].*field.mask)(j, i); });
    if (field.mask == &PicoFields::shelf_mask) expected = with_numbers_of(expected, found);
    return compare(field.name, expected, found);
  }
  const GridValues expected = gathered(ranks, [&](std::size_t r, int j, int i) {
    return field.scale * (answer[r].*field.water)(j, i);
  });
  const GridValues where = gathered(ranks, [&](std::size_t r, int j, int i) {
    return answer[r].shelf_mask(j, i) > 0 || answer[r].lake_mask(j, i) > 0 ? 1.0 : 0.0;
  });
  return compare(field.name, expected, found, where, tolerance, field.small);
}

FieldDifference compare_types(Ranks& ranks, const PicoFile& file,
                              const std::vector<PicoInput>& input) {
  const GridValues expected = gathered(ranks, [&](std::size_t r, int j, int i) {
    return cell_type(input[r].b(j, i), input[r].H(j, i));
  });
  return compare("mask", expected, file.read("mask", "", "the comparison"));
}

void write_picture(const std::string& path, Ranks& ranks, const std::vector<PicoInput>& input,
                   const Grid& grid, const std::vector<FieldDifference>& fields) {
  if (path.empty()) return;
  const GridValues types =
      gathered(ranks, [&](std::size_t r, int j, int i) { return input[r].mask(j, i); });
  const auto grey = [&](std::size_t n) {
    const int type = static_cast<int>(types[n]);
    return grounded(type) ? 220 : type == floating_ice ? 120 : 0;
  };
  World().on_rank_0([&] { write_picture(path, grid, grey, fields); });
}

} // namespace nunatak::tools
