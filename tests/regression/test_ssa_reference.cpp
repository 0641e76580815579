// The shallow shelf approximation on Antarctica, 16 km, against PISM's: the given yield stress and
// hardness, plastic till. Both solve the same equations with different stencils for the membrane
// stresses, so the fields agree to some per cent, not to the tolerance of the solvers:
// docs/notes/ssa-and-pism.md shows that it is the stencil alone.
#include "io/base/agree.hpp"
#include "io/read/reader.hpp"
#include "miniapp/model/petsc/ssa.hpp"
#include "tests/kernels/cells.hpp"

#include <catch2/catch_test_macros.hpp>
#include <shared_data.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>

using namespace nunatak;

namespace {

const std::string reference_file =
    std::string(NUNATAK_SHARED_DATA) + "/reference/hybrid_antarctica_16km.nc";
constexpr double moving = 10.0; // m/a: slower ice is not compared

/// One solve, and the speeds in m/a of the owned cells, in raster order.
struct Solve {
  Solve()
      : in(reference_file, MPI_COMM_WORLD),
        ranks(MPI_COMM_WORLD, Decomposition::make(static_cast<int>(in.dimensions("x")[0].length),
                                                  static_cast<int>(in.dimensions("y")[0].length),
                                                  io::size_of(MPI_COMM_WORLD))),
        p(ranks.patch()) {
    const std::vector<double> x = in.read_all("x"), y = in.read_all("y");
    SsaInput input;
    input.H = array("thk"), input.b = array("topg"), input.tauc = array("tauc"),
    input.hardness = array("hardav");
    input.h = make_array<double>("usurf", p), input.mask = make_array<int>("mask", p);
    ranks.update_ghosts({input.H, input.b, input.tauc, input.hardness});
    update_geometry(p, input.b, input.H, input.h, input.mask);

    SsaOptions options;
    options.till_q = 0.0;
    options.till_delta = 0.01 / seconds_per_year;
    const auto u = make_array<double>("u", p), v = make_array<double>("v", p);
    report = make_ssa_solver(ranks, x[1] - x[0], y[1] - y[0], options)->solve(input, u, v);

    const std::vector<double> u_ref = block("uvelbase"), v_ref = block("vvelbase"),
                              kind = block("mask");
    for (int j = 1, n = 0; j <= p.ym; ++j) {
      for (int i = 1; i <= p.xm; ++i, ++n) {
        const auto c = static_cast<std::size_t>(n);
        speed.push_back(std::hypot(u(j, i), v(j, i)) * seconds_per_year);
        reference.push_back(std::hypot(u_ref[c], v_ref[c]));
        other_kind += input.mask(j, i) != static_cast<int>(kind[c]) ? 1 : 0;
      }
    }
  }

  /// |speed/other - 1| where `other` moves, from all ranks, sorted.
  std::vector<double> differences(const std::vector<double>& other) {
    std::vector<std::vector<std::int64_t>> mine(1);
    for (std::size_t n = 0; n < speed.size(); ++n) {
      if (other[n] > moving)
        mine[0].push_back(Kokkos::bit_cast<std::int64_t>(std::fabs(speed[n] / other[n] - 1.0)));
    }
    std::vector<double> all;
    for (const std::int64_t bits : ranks.gather_all(mine))
      all.push_back(Kokkos::bit_cast<double>(bits));
    std::sort(all.begin(), all.end());
    return all;
  }

  std::vector<double> block(const std::string& name) const {
    const auto size = [](int n) { return static_cast<std::size_t>(n); };
    return in.read_block(name, {size(p.ys), size(p.xs)}, {size(p.ym), size(p.xm)});
  }
  Array2<double> array(const std::string& name) const {
    const auto a = make_array<double>(name, p);
    const std::vector<double> values = block(name);
    auto value = values.begin();
    for (const auto& [j, i] : cells_of(p)) a(j, i) = *value++;
    return a;
  }

  io::Reader in;
  MpiRanks ranks;
  Patch p;
  SsaReport report;
  std::vector<double> speed, reference; // m/a
  int other_kind = 0;                   // owned cells whose type is not PISM's
};

double quantile(const std::vector<double>& sorted, double q) {
  return sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1))];
}

} // namespace

TEST_CASE("SSA of Antarctica: PISM's speeds, on any number of ranks") {
  if (!std::filesystem::exists(reference_file)) SKIP(reference_file << " is absent");
  Solve all;
  CHECK(all.other_kind == 0);
  CHECK(all.report.final_residual <= 1e-6 * all.report.load_norm);

  const std::vector<double> difference = all.differences(all.reference);
  REQUIRE(difference.size() > 1000);
  CHECK(quantile(difference, 0.5) < 0.083);
  CHECK(quantile(difference, 0.9) < 0.205);
}
