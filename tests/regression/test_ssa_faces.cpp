// Why nunatak's SSA and PISM's differ on Antarctica at 16 km: it is the stencil of the membrane stresses, and nothing else. Here
// nunatak's load, drag and material laws stand in the equations, with the stencil on cell faces (face_stencil.hpp) in the place of
// its elements: then the speeds are PISM's. What the elements do is checked with exact solutions (tests/verification/), what both
// together give in test_ssa_reference.cpp; the whole comparison is told in docs/ssa-reference.md. One rank.
#include "io/reader.hpp"
#include "tests/regression/face_stencil.hpp"

#include <catch2/catch_test_macros.hpp>

#include <petscksp.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

using namespace nunatak;

namespace {

const std::string path = std::string(NUNATAK_SHARED_DATA) + "/reference/hybrid_antarctica_16km.nc";
constexpr double moving = 10.0; // m/a: slower ice is not compared

struct Reference {
  explicit Reference(MpiRanks& ranks) : in(path, MPI_COMM_SELF), p(ranks.patch()) {
    input.H = array("thk"), input.b = array("topg"), input.tauc = array("tauc"), input.hardness = array("hardav");
    input.h = make_array<double>("usurf", p), input.mask = make_array<int>("mask", p);
    input.fixed = make_array<int>("fixed", p);
    input.u_fixed = make_array<double>("u_fixed", p), input.v_fixed = make_array<double>("v_fixed", p);
    u = array("uvelbase"), v = array("vvelbase"); // m/a
    ranks.update_ghosts({input.H, input.b, input.tauc, input.hardness});
    update_geometry(p, input.b, input.H, input.h, input.mask);
    // this till holds all ice that is three cells from the shelves; it is left out to save time
    constexpr int reach = 3;
    Kokkos::deep_copy(input.fixed, 1);
    for (int j = 1 + reach; j <= p.ym - reach; ++j) {
      for (int i = 1 + reach; i <= p.xm - reach; ++i) {
        if (input.mask(j, i) != floating_ice) continue;
        for (int k = 0; k < (2 * reach + 1) * (2 * reach + 1); ++k)
          input.fixed(j - reach + k / (2 * reach + 1), i - reach + k % (2 * reach + 1)) = 0;
      }
    }
  }
  Array2<double> array(const std::string& name) const {
    const Array2<double> a = make_array<double>(name, p);
    const std::vector<double> values = in.read_all(name);
    auto value = values.begin();
    for (int j = 1; j <= p.ym; ++j) {
      for (int i = 1; i <= p.xm; ++i) a(j, i) = *value++;
    }
    return a;
  }

  io::Reader in;
  Patch p;
  SsaInput input;
  Array2<double> u, v;
};

/// Picard steps, stretched by a half, with a direct solver; from w on, until nothing changes by more than `tolerance`. In each
/// step beta = drag(w) is added to the diagonal. Returns the number of steps.
template <class Drag>
int solve(const FaceStencil& stencil, const GlenLaw& law, const Drag& drag, const std::vector<double>& load,
          std::vector<double>& w, double tolerance) {
  const auto size = static_cast<PetscInt>(w.size());
  Mat matrix = nullptr;
  Vec f = nullptr, x = nullptr;
  KSP ksp = nullptr;
  PC pc = nullptr;
  MatCreateSeqAIJ(PETSC_COMM_SELF, size, size, 18, nullptr, &matrix);
  MatCreateVecs(matrix, &x, &f);
  KSPCreate(PETSC_COMM_SELF, &ksp);
  KSPSetType(ksp, KSPPREONLY);
  KSPGetPC(ksp, &pc);
  PCSetType(pc, PCLU);
  PetscScalar* values = nullptr;
  VecGetArray(f, &values);
  std::copy(load.begin(), load.end(), values);
  VecRestoreArray(f, &values);
  int step = 0;
  for (double change = 1.0; change > tolerance && step < 50; ++step) {
    const std::vector<double> beta = drag(w);
    MatZeroEntries(matrix);
    stencil.add(law, w, matrix);
    for (PetscInt k = 0; k < size; ++k) MatSetValue(matrix, k, k, beta[static_cast<std::size_t>(k / 2)], ADD_VALUES);
    MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY);
    MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY);
    KSPSetOperators(ksp, matrix, matrix);
    KSPSolve(ksp, f, x);
    const PetscScalar* y = nullptr;
    VecGetArrayRead(x, &y);
    double moved = 0.0, total = 0.0;
    for (std::size_t k = 0; k < w.size(); ++k) {
      const double d = y[k] - w[k];
      moved += d * d, total += y[k] * y[k];
      w[k] += 1.5 * d;
    }
    VecRestoreArrayRead(x, &y);
    change = std::sqrt(moved / total);
  }
  KSPDestroy(&ksp);
  VecDestroy(&x);
  VecDestroy(&f);
  MatDestroy(&matrix);
  return step;
}

} // namespace

