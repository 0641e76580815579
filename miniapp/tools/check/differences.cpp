#include "miniapp/tools/check/differences.hpp"

#include "kernels/ice/geometry.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/base/world.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>

namespace nunatak::tools {

namespace {

constexpr std::int64_t nowhere = std::numeric_limits<std::int64_t>::max();

/// A number, or null if it is none.
Record number(double value) {
  if (!std::isfinite(value)) return "none";
  if (value == std::rint(value) && std::fabs(value) < 1e15) return static_cast<std::int64_t>(value);
  return value;
}

} // namespace

Record FieldDifference::record(const PicoFile& file) const {
  Record record;
  record["field"] = name, record["compared"] = compared, record["different"] = different;
  for (const char* key : {"largest", "j", "i", "x_m", "y_m", "expected", "found"})
    record[key] = Record();
  if (different == 0) return record;
  record["largest"] = number(largest), record["j"] = j, record["i"] = i;
  record["x_m"] = file.x[static_cast<std::size_t>(i)],
  record["y_m"] = file.y[static_cast<std::size_t>(j)];
  record["expected"] = number(expected), record["found"] = number(found);
  return record;
}

FieldDifference compare(Ranks& ranks, const std::string& name, const CellValues& expected,
                        const CellValues& found, const CellValues* where,
                        const Closeness& closeness, CellValues& marks) {
  std::vector<std::vector<std::int64_t>>
      parts; // of each local rank: compared, different, largest, first cell, its two values
  for (int r = 0; r < ranks.local_size(); ++r) {
    const Patch p = ranks.patch(r);
    const auto local = static_cast<std::size_t>(r);
    std::int64_t compared = 0, different = 0, first = nowhere;
    double largest = 0.0, pair[2] = {0.0, 0.0};
    for (std::size_t n = 0; n < expected[local].size(); ++n) {
      if (where != nullptr && (*where)[local][n] == 0.0) continue;
      const double a = expected[local][n], b = found[local][n], difference = std::fabs(b - a);
      compared += 1;
      if (difference <= closeness.tolerance * (std::fabs(b) + closeness.small))
        continue; // false for NaN
      marks[local][n] = 1.0;
      if (!(difference <= largest) && !std::isnan(largest)) largest = difference;
      if (different++ > 0) continue;
      const int row = static_cast<int>(n) / p.xm, column = static_cast<int>(n) % p.xm;
      first = p.cell(row + 1, column + 1), pair[0] = a, pair[1] = b;
    }
    parts.push_back({compared, different, Kokkos::bit_cast<std::int64_t>(largest), first,
                     Kokkos::bit_cast<std::int64_t>(pair[0]),
                     Kokkos::bit_cast<std::int64_t>(pair[1])});
  }
  const std::vector<std::int64_t> all = ranks.gather_all(parts);
  FieldDifference sum;
  sum.name = name;
  std::int64_t first = nowhere;
  for (std::size_t at = 0; at < all.size(); at += 6) {
    sum.compared += all[at], sum.different += all[at + 1];
    const double largest = Kokkos::bit_cast<double>(all[at + 2]);
    if (!(largest <= sum.largest) && !std::isnan(sum.largest)) sum.largest = largest;
    if (all[at + 3] >= first) continue;
    first = all[at + 3];
    sum.expected = Kokkos::bit_cast<double>(all[at + 4]),
    sum.found = Kokkos::bit_cast<double>(all[at + 5]);
  }
  if (first == nowhere) return sum;
  const int Mx = ranks.decomposition().Mx;
  sum.j = static_cast<int>(first / Mx), sum.i = static_cast<int>(first % Mx);
  return sum;
}

CellValues with_numbers_of(Ranks& ranks, const CellValues& ours, const CellValues& theirs) {
  // 1. the cells that each pair of numbers shares, on all ranks; fields are whole numbers or NaN,
  // which is no shelf
  using Pair = std::array<std::int64_t, 2>;
  std::vector<std::vector<std::int64_t>> parts;
  for (std::size_t r = 0; r < ours.size(); ++r) {
    std::map<Pair, std::int64_t> cells;
    for (std::size_t n = 0; n < ours[r].size(); ++n) {
      const double t = theirs[r][n];
      cells[{std::llround(ours[r][n]), std::fabs(t) < 1e15 ? std::llround(t) : 0}] += 1;
    }
    parts.emplace_back();
    for (const auto& [pair, count] : cells)
      parts.back().insert(parts.back().end(), {pair[0], pair[1], count});
  }
  const std::vector<std::int64_t> all = ranks.gather_all(parts);
  std::map<Pair, std::int64_t> cells;
  std::int64_t unused = 1;
  for (std::size_t at = 0; at < all.size(); at += 3) {
    cells[{all[at], all[at + 1]}] += all[at + 2];
    unused = std::max(unused, all[at + 1] + 1);
  }

  // 2. partners: the largest pairs first; no shelf is no shelf
  std::vector<std::pair<std::int64_t, Pair>> order;
  for (const auto& [pair, count] : cells) order.emplace_back(-count, pair);
  std::sort(order.begin(), order.end());
  std::map<std::int64_t, std::int64_t> number{{0, 0}}, taken{{0, 0}};
  for (const auto& [count, pair] : order) {
    if (number.count(pair[0]) == 0 && taken.count(pair[1]) == 0)
      number[pair[0]] = pair[1], taken[pair[1]] = pair[0];
  }
  for (const auto& [pair, count] : cells) {
    if (number.count(pair[0]) == 0) number[pair[0]] = unused++;
  }
  CellValues result = ours;
  for (std::vector<double>& local : result) {
    for (double& v : local) v = static_cast<double>(number.at(std::llround(v)));
  }
  return result;
}

FieldDifference compare_field(Ranks& ranks, const PicoFile& file, const PicoField& field,
                              const std::vector<PicoFields>& answer, double tolerance,
                              CellValues& marks) {
  const CellValues found = file.read(ranks, field.name, field.unit, "the comparison");
  CellValues expected = values_of(ranks, answer, field);
  if (field.mask == &PicoFields::shelf_mask) expected = with_numbers_of(ranks, expected, found);
  if (!field.is_water()) return compare(ranks, field.name, expected, found, nullptr, {}, marks);
  const CellValues where = in_shelves(ranks, answer);
  return compare(ranks, field.name, expected, found, &where, {tolerance, field.small}, marks);
}

FieldDifference compare_types(Ranks& ranks, const PicoFile& file,
                              const std::vector<PicoInput>& input, CellValues& marks) {
  CellValues expected = no_marks(ranks);
  for (std::size_t r = 0; r < expected.size(); ++r) {
    for_owned(ranks.patch(static_cast<int>(r)), [&](std::size_t n, int j, int i) {
      expected[r][n] = cell_type(input[r].b(j, i), input[r].H(j, i));
    });
  }
  return compare(ranks, "mask", expected, file.read(ranks, "mask", "", "the comparison"), nullptr,
                 {}, marks);
}

CellValues no_marks(const Ranks& ranks) {
  CellValues marks;
  for (int r = 0; r < ranks.local_size(); ++r)
    marks.emplace_back(static_cast<std::size_t>(ranks.patch(r).cells()), 0.0);
  return marks;
}

void write_picture(const std::string& path, Ranks& ranks, const std::vector<PicoInput>& input,
                   const CellValues& marks, bool y_ascends) {
  if (path.empty()) return;
  constexpr int marked = -1;
  std::vector<std::vector<std::int64_t>> parts;
  for (int r = 0; r < ranks.local_size(); ++r) {
    const auto local = static_cast<std::size_t>(r);
    parts.emplace_back();
    for_owned(ranks.patch(r), [&](std::size_t n, int j, int i) {
      parts.back().push_back(marks[local][n] != 0.0 ? marked : input[local].mask(j, i));
    });
  }
  const std::vector<std::int64_t> all = ranks.gather_all(parts);
  World().on_rank_0([&] {
    const Decomposition& d = ranks.decomposition();
    std::string pixels(static_cast<std::size_t>(d.Mx) * static_cast<std::size_t>(d.My) * 3, '\0');
    auto value = all.begin();
    for (int rank = 0; rank < d.size(); ++rank) {
      const Patch p = d.patch(rank);
      for (std::int64_t n = 0; n < p.cells(); ++n, ++value) {
        const std::int64_t j = p.ys + n / p.xm, row = y_ascends ? p.My - 1 - j : j;
        const int grey = grounded(static_cast<int>(*value)) ? 220
                         : *value == floating_ice           ? 120
                                                            : 0;
        const auto at = static_cast<std::size_t>(3 * (row * p.Mx + p.xs + n % p.xm));
        for (std::size_t c = 0; c < 3; ++c)
          pixels[at + c] = static_cast<char>(*value != marked ? grey : c == 0 ? 255 : 0);
      }
    }
    std::ofstream out(path, std::ios::binary);
    out << "P6\n" << d.Mx << " " << d.My << "\n255\n" << pixels;
    out.close();
    if (!out) throw Error("file '" + path + "': cannot be written");
  });
}

} // namespace nunatak::tools
