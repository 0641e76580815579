// Hats on every second point: who owns a coarse point, on every cut of every short axis (which
// points exist, and their values: test_galerkin.cpp). The inverse of the last level's matrix,
// with unknowns that depend on others.
#include "errors.hpp"
#include "multigrid_case.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <random>
#include <vector>

using namespace nunatak;

namespace {

/// Number of coarse points of an axis.
int coarse_points(int M, bool periodic, bool halved) {
  return !halved ? M : periodic ? (M + 1) / 2 : M == 2 ? 1 : M / 2 + 1;
}

struct Axis {
  int M;
  bool periodic, halved;
};

/// Every axis of up to 9 points that the multigrid may meet.
std::vector<Axis> axes() {
  std::vector<Axis> all;
  for (int M = 1; M <= 9; ++M) {
    for (const bool periodic : {false, true}) {
      all.push_back({M, periodic, false});
      if (M > 1) all.push_back({M, periodic, true});
    }
  }
  return all;
}

/// f(decomposition) for every cut of a row of M cells into patches.
template <class F> void for_each_cut(const Axis& axis, const F& f) {
  for (int cuts = 0; cuts < 1 << (axis.M - 1); ++cuts) {
    Decomposition d = Decomposition::make(axis.M, 1, 1, 1);
    d.periodic_x = axis.periodic;
    d.x = {0};
    for (int s = 1; s < axis.M; ++s) {
      if ((cuts >> (s - 1) & 1) != 0) d.x.push_back(s);
    }
    d.px = static_cast<int>(d.x.size());
    d.x.push_back(axis.M);
    f(d, coarser(d, {axis.halved, false}));
  }
}

} // namespace

TEST_CASE("every coarse point has one owner: that of its fine point") {
  int wrong = 0;
  for (const Axis& axis : axes()) {
    for_each_cut(axis, [&](const Decomposition& fine, const Decomposition& coarse) {
      wrong += coarse.x.front() != 0 || coarse.x.back() != coarse.Mx ||
               coarse.Mx != coarse_points(axis.M, axis.periodic, axis.halved);
      for (int r = 0; r < fine.px; ++r) {
        const Patch p = fine.patch(r), q = coarse.patch(r);
        wrong += q.xm < 0;
        for (int C = q.xs; C < q.xs + q.xm; ++C) {
          const int g = axis.halved ? 2 * C : C;
          const bool beyond = g == axis.M && !axis.periodic && r == fine.px - 1;
          wrong += !beyond && !p.owns(0, g);
        }
      }
    });
  }
  CHECK(wrong == 0);
}

namespace {
Vector solved(int n, const Vector& matrix, const Vector& right) {
  const Kokkos::View<double*, Mem> A("A", matrix.size()), b("b", n), x("x", n);
  std::copy(matrix.begin(), matrix.end(), A.data());
  std::copy(right.begin(), right.end(), b.data());
  const Inverse inverse(n);
  using Policy = Kokkos::TeamPolicy<Exec>;
  for (const double scale : {2.0, 1.0}) { // the second time in place
    Kokkos::parallel_for(
        "inverse", Policy(1, std::min(Exec().concurrency(), 3)),
        KOKKOS_LAMBDA(const Policy::member_type& team) {
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 0, n * n),
                               [&](int k) { inverse.matrix()[k] = scale * A(k); });
          team.team_barrier();
          inverse.find(team);
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 0, n), [&](int i) {
            x(i) = inverse.row_times(i, [&](int j) { return b(j); });
          });
        });
  }
  Kokkos::fence();
  return {x.data(), x.data() + n};
}
} // namespace

TEST_CASE("inverse: exact where numbers are, nothing for no unknowns") {
  // L = [2; 1 4; -2 1 1; 0 3 -1 2]
  const Vector A = {4, 2, -4, 0, 2, 17, 2, 12, -4, 2, 6, 2, 0, 12, 2, 14};
  const Vector b = {4 * 1 + 2 * 2 - 4 * 3, 2 * 1 + 17 * 2 + 2 * 3 + 12 * 4,
                    -4 * 1 + 2 * 2 + 6 * 3 + 2 * 4, 12 * 2 + 2 * 3 + 14 * 4};
  CHECK(solved(4, A, b) == Vector{1, 2, 3, 4});
  CHECK(solved(0, {}, {}).empty());
}

TEST_CASE("inverse: dependent unknowns are 0, and the others solve a system that has a solution") {
  const Vector free = {1, -1, 0, 0,  -1, 2, -1, 0,
                       0, -1, 2, -1, 0,  0, -1, 1}; // a chain of springs that is held nowhere
  CHECK(solved(4, free, {1, 1, 0, -2}) == Vector{5, 4, 2, 0});
  CHECK(solved(3, {0, 0, 0, 0, 4, 0, 0, 0, 0}, {0, 8, 0}) ==
        Vector{0, 2, 0}); // first and last do not exist

  for (const double scale : {1.0, 1e20, 1e-20}) {
    for (std::size_t rank = 0; rank <= 12; rank += 3) {
      constexpr std::size_t n = 12;
      std::mt19937 random(static_cast<unsigned>(rank));
      Dense V(n, rank);
      for (double& v : V.values) v = static_cast<double>(random()) / 2147483648.0 - 1.0;
      Dense A = V * V.transposed();
      for (double& a : A.values) a *= scale;
      Vector y(n);
      for (double& value : y) value = static_cast<double>(random()) / 2147483648.0 - 1.0;
      const Vector b = A * y;
      const Vector x = solved(n, A.values, b);
      const Vector Ax = A * x;
      double error = 0.0, largest = 0.0, zero = 0.0;
      for (std::size_t k = 0; k < n; ++k) {
        error = larger_error(error, Ax[k] - b[k]);
        largest = std::max(largest, std::abs(b[k]));
        zero += x[k] == 0.0;
      }
      CHECK(error <= 1e-9 * largest);
      CHECK(zero == static_cast<double>(n - rank));
    }
  }
}
