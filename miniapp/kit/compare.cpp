#include "miniapp/kit/compare.hpp"

#include <algorithm>
#include <map>
#include <ostream>
#include <sstream>

namespace nunatak::kit {

namespace {

Record as_json(double value) {
  if (!std::isfinite(value)) return "none";
  if (value == std::rint(value) && std::fabs(value) < 1e15) return static_cast<std::int64_t>(value);
  return value;
}

std::string digits(double value, int n) {
  if (!std::isfinite(value)) return "none";
  if (value == std::rint(value) && std::fabs(value) < 1e15)
    return std::to_string(static_cast<std::int64_t>(value));
  std::ostringstream text;
  text.precision(n);
  text << value;
  return text.str();
}

} // namespace

double FieldDifference::largest() const {
  double largest = 0.0;
  for (const WrongCell& w : wrong) {
    const double difference = std::fabs(w.found - w.expected);
    if (!(difference <= largest) && !std::isnan(largest)) largest = difference;
  }
  return largest;
}

Record FieldDifference::record(const MapGrid& grid) const {
  Record record = {{"field", name}, {"compared", compared}, {"different", wrong.size()}};
  for (const char* key : {"largest", "j", "i", "x_m", "y_m", "expected", "found"})
    record[key] = Record();
  if (wrong.empty()) return record;
  const WrongCell& first = wrong.front();
  const auto j = first.cell / grid.Mx, i = first.cell % grid.Mx;
  record["largest"] = as_json(largest());
  record["j"] = j;
  record["i"] = i;
  if (!grid.x.empty()) record["x_m"] = grid.x[static_cast<std::size_t>(i)];
  if (!grid.y.empty()) record["y_m"] = grid.y[static_cast<std::size_t>(j)];
  record["expected"] = as_json(first.expected);
  record["found"] = as_json(first.found);
  return record;
}

GridValues with_numbers_of(const GridValues& ours, const GridValues& theirs) {
  using Pair = std::pair<std::int64_t, std::int64_t>;
  const auto id = [](double v) { return std::fabs(v) < 1e15 ? std::llround(v) : 0; }; // NaN: 0
  std::map<Pair, std::int64_t> cells; // common cells of each pair of numbers
  std::int64_t unused = 1;
  for (std::size_t n = 0; n < ours.size(); ++n) {
    const Pair pair{id(ours[n]), id(theirs[n])};
    cells[pair] += 1;
    unused = std::max(unused, pair.second + 1);
  }
  std::vector<std::pair<std::int64_t, Pair>> order; // largest pairs first
  for (const auto& [pair, count] : cells) order.emplace_back(-count, pair);
  std::sort(order.begin(), order.end());
  std::map<std::int64_t, std::int64_t> number{{0, 0}}, taken{{0, 0}}; // 0, outside, maps to itself
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

std::string located(const WrongCell& w, const MapGrid& grid) {
  const auto j = w.cell / grid.Mx, i = w.cell % grid.Mx;
  std::string text = "row " + std::to_string(j) + ", column " + std::to_string(i);
  if (!grid.x.empty() && !grid.y.empty()) {
    text += " (x = " + digits(1e-3 * grid.x[static_cast<std::size_t>(i)], 8) +
            " km, y = " + digits(1e-3 * grid.y[static_cast<std::size_t>(j)], 8) + " km)";
  }
  int n = 4;
  while (n < 17 && digits(w.expected, n) == digits(w.found, n)) n += 1;
  return text + ": expected " + digits(w.expected, n) + ", found " + digits(w.found, n);
}

std::string details(const FieldDifference& d, const MapGrid& grid, const std::string& indent) {
  std::string text = indent + d.name + ": " + std::to_string(d.wrong.size()) + " of " +
                     std::to_string(d.compared) + " cells differ\n";
  for (std::size_t n = 0; n < std::min<std::size_t>(3, d.wrong.size()); ++n)
    text += indent + "  " + located(d.wrong[n], grid) + "\n";
  return text;
}

void print_differences(std::ostream& out, const std::vector<FieldDifference>& fields,
                       const MapGrid& grid) {
  std::vector<Record> records;
  for (const FieldDifference& d : fields) records.push_back(d.record(grid));
  print_table(out, records, "field, compared: cells, different, largest: largest difference");
  for (const FieldDifference& d : fields) {
    if (!d.wrong.empty()) out << "\n" << details(d, grid);
  }
}

} // namespace nunatak::kit
