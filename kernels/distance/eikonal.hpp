// Solver `fmm` (distance.hpp), in metres: |grad d| = 1 inside a domain, d = 0 at centres of seeds.
//
//        n         a = min(u_w, u_e),  b = min(u_s, u_n)          outside the domain, beyond the
//    w   u   e     [max(u - a, 0)/dx]^2                            edge and where not yet reached u
//        s           + [max(u - b, 0)/dy]^2 = 1                    is infinite
//
// First-order upwind scheme of Rouy & Tourin (1992), SIAM J. Numer. Anal. 29, 867. The larger of a
// and b counts only if it is smaller than u, so a value depends only on smaller ones. A cell is
// visited after a smaller neighbour has changed, in order of these neighbours' values, sorted into
// buckets of an eighth of a cell (after Yatziv, Bartesaghi & Sapiro 2006, J. Comput. Phys. 212,
// 393): 1.0 to 1.7 visits per cell, where alternating sweeps need up to 11. Ghosts are then
// exchanged, until u is exactly the upwind value of its neighbours everywhere.
//
// The bits do not depend on the order of visits, hence not on the decomposition. Proof: let u and v
// satisfy the discrete equations, rounding included, and let c be the cell with the smallest
// min(u_c, v_c) among those where they differ, say u_c < v_c. Neighbours below u_c are the same in
// u and v, and the others do not count, so v_c = u_c: a contradiction. This needs two properties of
// upwind_distance(): (1) the result is larger than every argument that it depends on; (2) an
// argument that is not below the result does not change it. By the same properties the smallest
// wrong value grows whenever all cells have been visited, until there is none.
//
// Largest error on the unit square, in units of its side, and order (tests/kernels/
// test_eikonal.cpp checks these figures):
//  cells             45^2       135^2           405^2
//  from a point      0.0234     0.0105  0.73    0.0044  0.79      h log h: the curvature is
//  from a disc       0.0222     0.0074  1.00    0.0023  1.05      unbounded at the point; a disc is
//  around a corner   0.0423     0.0187  0.74    0.0079  0.78      the cells with centres in it
#pragma once

#include "kernels/distance/types.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace nunatak {

/// metres[f][local], as DistanceFields.
using MetreFields = std::vector<std::vector<SharedArray2<double>>>;

/// m; for cells outside the domain and cells that no seed reaches.
constexpr double not_reached = std::numeric_limits<double>::infinity();

/// The upwind value of a, b as above, with spacings h_a, h_b. With the sorted values lo <= hi,
/// their spacings h and k, and t = hi - lo: u = lo + h if that is at most hi, else hi + k [h
/// sqrt(h^2 + k^2 - t^2) - k t] / (h^2 + k^2).
inline double upwind_distance(double a, double h_a, double b, double h_b) {
  const double lo = a <= b ? a : b;
  const double hi = a <= b ? b : a;
  const double h = a <= b ? h_a : h_b;
  const double k = a <= b ? h_b : h_a;
  const double from_one = lo + h;
  if (from_one <= hi) return from_one;
  const double t = hi - lo, sum = h * h + k * k;
  const double from_both = hi + k * (h * std::sqrt(sum - t * t) - k * t) / sum;
  return from_both > hi ? std::min(from_both, from_one)
                        : from_one; // lies between them in exact arithmetic
}

/// One field on one patch: start (1, 0, -1) and metres, flat, with ghosts.
class EikonalPatch {
public:
  EikonalPatch(const Patch& patch, double dx, double dy, const int* start, double* metres)
      : m_patch(patch), m_row(patch.xm + 2), m_dx(dx), m_dy(dy), m_u(metres),
        m_state(static_cast<std::size_t>(m_row) * static_cast<std::size_t>(patch.ym + 2), fixed),
        m_ghosts(2 * static_cast<std::size_t>(patch.xm + patch.ym), not_reached) {
    std::fill(m_u, m_u + m_state.size(), not_reached);
    std::vector<int> seeds;
    for (int j = 1; j <= patch.ym; ++j) {
      for (int i = 1; i <= patch.xm; ++i) {
        const int what = start[at(j, i)];
        if (what == 0) m_state[at(j, i)] = clean;
        if (what == 1) seeds.push_back(at(j, i));
      }
    }
    for (const int c : seeds) {
      m_u[c] = 0.0;
      mark_neighbours(c, 0.0);
    }
  }

