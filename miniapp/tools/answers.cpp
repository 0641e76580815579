#include "miniapp/tools/answers.hpp"

#include "miniapp/base/world.hpp"

#include <algorithm>
#include <limits>

namespace nunatak::tools {

std::vector<int> collect(const Ranks& ranks, const Patch& rectangle, const std::vector<Array2<int>>& local) {
  std::vector<int> values(static_cast<std::size_t>(rectangle.cells()));
  for (int r = 0; r < ranks.local_size(); ++r) {
    const Patch p = ranks.patch(r);
    const Array2<int>& from = local[static_cast<std::size_t>(r)];
    for (int j = 1; j <= p.ym; ++j) {
      const std::int64_t row = p.global_j(j) - rectangle.ys, first = row * rectangle.xm + p.xs - rectangle.xs;
      for (int i = 1; i <= p.xm; ++i) values[static_cast<std::size_t>(first + i - 1)] = from(j, i);
    }
  }
  return values;
}

std::optional<std::string> first_difference(const Answer& expected, const Answer& found) {
  const Patch& p = expected.rectangle;
  const auto fields = static_cast<std::int64_t>(expected.fields.size());
  constexpr std::int64_t nowhere = std::numeric_limits<std::int64_t>::max();
  std::int64_t mine = nowhere; // cell * fields + field
  std::int64_t values[2] = {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::min()};
  for (std::int64_t f = 0; f < fields; ++f) {
    const auto &a = expected.fields[static_cast<std::size_t>(f)].values, &b = found.fields[static_cast<std::size_t>(f)].values;
    const auto [at, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    if (at == a.end()) continue;
    const std::int64_t n = at - a.begin(), cell = (p.ys + n / p.xm) * p.Mx + p.xs + n % p.xm;
    if (cell * fields + f >= mine) continue;
    mine = cell * fields + f;
    values[0] = *at, values[1] = *other;
  }
  const World world;
  const std::int64_t first = -world.max(-mine);
  if (first == nowhere) return std::nullopt;
  if (mine != first) values[0] = values[1] = std::numeric_limits<std::int64_t>::min();
  for (std::int64_t& value : values) value = world.max(value);
  const std::int64_t cell = first / fields;
  return found.who + " and " + expected.who + " differ first at j = " + std::to_string(cell / p.Mx) +
         ", i = " + std::to_string(cell % p.Mx) + " in " + expected.fields[static_cast<std::size_t>(first % fields)].name +
         ": found " + std::to_string(values[1]) + ", expected " + std::to_string(values[0]);
}

} // namespace nunatak::tools
