// The bits of the kernels: three hybrid steps of a small ice sheet, all parts of the model, on one rank and on six virtual ones,
// and a hash of every field after them. The same on every processor and with every compiler and vector width, or something has
// been fused, reordered or taken from libm.
//
//   bits FILE    compares with the hashes of FILE (tests/kernels/bits.txt); 4: this processor lacks what it was compiled for
//   bits         prints them: what to put into that file when the equations have changed on purpose
#include "kernels/cases/noise.hpp"
#include "kernels/grid/virtual_ranks.hpp"
#include "kernels/ssa/newton.hpp"
#include "kernels/step/hybrid.hpp"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace nunatak {
namespace {

constexpr int Mx = 61, My = 47, Mz = 17;
constexpr double dx = 16e3, dy = 16e3;

template <class T> std::uint64_t bits_of(T x) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  return Kokkos::bit_cast<Bits>(x);
}

/// Of the owned cells, whatever the cut. Zeros of both signs count as one.
template <class A> std::uint64_t hash(const Patch& p, const A& a) {
  std::uint64_t sum = 0;
  const std::size_t width = a.size() / (a.extent(0) * a.extent(1));
  for (int j = 1; j <= p.ym; ++j) {
    for (int i = 1; i <= p.xm; ++i) {
      for (std::size_t k = 0; k < width; ++k) {
        const auto x = a.data()[(static_cast<std::size_t>(j) * a.extent(1) + static_cast<std::size_t>(i)) * width + k];
        const std::uint64_t key = static_cast<std::uint64_t>(p.cell(j, i)) * width + k;
        sum += hash64((x == 0 ? 0 : bits_of(x)) ^ hash64(key));
      }
    }
  }
  return sum;
}

class NobodyWatches final : public StepWatch {
  void begin(const char*) override {}
  void end() override {}
};

class Sheet {
public:
  Sheet(int px, int py) : ranks(Decomposition::make(Mx, My, px, py)), levels(make_levels(4000.0, Mz, LevelSpacing::quadratic)) {
    std::vector<State> states;
    std::vector<Forcing> forcings;
    for (int n = 0; n < ranks.local_size(); ++n) {
      states.emplace_back(ranks.patch(n)), forcings.emplace_back(ranks.patch(n));
      fill(ranks.patch(n), states.back(), forcings.back());
    }
    update_ghosts(ranks, [&](std::size_t n) -> std::vector<Ghosted> { return {states[n].temp}; });
    HybridOptions options;
    options.pico = PicoOptions{};
    hybrid = std::make_unique<Hybrid>(ranks, dx, dy, levels, options, std::make_unique<SsaNewton>(ranks, dx, dy, SsaOptions{}),
                                      std::move(states), std::move(forcings), nobody);
  }

  void step() {
    hybrid->diagnose();
    hybrid->advance(hybrid->stable_step().dt);
  }

  std::map<std::string, std::uint64_t> hashes() const {
    Kokkos::fence();
    std::map<std::string, std::uint64_t> all;
    for (int n = 0; n < ranks.local_size(); ++n) {
      const auto add = [&](const char* name, const auto& field) { all[name] += hash(ranks.patch(n), field); };
      const State& s = hybrid->state(n);
      const Flow& f = hybrid->flow(n);
      const PicoFields& o = hybrid->ocean(n);
      add("thickness", s.thk), add("surface", s.usurf), add("mask", s.mask), add("temperature", s.temp);
      add("sliding u", s.u_ssa), add("sliding v", s.v_ssa), add("hardness", f.hardav), add("yield stress", f.tauc);
      add("flux of the SIA x", f.q_x), add("flux of the SIA y", f.q_y), add("velocity u", f.velocity.u);
      add("velocity v", f.velocity.v), add("velocity w", f.w), add("strain heating", f.velocity.sigma);
      add("PICO: distance", o.distance_gl), add("PICO: boxes", o.box_mask), add("PICO: melt", o.melt);
    }
    return all;
  }

private:
  // Every cell and ghost; temp has valid owned cells.
  void fill(const Patch& p, State& s, Forcing& f) const {
    for (int j = 0; j <= p.ym + 1; ++j) {
      for (int i = 0; i <= p.xm + 1; ++i) {
        const double x = (p.global_i(i) - 0.5 * Mx) * dx, y = (p.global_j(j) - 0.5 * My) * dy,
                     r2 = (x * x + y * y) / (330e3 * 330e3);
        const double shape = 1.0 - r2 + 0.4 * noise(2, x, y, 150e3);
        s.topg(j, i) = 500.0 - 1400.0 * r2 + 300.0 * rough_noise(1, x, y, 100e3);
        s.thk(j, i) = shape > 0.0 ? 200.0 + 2200.0 * Kokkos::sqrt(shape) + 100.0 * noise(3, x, y, 50e3) : 0.0;
        f.ice_surface_temp(j, i) = 250.0 + 15.0 * noise(4, x, y, 300e3);
        f.climatic_mass_balance(j, i) = rho_ice * (0.3 + 0.2 * noise(5, x, y, 200e3)) / seconds_per_year;
        f.bheatflx(j, i) = 0.06 + 0.02 * noise(6, x, y, 200e3);
        f.basins(j, i) = 1, f.theta_ocean(j, i) = T_melting - 1.0, f.salinity_ocean(j, i) = 34.5;
      }
    }
    update_geometry(p, s.topg, s.thk, s.usurf, s.mask);
    s.temp = make_columns<double>("temp", p, Mz);
    const auto accumulation = make_array<double>("accumulation", p);
    in_metres_of_ice(p, f.climatic_mass_balance, accumulation);
    initial_temperature(p, levels, s.thk, s.mask, f.ice_surface_temp, accumulation, f.bheatflx, s.temp);
    Kokkos::fence();
  }

  NobodyWatches nobody;
  VirtualRanks ranks;
  Levels levels;
  std::unique_ptr<Hybrid> hybrid;
};

bool processor_has_it() {
#ifdef __AVX2__
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
#else
  return true;
#endif
}

int run(const char* expected_file) {
  Sheet one(1, 1), six(3, 2);
  for (int n = 0; n < 3; ++n) one.step(), six.step();
  const auto hashes = one.hashes();
  if (six.hashes() != hashes) {
    std::cout << "one rank and six differ\n";
    return 1;
  }
  std::ostringstream found;
  for (const auto& [name, bits] : hashes) {
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