  /// After an exchange: schedules cells next to ghosts that have changed.
  void look_at_ghosts() {
    std::size_t n = 0;
    const auto look = [&](bool edge, int gj, int gi, int j, int i) {
      double &ghost = m_u[at(gj, gi)], &before = m_ghosts[n++];
      if (edge) ghost = not_reached; // the exchange has copied the nearest owned cell
      if (ghost == before) return;
      m_offers.emplace_back(std::min(ghost, before), at(j, i));
      before = ghost;
    };
    const Patch& p = m_patch;
    for (int i = 1; i <= p.xm; ++i) {
      look(p.ys == 0, 0, i, 1, i);
      look(p.ys + p.ym == p.My, p.ym + 1, i, p.ym, i);
    }
    for (int j = 1; j <= p.ym; ++j) {
      look(p.xs == 0, j, 0, j, 1);
      look(p.xs + p.xm == p.Mx, j, p.xm + 1, j, p.xm);
    }
  }

  /// Visits cells until each has the upwind value of its neighbours. Returns the number of visits.
  std::int64_t relax(bool& changed) {
    std::sort(m_offers.begin(), m_offers.end());
    std::int64_t visits = 0;
    auto offer = m_offers.begin();
    for (; m_waiting > 0 || offer != m_offers.end();
         m_first = (m_first + 1) % buckets, m_low += m_width) {
      if (m_waiting == 0) m_low = offer->first;
      std::vector<int>& bucket = m_bucket[m_first];
      for (; offer != m_offers.end() && offer->first <= m_low + m_width; ++offer)
        mark(offer->second, offer->first, bucket);
      for (std::size_t n = 0; n < bucket.size(); ++n)
        visit(bucket[n], changed); // may add to this bucket
      visits += static_cast<std::int64_t>(bucket.size());
      m_waiting -= bucket.size();
      bucket.clear();
    }
    m_offers.clear();
    return visits;
  }

private:
  enum State : char { clean, waiting, fixed }; // fixed: seeds, cells outside, ghosts
  static constexpr std::size_t buckets = 64;

  int at(int j, int i) const { return j * m_row + i; }

  void visit(int c, bool& changed) {
    m_state[c] = clean;
    const double a = std::min(m_u[c - 1], m_u[c + 1]), b = std::min(m_u[c - m_row], m_u[c + m_row]);
    const double u = upwind_distance(a, m_dx, b, m_dy), before = m_u[c];
    if (u == before) return;
    m_u[c] = u;
    changed = true;
    mark_neighbours(c, std::min(u, before));
  }

  void mark_neighbours(int c, double low) {
    const double ahead = std::min<double>(buckets - 1, std::max(0.0, (low - m_low) / m_width));
    std::vector<int>& bucket = m_bucket[(m_first + static_cast<std::size_t>(ahead)) % buckets];
    for (const int n : {c - 1, c + 1, c - m_row, c + m_row}) mark(n, low, bucket);
  }

  /// Schedules the cell after a neighbour has changed, from or to `low`, unless it is irrelevant.
  void mark(int c, double low, std::vector<int>& bucket) {
    State& state = m_state[c];
    if (state != clean || !(low < m_u[c])) return;
    state = waiting;
    m_waiting += 1;
    bucket.push_back(c);
  }

  Patch m_patch;
  int m_row;
  double m_dx, m_dy;
  double* m_u;
  std::vector<State> m_state;
  std::vector<double> m_ghosts;                 // values at the last look_at_ghosts()
  std::vector<std::pair<double, int>> m_offers; // ghosts that have changed: value, adjacent cell
  // a ring of buckets of waiting cells; the last one also holds those further ahead
  std::array<std::vector<int>, buckets> m_bucket;
  std::size_t m_first = 0, m_waiting = 0; // m_first: the bucket at which the ring begins
  double m_low = 0.0, m_width = std::min(m_dx, m_dy) / 8;
};

