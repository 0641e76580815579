// Shallow ice flow against exact solutions (kernels/exact_sia.hpp), on virtual ranks: errors, volume, the same bits on any cut.
// Single faces: test_sia_faces.cpp.
#include "kernels/exact_sia.hpp"
#include "kernels/sia.hpp"
#include "kernels/time_step.hpp"
#include "kernels/transport.hpp"
#include "kernels/virtual_ranks.hpp"

#include <catch2/catch_test_macros.hpp>

#include <functional>

using namespace nunatak;

namespace {

constexpr double year = seconds_per_year;
constexpr double bed = 1.0; // above the sea, so that ice-free cells are land

/// The diffusivity by the trapezoidal rule over 31 quadratic levels up to 4000 m: A times the integral of (H - z)^4.
struct Trapezoidal {
  double operator()(double A, double H, double slope2) const {
    const double rho_g = rho_ice * gravity;
    double sum = 0.0, z = 0.0, f = H * H * H * H;
    for (int k = 1; k <= 31; ++k) {
      const double zeta = k / 30.0, level = k < 31 ? 1000.0 * zeta * (1.0 + 3.0 * zeta) : H, z_k = std::min(level, H);
      const double depth = H - z_k, f_k = depth * depth * depth * depth;
      sum += 0.5 * (z_k - z) * (f + f_k);
      z = z_k, f = f_k;
    }
    return 2.0 * A * (rho_g * rho_g * rho_g) * sum * slope2;
  }
};

/// An ice sheet that only shears, on a square of M x M points from -L to L.
struct IceSheet {
  using Balance = std::function<double(double t, double r)>;
  struct Local {
    Array2<double> b, H, H_new, h, A, none, q_x, q_y, f, M;
    Array2<int> mask;
  };

  VirtualRanks ranks;
  double dx, L, t = 0.0;
  int steps = 0;
  std::vector<Local> local;
  MassBudget budget;

  IceSheet(int M, double half_width, int px, int py, const std::function<double(double)>& H0)
      : ranks(Decomposition::make(M, M, px, py)), dx(2.0 * half_width / (M - 1)), L(half_width) {
    for (int r = 0; r < ranks.local_size(); ++r) {
      const Patch p = ranks.patch(r);
      Local s;
      for (auto* a : {&s.b, &s.H, &s.H_new, &s.h, &s.A, &s.none, &s.q_x, &s.q_y, &s.f, &s.M}) *a = make_array<double>("a", p);
      s.mask = make_array<int>("mask", p);
      Kokkos::deep_copy(s.b, bed);
      Kokkos::deep_copy(s.A, ice_softness);
      for_each_owned(p, [&](int j, int i) { s.H(j, i) = H0(radius(p, j, i)); });
      local.push_back(s);
    }
  }

  static void for_each_owned(const Patch& p, const std::function<void(int, int)>& f) {
    for (int j = 1; j <= p.ym; ++j) {
      for (int i = 1; i <= p.xm; ++i) f(j, i);
    }
  }
  double radius(const Patch& p, int j, int i) const { return std::hypot(-L + p.global_i(i) * dx, -L + p.global_j(j) * dx); }

  void exchange(Array2<double> Local::*member) {
    std::vector<std::vector<Ghosted>> arrays;
    for (const Local& s : local) arrays.push_back({s.*member});
    ranks.update_ghosts(arrays);
  }

