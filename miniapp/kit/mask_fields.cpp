#include "miniapp/kit/mask_fields.hpp"

#include "common/error.hpp"
#include "common/text.hpp"
#include "kernels/cases/noise.hpp"

#include <limits>
#include <set>

namespace nunatak::kit {

namespace {

using Cell = std::pair<int, int>; // row, column

constexpr int outside = std::numeric_limits<int>::min(); // of the grid; in no Domain

/// Draws `throws` cells of the domain; each draw is repeated at most 1000 times.
std::set<Cell> random_cells(std::uint64_t seed, std::uint64_t throws, const Mask& mask,
                            const Domain& domain) {
  std::set<Cell> cells;
  for (std::uint64_t n = 0; n < throws; ++n) {
    for (std::uint64_t again = 0; again < 1000; ++again) {
      const std::uint64_t key = 1000 * n + again;
      const Cell found{static_cast<int>(random01(seed, 2 * key) * mask.My),
                       static_cast<int>(random01(seed, 2 * key + 1) * mask.Mx)};
      if (!domain.contains(mask.value(found.first, found.second))) continue;
      cells.insert(found);
      break;
    }
  }
  return cells;
}

} // namespace

Domain::Domain(const std::string& text, const Mask& mask, const std::string& what) {
  for (const std::string& word : split(!text.empty() ? text : mask.cell_types ? "3" : "1", '+')) {
    m_values.push_back(static_cast<int>(whole_number(word, -largest_int, largest_int, what)));
  }
}

SeedRules::SeedRules(const std::string& text, const std::string& domain, const Mask& mask)
    : m_mask(mask), m_domain(domain, mask), m_names(split(!text.empty()     ? text
                                                          : mask.cell_types ? "near:0+2,beside:4"
                                                                            : "left",
                                                          ',')) {
  for (const std::string& name : m_names) m_rules.push_back(make_rule(name));
}

SeedRules::Rule SeedRules::make_rule(const std::string& name) const {
  const std::vector<std::string> words = split(name, ':');
  const std::string what = "option -seeds '" + name + "'";
  const auto is = [&](const char* word, std::size_t numbers) {
    if (words[0] != word) return false;
    if (words.size() != 1 + numbers) {
      throw Error(what + ": expected " + std::to_string(numbers) +
                  " numbers after the name, found " + std::to_string(words.size() - 1));
    }
    return true;
  };
  const auto seeds = [domain = m_domain](auto is_seed) -> Rule {
    return [=](const Patch& p, const Array2<int>& v, int j, int i) {
      return !domain.contains(v(j, i)) ? -1 : is_seed(p, v, j, i) ? 1 : 0;
    };
  };
  const auto cell = [&](int row, int column) {
    return seeds([=](const Patch& p, const Array2<int>&, int j, int i) {
      return p.global_j(j) == row && p.global_i(i) == column;
    });
  };
  if (is("near", 1) || is("beside", 1)) {
    const bool corners = words[0] == "near";
    return seeds([corners, others = Domain(words[1], m_mask, what)](
                     const Patch&, const Array2<int>& v, int j, int i) {
      for (int dj = -1; dj <= 1; ++dj) {
        for (int di = -1; di <= 1; ++di) {
          const bool wanted = corners ? dj != 0 || di != 0 : (dj != 0) != (di != 0);
          if (wanted && others.contains(v(j + dj, i + di))) return true;
        }
      }
      return false;
    });
  }
  if (is("left", 0))
    return seeds([](const Patch& p, const Array2<int>&, int, int i) { return p.global_i(i) == 0; });
  if (is("corner", 0)) return cell(0, 0);
  if (is("at", 2)) {
    return cell(static_cast<int>(whole_number(words[1], 0, m_mask.My - 1, what)),
                static_cast<int>(whole_number(words[2], 0, m_mask.Mx - 1, what)));
  }
  if (is("boundary", 0)) {
    return seeds([domain = m_domain](const Patch&, const Array2<int>& v, int j, int i) {
      return !(domain.contains(v(j - 1, i)) && domain.contains(v(j + 1, i)) &&
               domain.contains(v(j, i - 1)) && domain.contains(v(j, i + 1)));
    });
  }
  if (is("random", 2)) {
    const auto seed = static_cast<std::uint64_t>(
        whole_number(words[1], 0, std::numeric_limits<std::int64_t>::max(), what));
    const auto throws = static_cast<std::uint64_t>(whole_number(words[2], 0, 1000000, what));
    return seeds([cells = random_cells(seed, throws, m_mask, m_domain)](
                     const Patch& p, const Array2<int>&, int j, int i) {
      return cells.count({p.global_j(j), p.global_i(i)}) != 0;
    });
  }
  if (is("given", 0)) {
    return [](const Patch&, const Array2<int>& v, int j, int i) {
      return v(j, i) == 0 || v(j, i) == 1 ? v(j, i) : -1;
    };
  }
  throw Error("option -seeds: expected near:VALUES, beside:VALUES, left, corner, at:J:I, boundary, "
              "random:SEED:N or given, found '" +
              name + "'");
}

DistanceFields SeedRules::fields(const Ranks& ranks) const {
  DistanceFields fields(m_rules.size());
  for (int r = 0; r < ranks.local_size(); ++r) {
    const Patch p = ranks.patch(r);
    const Array2<int> values = make_array<int>("mask", p);
    for (int j = 0; j <= p.ym + 1; ++j) {
      for (int i = 0; i <= p.xm + 1; ++i) {
        const int gj = p.global_j(j), gi = p.global_i(i);
        const bool inside = gj >= 0 && gj < p.My && gi >= 0 && gi < p.Mx;
        values(j, i) = inside ? m_mask.value(gj, gi) : outside;
      }
    }
    for (std::size_t f = 0; f < m_rules.size(); ++f) {
      const Array2<int> d = make_array<int>("distance", p);
      for_each_owned(p, [&](int j, int i) { d(j, i) = m_rules[f](p, values, j, i); });
      fields[f].push_back(d);
    }
  }
  return fields;
}

std::vector<Array2<Code>> domain_codes(const Ranks& ranks, const Mask& mask, const Domain& domain) {
  std::vector<Array2<Code>> codes;
  for (int r = 0; r < ranks.local_size(); ++r) {
    const Patch p = ranks.patch(r);
    codes.push_back(make_array<Code>("in the domain", p));
    for_each_owned(p, [&](int j, int i) {
      codes.back()(j, i) = domain.contains(mask.value(p.global_j(j), p.global_i(i))) ? 1 : 0;
    });
  }
  return codes;
}

} // namespace nunatak::kit