/// Solves for metres[f][local] from start[f][local] (1 seed, 0 domain, -1 outside, in owned cells).
/// dx, dy: m, on a grid that is not periodic. Result: m in owned cells, `not_reached` outside and
/// where no seed reaches; ghosts are work space. Host memory. Communicates: per round one ghost
/// exchange, every fourth round one maximum; on one rank: one maximum. `maxima` may be called
/// several times, the last time when metres are final.
inline DistanceReport solve_eikonal(Ranks& ranks, double dx, double dy, const DistanceFields& start,
                                    const MetreFields& metres, const DistanceMaxima& maxima = {}) {
  if (ranks.decomposition().periodic_x || ranks.decomposition().periodic_y) {
    throw std::invalid_argument(
        "distances, fmm: expected a grid that is not periodic, found a periodic one");
  }
  if (!(dx > 0.0 && dy > 0.0 && std::isfinite(dx) && std::isfinite(dy))) {
    throw std::invalid_argument("distances, fmm: expected spacings dx > 0 and dy > 0, found " +
                                std::to_string(dx) + " and " + std::to_string(dy));
  }
  const int locals = ranks.local_size();
  std::vector<std::vector<Ghosted>> ghosted(static_cast<std::size_t>(locals));
  std::vector<std::vector<EikonalPatch>> patches(static_cast<std::size_t>(locals));
  std::vector<char> changed(static_cast<std::size_t>(locals), 0);
  const auto relax = [&](int r) {
    bool any = false;
    for (EikonalPatch& patch : patches[r]) ranks.work(r, patch.relax(any), Work::fmm);
    changed[r] = any;
  };
  for (const int r : ranks.locals()) {
    for (std::size_t f = 0; f < start.size(); ++f) {
      ghosted[r].push_back(metres[f][r]);
      patches[r].emplace_back(ranks.patch(r), dx, dy, start[f][r].data(), metres[f][r].data());
    }
    relax(r);
    changed[r] = 0; // one rank has no exchange: the first relaxation is final
  }
  DistanceReport report;
  const bool several = ranks.decomposition().size() > 1;
  do {
    for (int round = 0; several && round < 4; ++round, ++report.rounds) {
      ranks.update_ghosts(ghosted);
      for (const int r : ranks.locals()) {
        for (EikonalPatch& patch : patches[r]) patch.look_at_ghosts();
        relax(r);
      }
    }
  } while (anything_changed(ranks, changed, maxima, report));
  return report;
}

/// The problem of the other solvers, in place, with distances in units of `unit` (m; 0: dx): 1 +
/// round(d / unit); 0 where no seed reaches, -1 outside. (Other cells than seeds may have 1 if unit
/// > 2 dx or 2 dy.) Throws invalid_argument, on all ranks, for distances of 2^31 units or more.
inline DistanceReport eikonal_distances(Ranks& ranks, double dx, double dy,
                                        const DistanceProblem& problem, double unit = 0.0) {
  const double scale = unit > 0.0 ? unit : dx;
  constexpr std::int64_t most = std::numeric_limits<int>::max() - 1;
  MetreFields metres;
  for (std::size_t f = 0; f < problem.fields.size(); ++f) {
    metres.emplace_back();
    for (const int r : ranks.locals())
      metres[f].push_back(shared_array<double>("distance_metres", ranks.patch(r)));
  }
  // the maxima of the problem, and the largest distance
  const auto convert = [&](int r) {
    const Patch p = ranks.patch(r);
    std::int64_t farthest = 0;
    for (std::size_t f = 0; f < metres.size(); ++f) {
      const SharedArray2<double>& u = metres[f][r];
      const SharedArray2<int>& d = problem.fields[f][r];
      for (int j = 1; j <= p.ym; ++j) {
        for (int i = 1; i <= p.xm; ++i) {
          if (d(j, i) < 0) continue;
          const bool reached = u(j, i) != not_reached;
          const std::int64_t units = reached ? std::llround(std::min(u(j, i) / scale, 0x1p62)) : 0;
          farthest = std::max(farthest, units);
          d(j, i) = reached ? 1 + static_cast<int>(std::min(units, most)) : 0;
        }
      }
    }
    std::vector<std::int64_t> maxima =
        problem.maxima ? problem.maxima(r) : std::vector<std::int64_t>{};
    maxima.push_back(farthest);
    return maxima;
  };
  DistanceReport report = solve_eikonal(ranks, dx, dy, problem.fields, metres, convert);
  if (report.maxima.back() > most) {
    throw std::invalid_argument("distances, fmm: expected at most " + std::to_string(most) +
                                " units of " + std::to_string(scale) + " m, found " +
                                std::to_string(report.maxima.back()) +
                                ": a larger unit is needed (-fmm_unit)");
  }
  report.maxima.pop_back();
  return report;
}

inline SolveDistances make_fmm(Ranks& ranks, const DistanceOptions& options) {
  return [&ranks, options](const DistanceProblem& problem) {
    return eikonal_distances(ranks, options.dx, options.dy, problem, options.unit);
  };
}

} // namespace nunatak