  template <class Diffusivity = SiaDiffusivity>
  void run(double t_end, const Balance& balance, double dt_max, const Diffusivity& D = {}) {
    while (t < t_end) {
      exchange(&Local::H);
      std::vector<std::vector<double>> D_max;
      for (int r = 0; r < ranks.local_size(); ++r) {
        const Local& s = local[r];
        update_geometry(ranks.patch(r), s.b, s.H, s.h, s.mask);
        D_max.push_back({sia_fluxes(ranks.patch(r), dx, dx, {}, s.h, s.H, s.mask, s.A, s.q_x, s.q_y, D).D_max});
      }
      max_over_ranks(ranks, D_max);
      double dt = time_step(dx, dx, D_max[0][0], 0.0, dt_max).dt;
      if (t + dt >= t_end) dt = t_end - t;
      for (int r = 0; r < ranks.local_size(); ++r) {
        const Local& s = local[r];
        outflow_factor(ranks.patch(r), dx, dx, dt, s.H, s.q_x, s.q_y, s.f);
        if (balance) {
          const Patch p = ranks.patch(r);
          for_each_owned(p, [&](int j, int i) { s.M(j, i) = balance(t, radius(p, j, i)); });
        }
      }
      exchange(&Local::f);
      std::vector<MassBudget> parts;
      for (int r = 0; r < ranks.local_size(); ++r) {
        Local& s = local[r];
        parts.push_back(update_thickness(ranks.patch(r), dx, dx, dt, s.H, s.mask, s.q_x, s.q_y, s.f, s.M, s.none, s.H_new));
        std::swap(s.H, s.H_new);
      }
      budget += sum_over_ranks(ranks, parts);
      t = t + dt >= t_end ? t_end : t + dt;
      ++steps;
    }
  }

  double volume() {
    std::vector<FixedSum> parts;
    for (int r = 0; r < ranks.local_size(); ++r) parts.push_back(sum_thickness(ranks.patch(r), local[r].H));
    return sum_over_ranks(ranks, parts).value();
  }

  std::vector<double> thickness() const {
    const Decomposition& d = ranks.decomposition();
    std::vector<double> all(static_cast<std::size_t>(d.Mx) * d.My);
    for (int r = 0; r < ranks.local_size(); ++r) {
      const Patch p = ranks.patch(r);
      for_each_owned(p, [&](int j, int i) { all[p.cell(j, i)] = local[r].H(j, i); });
    }
    return all;
  }

  struct Errors {
    double max = 0.0, mean = 0.0, dome = 0.0, volume_percent = 0.0;
  };
  Errors errors(const std::function<double(double)>& exact) {
    Errors e;
    FixedSum total;
    std::int64_t cells = 0;
    for (int r = 0; r < ranks.local_size(); ++r) {
      const Patch p = ranks.patch(r);
      for_each_owned(p, [&](int j, int i) {
        const double H_exact = exact(radius(p, j, i)), error = std::abs(local[r].H(j, i) - H_exact);
        e.max = std::max(e.max, error);
        e.mean += error;
        if (radius(p, j, i) == 0.0) e.dome = error;
        total.add(H_exact);
        ++cells;
      });
    }
    e.mean /= static_cast<double>(cells);
    e.volume_percent = 100.0 * std::abs(volume() / total.value() - 1.0);
    return e;
  }
};

} // namespace

TEST_CASE("constants of the exact solutions") {
  CHECK(std::abs(exact::Similarity{}.t0() / year - 422.45) < 0.01);
  CHECK(std::abs(exact::Similarity{5.0}.t0() / year - 15208.0) < 1.0);
  CHECK(std::abs(exact::TestA{}.H(0.0) - 3278.0) < 1.0);
  CHECK(exact::Similarity{}.alpha() == 1.0 / 9.0);
  CHECK(exact::Similarity{5.0}.alpha() == -1.0);
  CHECK(exact::Similarity{5.0}.beta() == 2.0);
}

