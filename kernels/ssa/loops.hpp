// Residual and Jacobian of the SSA by loops over the patch of a rank: first the coefficients of
// each element, then, per unknown, the sum over its four elements in raster order.
//
//   element (j-1, i-1) | (j-1, i)        unknown (j, i) is corner 3 of the first, 2, 1, 0 of the
//   -------------------+---------        others
//           (j, i-1)   |  (j, i)
//
// Elements that touch an owned cell are computed on every rank that needs them: no communication,
// and the same bits for every decomposition. Velocities u, v are in m s-1, forces in N. Pointers to
// doubles are lists of pairs (x, y) per owned unknown, in memory of the loops.
#pragma once

#include "kernels/ssa/element_rows.hpp"

namespace nunatak::ssa {

/// Linearisation of the equations about (u, v):
///   at_rest    viscosity of a typical strain rate of ice streams and shelves, where (u, v) is 0
///   picard     viscosity and drag of (u, v), frozen
///   newton     the derivative at (u, v)
///   weighted   Newton's derivative, weighted by newton_weight with the change since the last
///              Jacobian; that of the drag in the direction of follow_direction
enum class Linearisation { at_rest, picard, newton, weighted };

/// s-1; ice streams and shelves have 1e-4 to 1e-1 a-1.
constexpr double strain_rate_at_rest = 0.04 / seconds_per_year;

/// f(n, j, i) for each owned unknown, or for the chosen ones: its position in the lists and its
/// view indices.
template <class F> void for_each_unknown(const char* label, const SsaPatch& p, const F& f) {
  const auto places = p.places, chosen = p.chosen.unknowns;
  const int stride = p.patch.xm + 2;
  if (p.chosen.alone) {
    Kokkos::parallel_for(
        label, Kokkos::RangePolicy<Exec>(0, p.chosen.lengths.unknowns), KOKKOS_LAMBDA(int m) {
          const int n = chosen(m);
          f(n, places(n) / stride, places(n) % stride);
        });
  } else {
    Kokkos::parallel_for(
        label, Kokkos::RangePolicy<Exec>(0, p.unknowns()),
        KOKKOS_LAMBDA(int n) { f(n, places(n) / stride, places(n) % stride); });
  }
}

/// one(k, element) for each element, then f(n, j, i) for each unknown, which may use its elements.
/// `by_rows`, on CPUs: row(k, n, j, i) for n adjacent elements between icy cells, from k at (j, i);
/// on one thread an unknown follows the last of its elements, number element_at(j, i), while they
/// are in cache.
template <class Row, class One, class F>
void for_each_element_and_unknown(const char* label, const SsaPatch& p, bool by_rows,
                                  const Row& row, const One& one, const F& f) {
  if (!loops_on_host || !by_rows) {
    for_each_element(label, p, one);
    return for_each_unknown(label, p, f);
  }
  if constexpr (loops_on_host) {
    constexpr int block = 256;
    const auto elements = p.elements;
    const auto places = p.places, chosen = p.chosen.elements;
    const auto element_at = p.element_at;
    const bool alone = p.chosen.alone, together = !alone && Exec().concurrency() == 1; // in order
    const int all = alone ? p.chosen.lengths.elements : p.lengths.elements;
    const int stride = p.patch.xm + 2, unknowns = together ? p.unknowns() : 0;
    int next = 0;
    const auto visit = [=, m = &next](int b) {
      const int end = all < (b + 1) * block ? all : (b + 1) * block;
      const auto number = [&](int place) { return alone ? chosen(place) : place; };
      int k = b * block;
      while (k < end) {
        const int at = number(k);
        const Element first = elements(at);
        int n = 0;
        const auto goes_on = [&] {
          const Element& e = elements(number(k + n));
          return e.ice == 15 && e.j == first.j && e.i == first.i + n;
        };
        while (k + n < end && goes_on()) ++n;
        if (n > 0)
          row(at, n, first.j, first.i);
        else
          one(at, first);
        k += n > 0 ? n : 1;
      }
      for (; *m < unknowns && element_at.data()[places(*m)] < end; ++*m)
        f(*m, places(*m) / stride, places(*m) % stride);
    };
    Kokkos::parallel_for(label, Kokkos::RangePolicy<Exec>(0, (all + block - 1) / block), visit);
    if (!together) for_each_unknown(label, p, f);
  }
}

/// Chooses the owned unknowns with |r|^2 > limit, N2. Their numbers go to p.chosen.found.
inline void choose(const SsaPatch& p, const double* r, double limit) {
  const auto cells = p.chosen.cells;
  const auto unknowns = p.chosen.unknowns, chosen_elements = p.chosen.elements, places = p.places;
  const auto elements = p.elements;
  for_each_unknown(
      "ssa: large residuals", p, KOKKOS_LAMBDA(int n, int j, int i) {
        cells(j, i) = r[2 * n] * r[2 * n] + r[2 * n + 1] * r[2 * n + 1] > limit ? 1 : 0;
      });
  scan_range<int>(
      "ssa: chosen cells", 0, p.unknowns(),
      KOKKOS_LAMBDA(int n, int& before, bool last) {
        if (cells.data()[places(n)] == 0) return;
        if (last) unknowns(before) = n;
        before += 1;
      },
      Later<int>(&p.chosen.found.data()->unknowns));
  scan_range<int>(
      "ssa: chosen elements", 0, p.lengths.elements,
      KOKKOS_LAMBDA(int k, int& before, bool last) {
        const int j = elements(k).j, i = elements(k).i;
        if (cells(j, i) + cells(j, i + 1) + cells(j + 1, i) + cells(j + 1, i + 1) == 0) return;
        if (last) chosen_elements(before) = k;
        before += 1;
      },
      Later<int>(&p.chosen.found.data()->elements));
}

/// Sets fixed velocities, and 0 in ice-free and excluded cells, in owned cells and ghosts.
inline void impose(const SsaPatch& p, const Array2<double>& u, const Array2<double>& v) {
  const auto ice = p.ice, fixed = p.input.fixed;
  const auto u_fixed = p.input.u_fixed, v_fixed = p.input.v_fixed;
  const bool some_fixed = fixed.size() > 0;
  for_each_cell_and_ghost(
      "ssa: fixed velocity", p.patch, KOKKOS_LAMBDA(int j, int i) {
        if (ice(j, i) == 0) {
          u(j, i) = v(j, i) = 0.0;
        } else if (some_fixed && fixed(j, i) != 0) {
          u(j, i) = u_fixed(j, i);
          v(j, i) = v_fixed(j, i);
        }
      });
}

/// Packs the owned unknowns of arrays into a list; unpacks them, leaving ghosts unchanged.
inline void pack(const SsaPatch& p, const Array2<double>& u, const Array2<double>& v, double* x) {
  for_each_unknown(
      "ssa: pack", p, KOKKOS_LAMBDA(int n, int j, int i) {
        x[2 * n] = u(j, i);
        x[2 * n + 1] = v(j, i);
      });
  Kokkos::fence("ssa: packed");
}
inline void unpack(const SsaPatch& p, const double* x, const Array2<double>& u,
                   const Array2<double>& v) {
  for_each_unknown(
      "ssa: unpack", p, KOKKOS_LAMBDA(int n, int j, int i) {
        u(j, i) = x[2 * n];
        v(j, i) = x[2 * n + 1];
      });
}

/// The coefficients of the elements at (u, v), then f of the unknowns. Needs ghosts of u, v.
template <class F>
void set_elements(const char* label, const SsaPatch& p, const Array2<double>& u,
                  const Array2<double>& v, const GlenLaw& glen, const F& f) {
  const auto coefficients = p.coefficients;
  const auto BH = p.BH;
  const auto q1 = p.q1;
  const auto row = KOKKOS_LAMBDA(int k, int n, int j, int i) {
    set_row(q1(), glen, n, corners(u, j, i), corners(v, j, i), corners(BH, j, i), &coefficients(k));
  };
  const auto one = KOKKOS_LAMBDA(int k, const Element& e) {
    double w[8], strength[4];
    for (int c = 0; c < 4; ++c) {
      const int j = e.j + (c >> 1), i = e.i + (c & 1);
      w[2 * c] = u(j, i);
      w[2 * c + 1] = v(j, i);
      strength[c] = BH(j, i);
    }
    coefficients(k) = SsaElement(q1(), glen, e.ice, w, strength);
  };
  for_each_element_and_unknown(label, p, glen.n == 3.0, row, one, f);
}

/// The weight of Newton's term in each element, from the last change of the strain rate; then f of
/// the unknowns.
template <class F>
void weigh_elements(const char* label, const SsaPatch& p, const Array2<double>& u,
                    const Array2<double>& v, Linearisation how, const F& f) {
  const auto coefficients = p.coefficients;
  const auto q1 = p.q1;
  const auto u_before = p.u_before, v_before = p.v_before;
  if (how == Linearisation::newton) return for_each_unknown(label, p, f);
  const bool picard = how != Linearisation::weighted;
  const double eps2 = p.glen.eps2;
  const auto row = KOKKOS_LAMBDA(int k, int n, int j, int i) {
    weigh_row(q1(), eps2, n, corners(u, j, i), corners(v, j, i), corners(u_before, j, i),
              corners(v_before, j, i), &coefficients(k));
  };
  const auto one = KOKKOS_LAMBDA(int k, const Element& e) {
    if (picard) return coefficients(k).weigh(0.0);
    double change[8], Kw[8];
    for (int c = 0; c < 4; ++c) {
      const int j = e.j + (c >> 1), i = e.i + (c & 1);
      change[2 * c] = u(j, i) - u_before(j, i);
      change[2 * c + 1] = v(j, i) - v_before(j, i);
    }
    const double change2 = SsaElement::strain2(q1(), e.ice, change, Kw);
    coefficients(k).weigh(newton_weight(change2, coefficients(k).e2 + eps2, strain_caution));
  };
  for_each_element_and_unknown(label, p, !picard, row, one, f);
}

/// r = membrane stresses + drag - load. Needs ghosts of u, v.
inline void residual(const SsaPatch& p, const Array2<double>& u, const Array2<double>& v,
                     double* r) {
  const auto yield = p.yield, load = p.load;
  const auto element_at = p.element_at;
  const auto coefficients = p.coefficients;
  const TillLaw till = p.till;
  set_elements(
      "ssa: residual", p, u, v, p.glen, KOKKOS_LAMBDA(int n, int j, int i) {
        const double U = u(j, i), V = v(j, i);
        const double beta = yield(n) > 0.0 ? yield(n) * till.drag(U * U + V * V) : 0.0;
        double x = beta * U - load(2 * n), y = beta * V - load(2 * n + 1);
        for (int c = 3; c >= 0; --c) {
          const SsaElement& e = coefficients(element_at(j - (c >> 1), i - (c & 1)));
          x += e.residual(2 * c);
          y += e.residual(2 * c + 1);
        }
        r[2 * n] = x;
        r[2 * n + 1] = y;
      });
}

/// The derivative of the drag at (U, V): uu, uv, vv. `w`: the direction, which it changes to that
/// for the next Jacobian. `change`: of (U, V) since the last one.
KOKKOS_INLINE_FUNCTION void drag_slope(const TillLaw& till, double yield, double U, double V,
                                       const double (&change)[2], Linearisation how, double (&w)[2],
                                       double (&drag)[3]) {
  const bool weighted = how == Linearisation::weighted;
  const double speed2 = U * U + V * V, change2 = change[0] * change[0] + change[1] * change[1];
  const double all = how == Linearisation::newton ? 1.0 : 0.0, none[2] = {0.0, 0.0};
  const double weight = weighted ? newton_weight(change2, speed2 + till.delta2, drag_caution) : all;
  follow_direction({U, V}, weighted ? change : none, till.delta2, w);
  for (int m = 0; m < 2; ++m) w[m] *= weight;
  const double beta = yield * till.drag(speed2);
  const double slope = beta * till.log_slope(speed2) * Kokkos::sqrt(speed2 + till.delta2);
  drag[0] = beta + slope * U * w[0];
  drag[1] = 0.5 * slope * (U * w[1] + V * w[0]);
  drag[2] = beta + slope * V * w[1];
}

/// The matrix of a step from (u, v), symmetric positive definite: the rows of the owned unknowns in
/// A, as in kernels/multigrid/nine_point.hpp. Needs ghosts of u, v. `after_residual`: the last call
/// on this patch was residual() at the same (u, v), whose elements are reused.
template <class Real>
void jacobian(const SsaPatch& p, const Array2<double>& u, const Array2<double>& v,
              Linearisation how, const Rows<Real>& A, bool after_residual = false) {
  GlenLaw glen = p.glen;
  if (how == Linearisation::at_rest) glen.eps2 = strain_rate_at_rest * strain_rate_at_rest;
  if (!after_residual || how == Linearisation::at_rest)
    set_elements("ssa: elements", p, u, v, glen, KOKKOS_LAMBDA(int, int, int){});
  const auto yield = p.yield;
  const auto direction = p.direction;
  const auto u_before = p.u_before, v_before = p.v_before;
  const TillLaw till = p.till;
  const auto element_at = p.element_at, unknown = p.unknown;
  const auto elements = p.elements;
  const auto coefficients = p.coefficients;
  const auto q1 = p.q1;
  const auto visited = p.chosen.alone ? p.chosen.cells : unknown;
  const int xm = p.patch.xm;
  // The unknowns of a block of A together, when the last one comes; on a GPU each by itself.
  weigh_elements(
      "ssa: Jacobian", p, u, v, how, KOKKOS_LAMBDA(int end, int j, int last) {
        const int lane = A.position(j, last) % lanes;
        int cells = 1;
        if (loops_on_host && lane + 1 < lanes && last < xm && visited(j, last + 1) != 0) return;
        while (loops_on_host && cells <= lane && cells < last && visited(j, last - cells) != 0)
          ++cells;
        const int first = last + 1 - cells;
        Stretch s;
        s.cells = cells;
        for (int k = 0; k <= cells; ++k) {
          for (int below = 0; below < 2; ++below) {
            const int m = element_at(j - below, first - 1 + k);
            s.element[below][k] = &coefficients(m);
            s.ice[below][k] = elements(m).ice;
          }
        }
        const auto column = [&](int i) {
          return unsigned{unknown(j - 1, i) != 0} | unsigned{unknown(j, i) != 0} << 3 |
                 unsigned{unknown(j + 1, i) != 0} << 6;
        };
        unsigned into = column(first - 1) << 1 | column(first) << 2;
        for (int k = 0; k < cells; ++k) {
          const int n = end + 1 - cells + k, i = first + k;
          for (double& d : s.drag[k]) d = 0.0;
          const double change[2] = {u(j, i) - u_before(j, i), v(j, i) - v_before(j, i)};
          double w[2] = {direction(n, 0), direction(n, 1)};
          if (yield(n) > 0.0)
            drag_slope(till, yield(n), u(j, i), v(j, i), change, how, w, s.drag[k]);
          for (int m = 0; m < 2; ++m) direction(n, m) = w[m];
          into = ((into >> 1) & 0333u) | (column(i + 1) << 2); // the window of 3 x 3 cells moves on
          s.into[k] = into;
        }
        write_rows(q1(), s, &A(j, first, 0));
      });
  const auto keep = KOKKOS_LAMBDA(int j, int i) {
    u_before(j, i) = u(j, i);
    v_before(j, i) = v(j, i);
  };
  if (p.chosen.alone) // their ghosts are exchanged with those of the next velocity
    for_each_unknown(
        "ssa: before", p, KOKKOS_LAMBDA(int, int j, int i) { keep(j, i); });
  else
    for_each_cell_and_ghost("ssa: before", p.patch, keep);
}

} // namespace nunatak::ssa
