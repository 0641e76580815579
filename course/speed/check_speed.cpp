// Lab 12: fast_fluxes() has the values of plain_fluxes(), and is three times as fast, measured next
// to each other. The test "roofline" prints what the picture of the lab needs.
#include "course/speed/fluxes.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iomanip>
#include <vector>

namespace {

using Fluxes = void(std::size_t, double, const double*, double*, double*);

/// Seconds of a call.
template <class F> double seconds_of(const F& f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// A map of n x n cells with hills, and its fluxes.
struct Map {
  explicit Map(std::size_t size) : n(size), H(n * n), q_x(n * n, 0.0), q_y(n * n, 0.0) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < n; ++i)
        H[j * n + i] = 2000.0 + 900.0 * std::sin(0.05 * i) * std::cos(0.07 * j);
    }
  }
  double time(Fluxes& f) {
    return seconds_of([&] { f(n, 5e3, H.data(), q_x.data(), q_y.data()); });
  }
  std::size_t n;
  std::vector<double> H, q_x, q_y;
};

} // namespace

TEST_CASE("lab 12: the same values") {
  for (const std::size_t n : {3, 4, 17, 200}) {
    Map expected(n), found(n);
    expected.time(speed::plain_fluxes);
    found.time(speed::fast_fluxes);
    for (std::size_t cell = 0; cell < n * n; ++cell) {
      const auto see = [&](const char* name, double right, double q) {
        if (std::abs(q - right) <= 1e-12 * std::abs(right) + 1e-20) return;
        FAIL(name << " at cell (j " << cell / n << ", i " << cell % n << ") of " << n << " x " << n
                  << std::setprecision(17) << ": expected " << right << ", found " << q);
      };
      see("q_x", expected.q_x[cell], found.q_x[cell]);
      see("q_y", expected.q_y[cell], found.q_y[cell]);
    }
  }
}

TEST_CASE("lab 12: at least three times as fast") {
  Map map(1024);
  double plain = 1.0, fast = 1.0; // fastest of nine interleaved repetitions: others only disturb
  for (int repetition = 0; repetition < 9; ++repetition) {
    plain = std::min(plain, map.time(speed::plain_fluxes));
    fast = std::min(fast, map.time(speed::fast_fluxes));
  }
  std::fprintf(stderr, "measured: %.3g ms for the plain loops, %.3g for yours, a ratio of %.3g\n",
               1e3 * plain, 1e3 * fast, plain / fast);
  if (plain < 3.0 * fast) FAIL("expected a ratio of 3, found " << plain / fast);
}

TEST_CASE("roofline", "[.]") {
  const std::size_t n = 4 << 20; // three arrays of 32 MiB
  std::vector<double> a(n, 1.0), b(n, 2.0), c(n, 3.0);
  double triad = 1.0, flops = 1.0, plain = 1.0, fast = 1.0, some = 0.0;
  Map map(2048);
  for (int repetition = 0; repetition < 7; ++repetition) {
    triad = std::min(triad, seconds_of([&] {
                       for (std::size_t k = 0; k < n; ++k) a[k] = b[k] + 0.5 * c[k];
                     }));
    flops = std::min(flops, seconds_of([&] {
                       double x[32] = {};
                       for (int k = 0; k < 1 << 20; ++k) {
                         for (double& v : x) v = v * 0.999 + 0.5;
                       }
                       for (const double v : x) some += v;
                     }));
    plain = std::min(plain, map.time(speed::plain_fluxes));
    fast = std::min(fast, map.time(speed::fast_fluxes));
  }
  const double cells = static_cast<double>(map.n * map.n);
  std::printf("{\"GB_per_s\": %.3f, \"Gflop_per_s\": %.3f, \"check\": %g, \"kernels\": {\n"
              "  \"plain\": {\"ns_per_cell\": %.3f}, \"fast\": {\"ns_per_cell\": %.3f}}}\n",
              24e-9 * n / triad, 64e-9 * (1 << 20) / flops, some + a[n / 2], 1e9 * plain / cells,
              1e9 * fast / cells);
}