TEST_CASE("test B, 25000 years: errors and volume") {
  const exact::Similarity B;
  const double t_end = 25000.0 * year;
  struct Row {
    int M;            // points on a side; dx = 80, 60, 40 km
    double max, mean; // bounds, m
    double published_max, published_mean, volume_percent;
  };
  // The published errors contain a second one: the diffusivity was integrated over 31 levels with the trapezoidal rule, which
  // overestimates the integral of a convex function, most where the ice is thin; there it offsets part of the error of the
  // margin. With that rule the published digits come out (within 0.1 m and 0.002 m; the step lengths differ). With the exact
  // integral the mean error is 3 to 7 % larger.
  for (const Row row : {Row{31, 166.8, 9.53, 161.3, 9.252, 0.00829}, Row{41, 180.6, 7.21, 175.3, 6.810, 0.04570},
                        Row{61, 172.3, 4.97, 165.0, 4.645, 0.04795}}) {
    for (const bool published : {false, true}) {
      IceSheet ice(row.M, 1200e3, 1, 1, [&](double r) { return B.H(B.t0(), r); });
      const double before = ice.volume();
      if (published) {
        ice.run(t_end, nullptr, 60.0 * year, Trapezoidal{});
      } else {
        ice.run(t_end, nullptr, 60.0 * year);
      }
      const IceSheet::Errors e = ice.errors([&](double r) { return B.H(B.t0() + t_end, r); });
      CAPTURE(row.M, published, e.max, e.mean, e.dome, e.volume_percent, ice.steps);
      if (published) {
        CHECK(std::abs(e.max - row.published_max) <= 0.1);
        CHECK(std::abs(e.mean - row.published_mean) <= 0.002);
      } else {
        CHECK(e.max <= row.max);
        CHECK(e.mean <= row.mean);
      }
      CHECK(std::abs(e.volume_percent - row.volume_percent) <= 5.1e-6); // all digits printed
      CHECK(std::abs(ice.volume() / before - 1.0) <= 1e-13);
      CHECK(ice.budget.change() == 0.0);
    }
  }
}

TEST_CASE("test B: the same bits on any decomposition") {
  const exact::Similarity B;
  const auto run = [&](int px, int py) {
    IceSheet ice(31, 1200e3, px, py, [&](double r) { return B.H(B.t0(), r); });
    ice.run(5000.0 * year, nullptr, 60.0 * year);
    std::vector<double> result = ice.thickness();
    result.push_back(ice.volume());
    result.push_back(ice.steps);
    return result;
  };
  const std::vector<double> one = run(1, 1);
  CHECK(one == run(2, 1));
  CHECK(one == run(3, 2));
  CHECK(one == run(4, 4));
  CHECK(one == run(1, 31));
}

TEST_CASE("test A stays steady, and its mass budget closes") {
  const exact::TestA A;
  double last = 1e9;
  for (const auto& [M, bound] : {std::pair{21, 131.0}, std::pair{41, 69.1}}) {
    IceSheet ice(M, 800e3, 1, 1, [&](double r) { return A.H(r); });
    const double before = ice.volume();
    ice.run(
        5000.0 * year, [&](double, double r) { return A.M(r); }, 60.0 * year);
    const IceSheet::Errors e = ice.errors([&](double r) { return A.H(r); });
    CAPTURE(M, e.max, e.mean, e.dome, e.volume_percent);
    CHECK(e.mean <= bound);
    CHECK(e.mean < 0.7 * last);
    last = e.mean;
    CHECK(std::abs(ice.volume() - before - ice.budget.change()) <= 1e-13 * before);
    CHECK(ice.budget.clipped.value() > 0.0);
  }
}

TEST_CASE("test C grows as it should") {
  const exact::Similarity C{5.0};
  const double t_end = 3000.0 * year;
  double last = 1e9;
  for (const auto& [M, bound] : {std::pair{31, 24.91}, std::pair{61, 8.68}}) {
    IceSheet ice(M, 1200e3, 1, 1, [&](double r) { return C.H(C.t0(), r); });
    const double before = ice.volume();
    ice.run(
        t_end, [&](double t, double r) { return C.M(C.t0() + t, r); }, 60.0 * year);
    const IceSheet::Errors e = ice.errors([&](double r) { return C.H(C.t0() + t_end, r); });
    CAPTURE(M, e.max, e.mean, e.dome, e.volume_percent);
    CHECK(e.mean <= bound);
    CHECK(e.mean < 0.7 * last);
    last = e.mean;
    CHECK(std::abs(ice.volume() - before - ice.budget.change()) <= 1e-13 * before);
  }
}
