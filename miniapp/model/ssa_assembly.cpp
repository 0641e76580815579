// See ssa_assembly.hpp.
#include "miniapp/model/ssa_assembly.hpp"

#include "kernels/ice/geometry.hpp"

#include <algorithm>

namespace nunatak {

namespace {
enum Side { east, west, north, south }; // side ^ 1 is the opposite one
constexpr int neighbour_j[4] = {0, 0, 1, -1}, neighbour_i[4] = {1, -1, 0, 0};
} // namespace

SsaAssembly::SsaAssembly(MpiRanks& ranks, double dx, double dy, const GlenLaw& glen, const TillLaw& till, bool till_subgrid)
    : m_ranks(ranks), m_patch(ranks.patch()), m_dx(dx), m_dy(dy), m_q1(dx, dy), m_glen(glen), m_till(till),
      m_till_subgrid(till_subgrid), m_ice(make_array<int>("ssa_ice", m_patch)), m_local(make_array<int>("ssa_local", m_patch)),
      m_global(make_array<std::int64_t>("ssa_global", m_patch)), m_BH(make_array<double>("ssa_BH", m_patch)),
      m_rise(make_columns<double>("ssa_rise", m_patch, 4)),
      m_shape(Kokkos::view_alloc(std::string("ssa_shape"), Kokkos::WithoutInitializing)),
      m_element_at(make_array<int>("ssa_element", m_patch)), m_u_before(make_array<double>("ssa_u_before", m_patch)),
      m_v_before(make_array<double>("ssa_v_before", m_patch)) {
  const auto shape = Kokkos::create_mirror_view(m_shape);
  shape() = m_q1;
  Kokkos::deep_copy(m_shape, shape);
  Kokkos::deep_copy(m_local, -1);
}

void SsaAssembly::set_input(const SsaInput& input) {
  m_input = input;
  find_ice(input);
  find_elements();
  number_unknowns();
  difference_surface();
  compute_load(input);
  copy_to_device();
}

// Flood from everything that is held, through icy neighbours; what is not reached is excluded.
void SsaAssembly::find_ice(const SsaInput& input) {
  const Patch& p = m_patch;
  const Decomposition& d = m_ranks.decomposition();
  enum : int { none = 0, loose = 2, held = 1 };
  std::vector<Node> front;
  for (int j = 0; j <= p.ym + 1; ++j) {
    for (int i = 0; i <= p.xm + 1; ++i) {
      const bool inside = (d.periodic_x || (p.global_i(i) >= 0 && p.global_i(i) < p.Mx)) &&
                          (d.periodic_y || (p.global_j(j) >= 0 && p.global_j(j) < p.My));
      const int type = input.mask(j, i);
      m_ice(j, i) = inside && icy(type) ? loose : none;
      if (m_ice(j, i) == none) continue;
      const bool is_fixed = input.fixed.size() > 0 && input.fixed(j, i) != 0;
      if (is_fixed || (type == grounded_ice && input.tauc(j, i) > 0.0)) m_ice(j, i) = held, front.push_back({j, i});
    }
  }
  const auto flood = [&] {
    while (!front.empty()) {
      const Node at = front.back();
      front.pop_back();
      for (int j = std::max(at.j - 1, 0); j <= std::min(at.j + 1, p.ym + 1); ++j) {
        for (int i = std::max(at.i - 1, 0); i <= std::min(at.i + 1, p.xm + 1); ++i) {
          if (m_ice(j, i) == loose) m_ice(j, i) = held, front.push_back({j, i});
        }
      }
    }
  };
  std::vector<std::vector<std::int64_t>> news{{1}};
  while (news[0][0] > 0) {
    flood();
    // a ghost beyond the edge of the domain copies an owned cell: put back what it was
    const auto before = make_array<int>("before", p);
    Kokkos::deep_copy(before, m_ice);
    m_ranks.update_ghosts({m_ice});
    for (int j = 0; j <= p.ym + 1; ++j) {
      for (int i = 0; i <= p.xm + 1; ++i) {
        if (before(j, i) == none || before(j, i) == held) {
          m_ice(j, i) = before(j, i);
        } else if (m_ice(j, i) == held) {
          front.push_back({j, i});
        }
      }
    }
    news = {{static_cast<std::int64_t>(front.size())}};
    m_ranks.sum(news);
  }
  std::vector<std::vector<std::int64_t>> count{{0}};
  for (int j = 0; j <= p.ym + 1; ++j) {
    for (int i = 0; i <= p.xm + 1; ++i) {
      if (m_ice(j, i) != loose) continue;
      m_ice(j, i) = none;
      count[0][0] += j >= 1 && j <= p.ym && i >= 1 && i <= p.xm ? 1 : 0;
    }
  }
  m_ranks.sum(count);
  m_excluded = count[0][0];
}

void SsaAssembly::find_elements() {
  m_elements.clear();
  for (int j = 0; j <= m_patch.ym; ++j) {
    for (int i = 0; i <= m_patch.xm; ++i) {
      const int ice = m_ice(j, i) | m_ice(j, i + 1) << 1 | m_ice(j + 1, i) << 2 | m_ice(j + 1, i + 1) << 3;
      if (ice != 0) m_elements.push_back({j, i, ice});
    }
  }
}

void SsaAssembly::number_unknowns() {
  const Patch& p = m_patch;
  m_nodes.clear();
  std::int64_t changed = 0;
  for (int j = 1; j <= p.ym; ++j) {
    for (int i = 1; i <= p.xm; ++i) {
      const bool unknown = m_ice(j, i) != 0 && !(m_input.fixed.size() > 0 && m_input.fixed(j, i) != 0);
      const int number = unknown ? static_cast<int>(m_nodes.size()) : -1;
      if (number != m_local(j, i)) changed = 1;
      m_local(j, i) = number;
      if (unknown) m_nodes.push_back({j, i});
    }
  }
  const auto all = m_ranks.gather_all({{static_cast<std::int64_t>(m_nodes.size()), changed}},
                                      std::vector<int>(static_cast<std::size_t>(m_ranks.decomposition().size()), 2));
  m_first = m_unknowns = 0;
  m_changed = false;
  for (std::size_t r = 0; r < all.size() / 2; ++r) {
    if (static_cast<int>(r) < m_ranks.first()) m_first += all[2 * r];
    m_unknowns += all[2 * r];
    m_changed = m_changed || all[2 * r + 1] != 0;
  }
  for (int j = 1; j <= p.ym; ++j) {
    for (int i = 1; i <= p.xm; ++i) m_global(j, i) = m_local(j, i) < 0 ? -1 : m_first + m_local(j, i);
  }
  m_ranks.update_ghosts({m_global});
  for (int j = 0; j <= p.ym + 1; ++j) { // beyond the edge of the domain there are no unknowns
    for (int i = 0; i <= p.xm + 1; ++i) m_global(j, i) = m_ice(j, i) == 0 ? -1 : m_global(j, i);
  }
}

// Two grounded cells, the bed of one above the surface of the other: a wall of rock under a little ice.
bool SsaAssembly::wall(int j, int i, int other_j, int other_i) const {
  const Array2<double>&h = m_input.h, &b = m_input.b;
  return b(other_j, other_i) > h(j, i) || b(j, i) > h(other_j, other_i);
}

// Ice of one kind, grounded or floating, in neighbouring cells: the surface may be differenced.
bool SsaAssembly::same_kind(int j, int i, int other_j, int other_i) const {
  return m_ice(j, i) != 0 && m_ice(other_j, other_i) != 0 && m_input.mask(j, i) == m_input.mask(other_j, other_i) &&
         !wall(j, i, other_j, other_i);
}

// The rise of the surface (m) to each neighbour of the same kind; 0 where there is none. In owned cells and ghosts.
void SsaAssembly::difference_surface() {
  for (int j = 1; j <= m_patch.ym; ++j) {
    for (int i = 1; i <= m_patch.xm; ++i) {
      for (int side = 0; side < 4; ++side) {
        const int nj = j + neighbour_j[side], ni = i + neighbour_i[side];
        m_rise(j, i, side) = same_kind(j, i, nj, ni) ? m_input.h(nj, ni) - m_input.h(j, i) : 0.0;
      }
    }
  }
  m_ranks.update_ghosts({m_rise});
}

// Across a grounding line: the part of the half cell that is of the cell's own kind, by linear height above flotation F.
//
//      cell (F > 0)                   neighbour (G < 0)          The surface has a kink at the grounding line. Where drag ends
//   |-------+-------:---x---|-------+-------|                    the steep slope that it balances must end, too: the drag of the
//           |<- half cell ->|       x: F = 0                     cell is that of the same part.
double SsaAssembly::own_part(int j, int i, int nj, int ni) const {
  if (!m_till_subgrid) return 1.0;
  if (m_input.mask(j, i) == floating_ice && !(m_input.tauc(j, i) > 0.0)) return 1.0; // no drag to balance the slope on land
  const auto above_flotation = [this](int cj, int ci) { return m_input.b(cj, ci) + rho_ice / rho_water * m_input.H(cj, ci); };
  const double F = above_flotation(j, i), G = above_flotation(nj, ni);
  return (F > 0.0) == (G > 0.0) ? 1.0 : std::min(1.0, 2.0 * F / (F - G));
}

// Rise of the surface (m) from cell (j, i) to its neighbour on one side, as the half cell on that side feels it.
double SsaAssembly::rise(int j, int i, int towards) const {
  const Array2<double>& h = m_input.h;
  const int dj = neighbour_j[towards], di = neighbour_i[towards];
  // a front, a cliff or rock: the face carries the pressure; a wall: no part of the surface of the ice
  if (m_ice(j + dj, i + di) == 0 || wall(j, i, j + dj, i + di)) return 0.0;
  if (!same_kind(j, i, j + dj, i + di)) { // a grounding line: the slope of each kind, on its part of the half cell
    const double part = own_part(j, i, j + dj, i + di), own = -m_rise(j, i, towards ^ 1), other = m_rise(j + dj, i + di, towards);
    return part * own + (1.0 - part) * other;
  }
  constexpr double side = 0.125; // the mean of a bilinear surface over half a cell
  const double own = h(j + dj, i + di) - h(j, i);
  double sum = (1.0 - 2.0 * side) * own;
  for (const int s : {-1, 1}) {
    const int nj = j + s * di, ni = i + s * dj; // neighbour across
    const bool known = same_kind(j, i, nj, ni) && same_kind(j, i, nj + dj, ni + di);
    sum += side * (known ? h(nj + dj, ni + di) - h(nj, ni) : own);
  }
  return sum;
}

void SsaAssembly::compute_load(const SsaInput& input) {
  const Patch& p = m_patch;
  for (int j = 0; j <= p.ym + 1; ++j) {
    for (int i = 0; i <= p.xm + 1; ++i) m_BH(j, i) = m_ice(j, i) != 0 ? input.hardness(j, i) * input.H(j, i) : 0.0;
  }
  m_load.assign(2 * m_nodes.size(), 0.0);
  m_yield.assign(m_nodes.size(), 0.0); // the grounded area first
  for (const Element& e : m_elements) {
    double F[4], fraction[4];
    for (int c = 0; c < 4; ++c) {
      const int j = e.j + (c >> 1), i = e.i + (c & 1);
      F[c] = input.b(j, i) + rho_ice / rho_water * input.H(j, i);
    }
    ssa_element_grounded(m_q1, e.ice, F, fraction);
    for (int c = 0; c < 4 && !m_till_subgrid; ++c)
      fraction[c] = input.mask(e.j + (c >> 1), e.i + (c & 1)) == grounded_ice ? 1.0 : 0.0;
    for (int c = 0; c < 4; ++c) {
      const int n = m_local(e.j + (c >> 1), e.i + (c & 1));
      if (n >= 0) m_yield[n] += fraction[c] * m_q1.weight;
    }
  }
  for (std::size_t n = 0; n < m_nodes.size(); ++n) {
    const int j = m_nodes[n].j, i = m_nodes[n].i;
    const bool floats = input.mask(j, i) == floating_ice;
    const double H = input.H(j, i), b = input.b(j, i);
    m_yield[n] *= input.tauc(j, i);
    const auto pressure = [&](int dj, int di) { // on the face towards a cell without ice
      if (m_ice(j + dj, i + di) != 0) return 0.0;
      const int type = input.mask(j + dj, i + di);
      if (icy(type)) return floats ? front_pressure(H, b, true) : 0.0; // the edge of the domain
      return type == ice_free_ocean ? front_pressure(H, b, floats) : cliff_pressure(H, input.h(j, i), input.b(j + dj, i + di));
    };
    const double weight = -0.5 * rho_ice * gravity * H; // of the cell: thin ice is not pushed by the thickness of its neighbours
    m_load[2 * n] = weight * m_dy * (rise(j, i, east) - rise(j, i, west));
    m_load[2 * n + 1] = weight * m_dx * (rise(j, i, north) - rise(j, i, south));
    m_load[2 * n] += m_dy * (pressure(0, 1) - pressure(0, -1));
    m_load[2 * n + 1] += m_dx * (pressure(1, 0) - pressure(-1, 0));
  }
}

void SsaAssembly::impose(const Array2<double>& u, const Array2<double>& v) const {
  for (int j = 0; j <= m_patch.ym + 1; ++j) {
    for (int i = 0; i <= m_patch.xm + 1; ++i) {
      if (m_ice(j, i) == 0) {
        u(j, i) = v(j, i) = 0.0;
      } else if (m_input.fixed.size() > 0 && m_input.fixed(j, i) != 0) {
        u(j, i) = m_input.u_fixed(j, i), v(j, i) = m_input.v_fixed(j, i);
      }
    }
  }
}

std::int64_t SsaAssembly::column(int n, int slot) const {
  const Node& at = m_nodes[static_cast<std::size_t>(n)];
  return m_global(at.j + slot / 3 - 1, at.i + slot % 3 - 1);
}

} // namespace nunatak
