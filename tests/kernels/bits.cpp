// The bits of the kernels: three steps of a small ice sheet, all parts of the model, and a hash of every field after them. The
// same on every processor and with every compiler and vector width, or something has been fused, reordered or taken from libm.
//
//   bits FILE    compares with the hashes of FILE (tests/kernels/bits.txt); 4: this processor lacks what it was compiled for
//   bits         prints them: what to put into that file when the equations have changed on purpose
#include "kernels/cases/noise.hpp"
#include "kernels/grid/reproducible_sum.hpp"
#include "kernels/grid/virtual_ranks.hpp"
#include "kernels/ice/columns.hpp"
#include "kernels/ice/sia.hpp"
#include "kernels/ice/till.hpp"
#include "kernels/ice/transport.hpp"
#include "kernels/ice/velocity3d.hpp"
#include "kernels/multigrid/multigrid.hpp"
#include "kernels/pico/pico.hpp"
#include "kernels/ssa/assembly.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>

namespace nunatak {
namespace {

constexpr int Mx = 61, My = 47, Mz = 17;
constexpr double dx = 16e3, dy = 16e3, dt = 2.0 * seconds_per_year;

template <class T> std::uint64_t bits_of(T x) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  return Kokkos::bit_cast<Bits>(x);
}

/// Of the owned cells. Zeros of both signs count as one.
template <class A> std::uint64_t hash(const Patch& p, const A& a) {
  Kokkos::fence();
  std::uint64_t sum = 0, key = 0;
  const std::size_t width = a.size() / (a.extent(0) * a.extent(1));
  for (int j = 1; j <= p.ym; ++j) {
    for (int i = 1; i <= p.xm; ++i) {
      for (std::size_t k = 0; k < width; ++k) {
        const auto x = a.data()[(static_cast<std::size_t>(j) * a.extent(1) + static_cast<std::size_t>(i)) * width + k];
        sum = hash64(sum ^ hash64(x == 0 ? key : key ^ bits_of(x)));
        key += 1;
      }
    }
  }
  return sum;
}

double squared_norm(const Kokkos::View<double*, Mem>& r) {
  return sum_reproducibly(
             "residual", static_cast<std::int64_t>(r.size()), KOKKOS_LAMBDA(std::int64_t n) { return r(n) * r(n); })
      .value();
}

class Sheet {
public:
  Sheet()
      : ranks(Decomposition::make(Mx, My, 1, 1)), p(ranks.patch(0)), levels(make_levels(4000.0, Mz, LevelSpacing::quadratic)),
        assembly(ranks, dx, dy, GlenLaw{3.0, 1e-27}, TillLaw{0.25, 1e-19, 100.0 / seconds_per_year}), pico(ranks, dx, dy),
        velocity(HorizontalVelocity::make(p, Mz)) {
    for (int j = 0; j <= My + 1; ++j) {
      for (int i = 0; i <= Mx + 1; ++i) {
        const double x = (i - 0.5 * Mx) * dx, y = (j - 0.5 * My) * dy, r2 = (x * x + y * y) / (330e3 * 330e3);
        const double shape = 1.0 - r2 + 0.4 * noise(2, x, y, 150e3);
        b(j, i) = 500.0 - 1400.0 * r2 + 300.0 * rough_noise(1, x, y, 100e3);
        H(j, i) = shape > 0.0 ? 200.0 + 2200.0 * Kokkos::sqrt(shape) + 100.0 * noise(3, x, y, 50e3) : 0.0;
        T_s(j, i) = 250.0 + 15.0 * noise(4, x, y, 300e3);
        M(j, i) = (0.3 + 0.2 * noise(5, x, y, 200e3)) / seconds_per_year;
        G(j, i) = 0.06 + 0.02 * noise(6, x, y, 200e3);
        basins(j, i) = 1, ocean_T(j, i) = T_melting - 1.0, ocean_S(j, i) = 34.5;
      }
    }
    update_geometry(p, b, H, h, mask);
    initial_temperature(p, levels, H, mask, T_s, M, G, T);
    exchange({T});
  }

  void step() {
    std::vector<PicoFields> fields;
    fields.emplace_back(p);
    pico.update({PicoInput{H, b, mask, basins, ocean_T, ocean_S}}, fields);
    till_yield_stress(p, {}, b, H, mask, T, tauc);
    update_hardness(p, levels, H, T_s, T, B, A);
    exchange({B, A});
    slide();
    exchange({u, v});
    sia_fluxes(p, dx, dy, {}, h, H, mask, A, q_x, q_y);
    horizontal_velocity(p, dx, dy, {}, levels, h, H, mask, A, u, v, velocity);
    exchange({velocity.u, velocity.v});
    vertical_velocity(p, dx, dy, levels, H, mask, melt, velocity.u, velocity.v, w);
    temperature_step(p, dx, dy, dt, levels, H, mask, T_s, G, velocity.u, velocity.v, w, velocity.sigma, T, T_new, melted);
    std::swap(T, T_new);
    exchange({T});
    total_flux(p, h, H, mask, u, v, q_x, q_y, Q_x, Q_y);
    outflow_factor(p, dx, dy, dt, H, Q_x, Q_y, f);
    exchange({f});
    Kokkos::deep_copy(melt, fields[0].melt);
    update_thickness(p, dx, dy, dt, H, mask, Q_x, Q_y, f, M, melt, H_new);
    std::swap(H, H_new);
    exchange({H});
    update_geometry(p, b, H, h, mask);
    distance = fields[0].distance_gl, boxes = fields[0].box_mask;
  }

