#include "miniapp/tools/compare.hpp"

#include "miniapp/base/text_file.hpp"

#include <algorithm>
#include <map>
#include <ostream>
#include <sstream>

namespace nunatak::tools {

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

/// "found - expected  +1  12  ####": up to eight values, rounded to one digit.
std::string histogram(const FieldDifference& d, const std::string& indent) {
  constexpr std::size_t most = 8, longest_bar = 40;
  std::map<double, std::size_t> count; // NaN, which has no order, is counted apart
  std::size_t missing = 0, rows = 0, largest = 1;
  for (const WrongCell& w : d.wrong) {
    const double difference = w.found - w.expected;
    if (std::isnan(difference)) {
      missing += 1;
      continue;
    }
    const double unit = std::pow(10.0, std::floor(std::log10(std::fabs(difference))));
    count[std::round(difference / unit) * unit] += 1;
  }
  std::vector<std::size_t> counts;
  for (const auto& bin : count) counts.push_back(bin.second);
  std::sort(counts.rbegin(), counts.rend());
  const std::size_t least = counts.size() > most ? counts[most - 1] : 0;
  if (!counts.empty()) largest = counts[0];
  std::size_t others = 0;
  std::ostringstream out;
  std::string title = "found - expected  ";
  const auto row = [&](const std::string& value, std::size_t n) {
    const std::string gap(value.size() < 8 ? 8 - value.size() : 0, ' '), cells = std::to_string(n);
    out << indent << title << gap << value
        << std::string(cells.size() < 8 ? 8 - cells.size() : 0, ' ') << cells << "  "
        << std::string(std::min(longest_bar, 1 + longest_bar * n / largest), '#') << "\n";
    title.assign(title.size(), ' ');
  };
  for (const auto& [value, n] : count) {
    if (n < least || rows >= most) {
      others += n;
      continue;
    }
    row((value > 0 ? "+" : "") + digits(value, 1), n);
    rows += 1;
  }
  if (others > 0) row("others", others);
  if (missing > 0) row("missing", missing);
  return out.str();
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

Record FieldDifference::record(const Grid& grid) const {
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

std::pair<std::string, std::string> tell_apart(double a, double b) {
  int n = 4;
  while (n < 17 && digits(a, n) == digits(b, n)) n += 1;
  return {digits(a, n), digits(b, n)};
}

std::string details(const FieldDifference& d, const Grid& grid, const std::string& indent) {
  std::ostringstream out;
  out << indent << d.name << ": " << d.wrong.size() << " of " << d.compared << " cells differ\n";
  for (std::size_t n = 0; n < std::min<std::size_t>(3, d.wrong.size()); ++n) {
    const WrongCell& w = d.wrong[n];
    const auto j = w.cell / grid.Mx, i = w.cell % grid.Mx;
    out << indent << "  row " << j << ", column " << i;
    if (!grid.x.empty() && !grid.y.empty()) {
      out << " (x = " << digits(1e-3 * grid.x[static_cast<std::size_t>(i)], 8)
          << " km, y = " << digits(1e-3 * grid.y[static_cast<std::size_t>(j)], 8) << " km)";
    }
    const auto [expected, found] = tell_apart(w.expected, w.found);
    out << ": expected " << expected << ", found " << found << "\n";
  }
  out << histogram(d, indent + "  ");
  return out.str();
}

void print_differences(std::ostream& out, const std::vector<FieldDifference>& fields,
                       const Grid& grid) {
  std::vector<Record> records;
  for (const FieldDifference& d : fields) records.push_back(d.record(grid));
  print_table(out, records,
              {{"field", "field"},
               {"compared", "cells"},
               {"different", "different"},
               {"largest", "largest difference"}});
  for (const FieldDifference& d : fields) {
    if (!d.wrong.empty()) out << "\n" << details(d, grid);
  }
}

void write_picture(const std::string& path, const Grid& grid,
                   const std::function<int(std::size_t cell)>& grey,
                   const std::vector<FieldDifference>& fields, int scale) {
  std::vector<char> wrong(grid.cells(), 0);
  for (const FieldDifference& field : fields) {
    for (const WrongCell& w : field.wrong) wrong[static_cast<std::size_t>(w.cell)] = 1;
  }
  std::string text =
      "P6\n" + std::to_string(grid.Mx * scale) + " " + std::to_string(grid.My * scale) + "\n255\n";
  for (int row = 0; row < grid.My; ++row) {
    const int j = grid.y_ascends() ? grid.My - 1 - row : row;
    std::string line;
    for (int i = 0; i < grid.Mx; ++i) {
      const auto n = static_cast<std::size_t>(j) * static_cast<std::size_t>(grid.Mx) +
                     static_cast<std::size_t>(i);
      const auto pixel =
          wrong[n] != 0 ? std::string("\xff\0\0", 3) : std::string(3, static_cast<char>(grey(n)));
      for (int k = 0; k < scale; ++k) line += pixel;
    }
    for (int k = 0; k < scale; ++k) text += line;
  }
  write_text_file(path, text);
}

} // namespace nunatak::tools
