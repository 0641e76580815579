#include "miniapp/tools/check/differences.hpp"

#include "kernels/ice/geometry.hpp"
#include "miniapp/base/text_file.hpp"
#include "miniapp/base/world.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace nunatak::tools {

namespace {

Record number(double value) {
  if (!std::isfinite(value)) return "none";
  if (value == std::rint(value) && std::fabs(value) < 1e15) return static_cast<std::int64_t>(value);
  return value;
}

/// Cells where `where` is 0 are skipped (empty: none). Tolerance 0 requires equal numbers.
FieldDifference compare(const std::string& name, int Mx, const GridValues& expected,
                        const GridValues& found, const GridValues& where, double tolerance,
                        double small, GridValues& marks) {
  FieldDifference result;
  result.name = name;
  for (std::size_t n = 0; n < expected.size(); ++n) {
    if (!where.empty() && where[n] == 0.0) continue;
    const double a = expected[n], b = found[n], difference = std::fabs(b - a);
    result.compared += 1;
    if (difference <= tolerance * (std::fabs(b) + small)) continue; // false for NaN
    marks[n] = 1.0;
    if (!(difference <= result.largest) && !std::isnan(result.largest)) result.largest = difference;
    if (result.different++ > 0) continue;
    result.j = static_cast<int>(n) / Mx;
    result.i = static_cast<int>(n) % Mx;
    result.expected = a;
    result.found = b;
  }
  return result;
}

/// `ours` renumbered like `theirs`: pairs with most common cells match first; others get a new
/// number. The partitions are equal if the result equals `theirs`.
GridValues with_numbers_of(const GridValues& ours, const GridValues& theirs) {
  using Pair = std::pair<std::int64_t, std::int64_t>;
  std::map<Pair, std::int64_t> cells; // common cells of each pair of numbers
  std::int64_t unused = 1;
  for (std::size_t n = 0; n < ours.size(); ++n) { // whole numbers, or NaN: no shelf
    const double t = theirs[n];
    const Pair pair{std::llround(ours[n]), std::fabs(t) < 1e15 ? std::llround(t) : 0};
    cells[pair] += 1;
    unused = std::max(unused, pair.second + 1);
  }
  std::vector<std::pair<std::int64_t, Pair>> order; // largest pairs first
  for (const auto& [pair, count] : cells) order.emplace_back(-count, pair);
  std::sort(order.begin(), order.end());
  std::map<std::int64_t, std::int64_t> number{{0, 0}}, taken{{0, 0}}; // 0, no shelf, maps to itself
  for (const auto& [count, pair] : order) {
    if (number.count(pair.first) > 0 || taken.count(pair.second) > 0) continue;
    number[pair.first] = pair.second;
    taken[pair.second] = pair.first;
  }
  GridValues result = ours;
  for (double& v : result) {
    const std::int64_t own = std::llround(v);
    if (number.count(own) == 0) number[own] = unused++;
    v = static_cast<double>(number.at(own));
  }
  return result;
}

} // namespace

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

Record FieldDifference::record(const PicoFile& file) const {
  Record record;
  record["field"] = name;
  record["compared"] = compared;
  record["different"] = different;
  for (const char* key : {"largest", "j", "i", "x_m", "y_m", "expected", "found"})
    record[key] = Record();
  if (different == 0) return record;
  record["largest"] = number(largest);
  record["j"] = j;
  record["i"] = i;
  record["x_m"] = file.x[static_cast<std::size_t>(i)];
  record["y_m"] = file.y[static_cast<std::size_t>(j)];
  record["expected"] = number(expected);
  record["found"] = number(found);
  return record;
}

FieldDifference compare_field(Ranks& ranks, const PicoFile& file, const PicoField& field,
                              const std::vector<PicoFields>& answer, double tolerance,
                              GridValues& marks) {
  const int Mx = ranks.decomposition().Mx;
  const GridValues found = file.read(field.name, field.unit, "the comparison");
  if (!field.is_water()) {
    GridValues expected =
        gathered(ranks, [&](std::size_t r, int j, int i) { return (answer[r].*field.mask)(j, i); });
    if (field.mask == &PicoFields::shelf_mask) expected = with_numbers_of(expected, found);
    return compare(field.name, Mx, expected, found, {}, 0.0, 0.0, marks);
  }
  const GridValues expected = gathered(ranks, [&](std::size_t r, int j, int i) {
    return field.scale * (answer[r].*field.water)(j, i);
  });
  const GridValues where = gathered(ranks, [&](std::size_t r, int j, int i) {
    return answer[r].shelf_mask(j, i) > 0 || answer[r].lake_mask(j, i) > 0 ? 1.0 : 0.0;
  });
  return compare(field.name, Mx, expected, found, where, tolerance, field.small, marks);
}

FieldDifference compare_types(Ranks& ranks, const PicoFile& file,
                              const std::vector<PicoInput>& input, GridValues& marks) {
  const GridValues expected = gathered(ranks, [&](std::size_t r, int j, int i) {
    return cell_type(input[r].b(j, i), input[r].H(j, i));
  });
  return compare("mask", ranks.decomposition().Mx, expected,
                 file.read("mask", "", "the comparison"), {}, 0.0, 0.0, marks);
}

void write_picture(const std::string& path, Ranks& ranks, const std::vector<PicoInput>& input,
                   const GridValues& marks, bool y_ascends) {
  if (path.empty()) return;
  const GridValues types =
      gathered(ranks, [&](std::size_t r, int j, int i) { return input[r].mask(j, i); });
  World().on_rank_0([&] {
    const Decomposition& d = ranks.decomposition();
    std::string text = "P6\n" + std::to_string(d.Mx) + " " + std::to_string(d.My) + "\n255\n";
    for (int row = 0; row < d.My; ++row) {
      const int j = y_ascends ? d.My - 1 - row : row;
      for (int i = 0; i < d.Mx; ++i) {
        const auto n = static_cast<std::size_t>(j) * static_cast<std::size_t>(d.Mx) +
                       static_cast<std::size_t>(i);
        const int type = static_cast<int>(types[n]);
        const char grey = static_cast<char>(grounded(type) ? 220 : type == floating_ice ? 120 : 0);
        text += marks[n] != 0.0 ? std::string("\xff\0\0", 3) : std::string(3, grey);
      }
    }
    write_text_file(path, text);
  });
}

} // namespace nunatak::tools
