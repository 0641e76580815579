#include "miniapp/base/records.hpp"

#include "common/text.hpp"
#include "miniapp/base/paths.hpp"
#include "miniapp/base/world.hpp"

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <sstream>

namespace nunatak {

namespace {

std::string cell_text(const nlohmann::ordered_json& value, double scale) {
  if (value.is_null()) return "-";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_number_float()) return value.dump();
  std::ostringstream s;
  s << std::setprecision(4) << scale * value.get<double>();
  return s.str();
}

} // namespace

double quantile(const std::vector<double>& sorted, double fraction) {
  const double place = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return quantile(values, 0.5);
}

void print_table(std::ostream& out, const std::vector<Record>& records,
                 const std::string& columns) {
  std::vector<std::vector<std::string>> texts; // per column; the first is the title
  for (const std::string& column : split(columns, ',')) {
    const std::size_t begin = column.find_first_not_of(' '), colon = column.find(": ");
    if (begin == std::string::npos) continue;
    std::string key = column.substr(begin, colon - begin);
    std::vector<std::string> text{colon == std::string::npos ? key : column.substr(colon + 2)};
    const std::size_t star = key.find('*');
    const double scale = star == std::string::npos ? 1.0 : std::stod(key.substr(star + 1));
    key.resize(std::min(star, key.size()));
    bool any = false;
    for (const Record& record : records) {
      const Record value = record.value(key, Record());
      any = any || !value.is_null();
      text.push_back(cell_text(value, scale));
    }
    if (any) texts.push_back(text);
  }
  for (std::size_t line = 0; line <= records.size(); ++line) {
    for (std::size_t c = 0; c < texts.size(); ++c) {
      std::size_t width = 0;
      for (const std::string& text : texts[c]) width = std::max(width, text.size());
      const std::string gap(width - texts[c][line].size(), ' '), &text = texts[c][line];
      out << (c == 0 ? text + gap : "  " + gap + text);
    }
    out << "\n";
  }
}

void write_json(const std::string& path, const nlohmann::ordered_json& json) {
  if (path.empty()) return;
  World().on_rank_0([&] { write_text_file(path, json_text(json)); });
}

} // namespace nunatak