TEST_CASE("with stresses on cell faces, nunatak's load and drag give PISM's speeds") {
  if (!std::filesystem::exists(path)) SKIP(path << " is absent");
  io::Reader in(path, MPI_COMM_SELF);
  MpiRanks ranks(MPI_COMM_SELF, Decomposition::make(static_cast<int>(in.length("x")), static_cast<int>(in.length("y")), 1));
  const Reference r(ranks);
  const std::vector<double> x = in.read_all("x");
  const double dx = x[1] - x[0];
  const GlenLaw glen{3.0, std::pow(1.0 / seconds_per_year / 1e6, 2)};
  const TillLaw till{0.0, std::pow(0.01 / seconds_per_year, 2), 1.0};

  // nunatak's equations without membrane stresses: hardness 0
  SsaInput input = r.input;
  input.hardness = make_array<double>("zero", r.p);
  SsaAssembly assembly(ranks, dx, dx, glen, till);
  assembly.set_input(input);
  const std::vector<double> load = assembly.load();
  const auto cells = static_cast<std::size_t>(assembly.local_unknowns());

  // the number of each unknown cell; what is icy and has none is fixed, or excluded
  std::vector<double> w(2 * cells);
  for (std::size_t n = 0; n < cells; ++n) w[2 * n] = static_cast<double>(n) + 1.0;
  const auto number = make_array<double>("number", r.p), other = make_array<double>("other", r.p);
  assembly.unpack(w.data(), number, other);
  const auto unknown = make_array<int>("unknown", r.p);
  Kokkos::deep_copy(unknown, static_cast<int>(FaceStencil::no_cell));
  for (int j = 1; j <= r.p.ym; ++j) {
    for (int i = 1; i <= r.p.xm; ++i) {
      if (number(j, i) > 0.0)
        unknown(j, i) = static_cast<int>(number(j, i)) - 1;
      else if (icy(r.input.mask(j, i)) && r.input.fixed(j, i) != 0)
        unknown(j, i) = FaceStencil::fixed_cell;
    }
  }

  // drag from the residual of ice that moves with the same speed along x: it depends on the speed alone
  const auto drag = [&](const std::vector<double>& velocity) {
    std::vector<double> speed(2 * cells, 0.0), force(2 * cells), beta(cells);
    for (std::size_t n = 0; n < cells; ++n) speed[2 * n] = std::hypot(velocity[2 * n], velocity[2 * n + 1]) + 1e-20;
    const auto u = make_array<double>("u", r.p), v = make_array<double>("v", r.p);
    assembly.unpack(speed.data(), u, v);
    assembly.residual(u, v, force.data());
    for (std::size_t n = 0; n < cells; ++n) beta[n] = std::max((force[2 * n] + load[2 * n]) / speed[2 * n], 0.0);
    return beta;
  };

  assembly.pack(r.u, r.v, w.data());
  for (double& value : w) value /= seconds_per_year;
  const int steps = solve(FaceStencil(r.p, dx, r.input, unknown), glen, drag, load, w, 1e-6);
  CHECK(steps < 50);

  std::vector<double> difference;
  for (int j = 1; j <= r.p.ym; ++j) {
    for (int i = 1; i <= r.p.xm; ++i) {
      const double reference = std::hypot(r.u(j, i), r.v(j, i));
      if (unknown(j, i) < 0 || reference <= moving) continue;
      const auto n = static_cast<std::size_t>(unknown(j, i));
      difference.push_back(std::fabs(std::hypot(w[2 * n], w[2 * n + 1]) * seconds_per_year / reference - 1.0));
    }
  }
  std::sort(difference.begin(), difference.end());
  REQUIRE(difference.size() == 7570);
  const double median = difference[difference.size() / 2], most = difference[difference.size() * 9 / 10];
  std::printf("stresses on faces, %zu unknown cells, %d steps: relative difference of speed %.5f (median), %.5f (90th percentile)\n",
              cells, steps, median, most);
  CHECK(median < 0.0035);
  CHECK(most < 0.015);
}