  std::map<std::string, std::uint64_t> hashes() const {
    return {{"thickness", hash(p, H)},         {"mask", hash(p, mask)},
            {"temperature", hash(p, T)},       {"melted ice", hash(p, melted)},
            {"hardness", hash(p, B)},          {"yield stress", hash(p, tauc)},
            {"sliding u", hash(p, u)},         {"sliding v", hash(p, v)},
            {"residual", residual_bits},       {"matrix of the SSA", hash(p, rows)},
            {"flux of the SIA", hash(p, q_x)}, {"velocity u", hash(p, velocity.u)},
            {"velocity w", hash(p, w)},        {"strain heating", hash(p, velocity.sigma)},
            {"outflow factor", hash(p, f)},    {"PICO: distance", hash(p, distance)},
            {"PICO: boxes", hash(p, boxes)},   {"PICO: melt", hash(p, melt)}};
  }

private:
  static Array2<double> map(const Patch& p) { return make_array<double>("map", p); }
  void exchange(const std::vector<Ghosted>& arrays) { ranks.update_ghosts({arrays}); }

  // Two steps of Picard and Newton, each by one cycle.
  void slide() {
    assembly.set_input({SsaInput{H, h, b, tauc, B, mask, {}, {}, {}}});
    const SsaPatch& s = assembly.patch(0);
    ssa::impose(s, u, v);
    Multigrid<float> multigrid(ranks, dx, dy, {s.unknown}, {});
    const Kokkos::View<double*, Mem> r("r", 2 * static_cast<std::size_t>(s.unknowns()));
    for (const auto how : {ssa::Linearisation::at_rest, ssa::Linearisation::weighted}) {
      exchange({u, v});
      ssa::residual(s, u, v, r.data());
      residual_bits = hash64(residual_bits ^ bits_of(squared_norm(r)));
      ssa::jacobian(s, u, v, how, rows);
      Kokkos::fence();
      const NinePoint<float>& finest = multigrid.finest(0);
      for (std::size_t n = 0; n < rows.size(); ++n) finest.A.data()[n] = static_cast<float>(rows.data()[n]);
      for (std::size_t n = 0; n < r.size(); ++n)
        finest.b.data()[2 * static_cast<std::size_t>(s.places(n / 2)) + n % 2] = static_cast<float>(r(n));
      multigrid.set_operator();
      multigrid.cycle();
      Kokkos::fence();
      for (int n = 0; n < s.unknowns(); ++n) {
        const auto [j, i] = s.cell(n);
        u(j, i) -= finest.x(j, i, 0), v(j, i) -= finest.x(j, i, 1);
      }
    }
  }

  VirtualRanks ranks;
  Patch p;
  Levels levels;
  SsaAssembly assembly;
  Pico pico;
  HorizontalVelocity velocity;
  Array2<double> b = map(p), H = map(p), H_new = map(p), h = map(p), T_s = map(p), M = map(p), G = map(p), ocean_T = map(p),
                 ocean_S = map(p), tauc = map(p), B = map(p), A = map(p), u = map(p), v = map(p), q_x = map(p), q_y = map(p),
                 Q_x = map(p), Q_y = map(p), f = map(p), melt = map(p), melted = map(p);
  Array2<int> mask = make_array<int>("mask", p), basins = make_array<int>("basins", p), distance, boxes;
  Array3<double> T = make_columns<double>("T", p, Mz), T_new = make_columns<double>("T", p, Mz),
                 w = make_columns<double>("w", p, Mz);
  Rows<double> rows{"rows", static_cast<std::size_t>(p.ym + 2), static_cast<std::size_t>(p.xm + 2), 36};
  std::uint64_t residual_bits = 0;
};

bool processor_has_it() {
#ifdef __AVX2__
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
#else
  return true;
#endif
}

int run(const char* expected_file) {
  Sheet sheet;
  for (int n = 0; n < 3; ++n) sheet.step();
  std::ostringstream found;
  for (const auto& [name, bits] : sheet.hashes()) {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(bits));
    found << digits << "  " << name << '\n';
  }
  if (expected_file == nullptr) {
    std::cout << found.str();
    return 0;
  }
  std::ifstream file(expected_file);
  std::istringstream lines(found.str());
  std::string expected, line;
  int different = 0;
  while (std::getline(lines, line)) {
    if (std::getline(file, expected) && line == expected) continue;
    std::cout << "expected " << expected << "\nfound    " << line << '\n';
    different += 1;
  }
  std::cout << different << " fields differ from " << expected_file << '\n';
  return different == 0 ? 0 : 1;
}

} // namespace
} // namespace nunatak

int main(int argc, char** argv) {
  if (!nunatak::processor_has_it()) return 4;
  const Kokkos::ScopeGuard guard(argc, argv);
  return nunatak::run(argc > 1 ? argv[1] : nullptr);
}
