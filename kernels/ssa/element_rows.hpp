// The functions of SsaElement (element.hpp) for many elements at once, with the same bits: the
// elements of a row between icy cells (one at a time on GPUs, at margins, and if Glen's exponent is
// not 3), and all rows of the Jacobian, those of up to eight unknowns at once. On a CPU compiled
// for several widths (element_rows.cpp). No communication. loops.hpp has the loops over a patch.
#pragma once

#include "kernels/grid/widths.hpp"
#include "kernels/multigrid/lanes.hpp"
#include "kernels/ssa/unknowns.hpp"

namespace nunatak::ssa {

/// Values at the corners of a row of elements: south-western ones, and the row above.
struct CornerRows {
  const double *below, *above;
};

/// Adjacent unknowns of a row and the elements around them: unknown k is corner c of
/// element[c >> 1][k + 1 - (c & 1)]. ice: their icy corners. drag: uu, uv, vv. into[k], bit n: cell
/// n of the nine is an unknown.
struct Stretch {
  int cells;
  const SsaElement* element[2][lanes_at_once + 1];
  int ice[2][lanes_at_once + 1];
  double drag[lanes_at_once][3];
  unsigned into[lanes_at_once];
};

namespace detail {
constexpr int elements_at_once = 16;
struct Strains {
  double Kw[8][elements_at_once], e2[elements_at_once];
};

/// A row of K times values relative to corner 0, with the zero added as in SsaElement::strain2.
KOKKOS_FORCEINLINE_FUNCTION double times(const double (&K)[8], const double (&r)[8]) {
  return 0.0 + K[2] * r[2] + K[3] * r[3] + K[4] * r[4] + K[5] * r[5] + K[6] * r[6] + K[7] * r[7];
}
/// SsaElement::strain2 of n elements with four icy corners.
KOKKOS_FORCEINLINE_FUNCTION void find_strains(const Q1Element& q1, int n, const CornerRows& u,
                                              const CornerRows& v, Strains& out) {
  const double(&K)[8][8] = q1.K[15];
  const double area = q1.area[15];
  const double *u0 = u.below, *u1 = u.above, *v0 = v.below, *v1 = v.above;
  Strains s; // not aliased
  NUNATAK_INDEPENDENT
  for (int k = 0; k < n; ++k) {
    const double r[8] = {0.0,           0.0,           u0[k + 1] - u0[k], v0[k + 1] - v0[k],
                         u1[k] - u0[k], v1[k] - v0[k], u1[k + 1] - u0[k], v1[k + 1] - v0[k]};
    s.Kw[0][k] = times(K[0], r);
    s.Kw[1][k] = times(K[1], r);
    const double p2 = times(K[2], r);
    const double p3 = times(K[3], r);
    const double p4 = times(K[4], r);
    const double p5 = times(K[5], r);
    const double p6 = times(K[6], r);
    const double p7 = times(K[7], r);
    s.Kw[2][k] = p2;
    s.Kw[3][k] = p3;
    s.Kw[4][k] = p4;
    s.Kw[5][k] = p5;
    s.Kw[6][k] = p6;
    s.Kw[7][k] = p7;
    s.e2[k] =
        0.5 * (0.0 + r[2] * p2 + r[3] * p3 + r[4] * p4 + r[5] * p5 + r[6] * p6 + r[7] * p7) / area;
  }
  out = s;
}

/// SsaElement of n elements, for Glen's exponent 3.
KOKKOS_FORCEINLINE_FUNCTION void set_row(const Q1Element& q1, const GlenLaw& glen, int n,
                                         const CornerRows& u, const CornerRows& v,
                                         const CornerRows& BH, SsaElement* row) {
  const double *B0 = BH.below, *B1 = BH.above;
  const double(&mean)[4] = q1.mean[15];
  const double area = q1.area[15], exponent = glen.exponent(), eps2 = glen.eps2;
  for (int first = 0; first < n; first += elements_at_once) {
    const int size = n - first < elements_at_once ? n - first : elements_at_once;
    Strains s;
    double nuH2[elements_at_once], slope[elements_at_once];
    find_strains(q1, size, {u.below + first, u.above + first}, {v.below + first, v.above + first},
                 s);
    NUNATAK_INDEPENDENT
    for (int k = 0; k < size; ++k) {
      const int c = first + k;
      const double strength =
          mean[0] * B0[c] + mean[1] * B0[c + 1] + mean[2] * B1[c] + mean[3] * B1[c + 1];
      const double all = s.e2[k] + eps2;
      nuH2[k] = strength * elementary::inverse_cbrt(all);
      slope[k] = nuH2[k] * (exponent / all) / area;
    }
    for (int k = 0; k < size; ++k) {
      SsaElement& e = row[first + k];
      for (int a = 0; a < 8; ++a) e.p[a] = s.Kw[a][k];
      e.nuH2 = nuH2[k];
      e.slope = slope[k];
      e.e2 = s.e2[k];
    }
  }
}

/// SsaElement::weigh of n elements, by the changes of u and v since the last Jacobian.
KOKKOS_FORCEINLINE_FUNCTION void weigh_row(const Q1Element& q1, double eps2, int n,
                                           const CornerRows& u, const CornerRows& v,
                                           const CornerRows& u_before, const CornerRows& v_before,
                                           SsaElement* row) {
  for (int first = 0; first < n; first += elements_at_once) {
    const int size = n - first < elements_at_once ? n - first : elements_at_once;
    Strains s;
    double du[2][elements_at_once + 1], dv[2][elements_at_once + 1], now[elements_at_once],
        weight[elements_at_once];
    for (int k = 0; k <= size; ++k) {
      const int c = first + k;
      du[0][k] = u.below[c] - u_before.below[c];
      du[1][k] = u.above[c] - u_before.above[c];
      dv[0][k] = v.below[c] - v_before.below[c];
      dv[1][k] = v.above[c] - v_before.above[c];
    }
    find_strains(q1, size, {du[0], du[1]}, {dv[0], dv[1]}, s);
    for (int k = 0; k < size; ++k) now[k] = row[first + k].e2;
    NUNATAK_INDEPENDENT
    for (int k = 0; k < size; ++k)
      weight[k] = newton_weight(s.e2[k], now[k] + eps2, strain_caution);
    for (int k = 0; k < size; ++k) row[first + k].weigh(weight[k]);
  }
}

/// Four numbers multiplied and added together, in one vector register if the compiler has them.
#if defined(__GNUC__) && !defined(__CUDACC__) && !defined(__HIPCC__)
typedef double Four
    __attribute__((vector_size(4 * sizeof(double)), aligned(alignof(double)), may_alias));
#else
struct Four {
  double n[4];
  KOKKOS_INLINE_FUNCTION Four operator*(const Four& o) const {
    return {n[0] * o.n[0], n[1] * o.n[1], n[2] * o.n[2], n[3] * o.n[3]};
  }
  KOKKOS_INLINE_FUNCTION Four& operator+=(const Four& o) {
    for (int m = 0; m < 4; ++m) n[m] += o.n[m];
    return *this;
  }
};
#endif

/// Four entries of SsaElement::jacobian: two unknowns of corner c times those of each corner.
template <int c>
KOKKOS_FORCEINLINE_FUNCTION void add_element(const Q1Element& q1, const SsaElement& e, int ice,
                                             Four (&row)[9]) {
  const double *K0 = q1.K[ice][2 * c], *K1 = q1.K[ice][2 * c + 1], *p = e.p;
  const double s0 = e.slope * p[2 * c], s1 = e.slope * p[2 * c + 1];
  const Four nuH2{e.nuH2, e.nuH2, e.nuH2, e.nuH2}, slope{s0, s0, s1, s1};
  constexpr int slot = 4 - 3 * (c >> 1) - (c & 1); // of corner 0; the others follow at 1, 3 and 4
  const auto add = [&](int to, int b) {
    Four entries = nuH2 * Four{K0[b], K0[b + 1], K1[b], K1[b + 1]};
    entries += slope * Four{p[b], p[b + 1], p[b], p[b + 1]};
    row[to] += entries;
  };
  add(slot, 0);
  add(slot + 1, 2);
  add(slot + 3, 4);
  add(slot + 4, 6);
}
template <class Real>
KOKKOS_FORCEINLINE_FUNCTION void write_rows(const Q1Element& q1, const Stretch& s, Real* out) {
  Real rows[lanes_at_once][36]; // in `out` an entry of all cells, then the next
  const int cells = lanes_at_once > 1 ? s.cells : 1;
  for (int k = 0; k < cells; ++k) {
    Four row[9]{};
    row[4] = Four{s.drag[k][0], s.drag[k][1], s.drag[k][1], s.drag[k][2]};
    add_element<3>(q1, *s.element[1][k], s.ice[1][k], row);
    add_element<2>(q1, *s.element[1][k + 1], s.ice[1][k + 1], row);
    add_element<1>(q1, *s.element[0][k], s.ice[0][k], row);
    add_element<0>(q1, *s.element[0][k + 1], s.ice[0][k + 1], row);
    for (int slot = 0; slot < 9; ++slot) {
      if ((s.into[k] >> slot & 1u) == 0) row[slot] = Four{};
    }
    const double* entries = reinterpret_cast<const double*>(row);
    for (int n = 0; n < 36; ++n) rows[k][n] = static_cast<Real>(entries[n]);
  }
  if (cells == lanes) {
    for (int n = 0; n < 36; ++n) {
      for (int k = 0; k < lanes_at_once; ++k) out[n * lanes + k] = rows[k][n];
    }
  } else {
    for (int k = 0; k < cells; ++k) {
      for (int n = 0; n < 36; ++n) out[n * lanes + k] = rows[k][n];
    }
  }
}
} // namespace detail

NUNATAK_WIDE(void, set_row,
             (const Q1Element& q1, const GlenLaw& glen, int n, const CornerRows& u,
              const CornerRows& v, const CornerRows& BH, SsaElement* row),
             (q1, glen, n, u, v, BH, row))
NUNATAK_WIDE(void, weigh_row,
             (const Q1Element& q1, double eps2, int n, const CornerRows& u, const CornerRows& v,
              const CornerRows& u_before, const CornerRows& v_before, SsaElement* row),
             (q1, eps2, n, u, v, u_before, v_before, row))

/// The rows of unknowns in one block of the matrix (kernels/multigrid/lanes.hpp).
NUNATAK_WIDE(void, write_rows, (const Q1Element& q1, const Stretch& s, float* out), (q1, s, out))
NUNATAK_WIDE(void, write_rows, (const Q1Element& q1, const Stretch& s, double* out), (q1, s, out))

KOKKOS_INLINE_FUNCTION CornerRows corners(const Array2<double>& a, int j, int i) {
  return {&a(j, i), &a(j + 1, i)};
}

/// f(k, element) for each element, or for those of the chosen cells.
template <class F> void for_each_element(const char* label, const SsaPatch& p, const F& f) {
  const auto elements = p.elements;
  const auto chosen = p.chosen.elements;
  if (p.chosen.alone) {
    Kokkos::parallel_for(
        label, Kokkos::RangePolicy<Exec>(0, p.chosen.lengths.elements),
        KOKKOS_LAMBDA(int m) { f(chosen(m), elements(chosen(m))); });
  } else {
    Kokkos::parallel_for(
        label, Kokkos::RangePolicy<Exec>(0, p.lengths.elements),
        KOKKOS_LAMBDA(int k) { f(k, elements(k)); });
  }
}

} // namespace nunatak::ssa
