// The DMDA of the grid: its cut is that of Decomposition, and it fills ghosts as -halo packed.
#include "io/base/agree.hpp"
#include "miniapp/model/grid.hpp"
#include "miniapp/model/petsc/dmda_ranks.hpp"
#include "miniapp/model/petsc_error.hpp"
#include "tests/kernels/ghost_checks.hpp"

#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstring>
#include <random>

using namespace nunatak;
using Catch::Matchers::ContainsSubstring;
using io::size_of;

namespace {

/// PETSc's own answer, without the checks of Dmda: false if it refuses. px, py = 0: it chooses.
bool petsc_cuts(int Mx, int My, int px, int py) {
  DM dm = nullptr;
  PetscPushErrorHandler(PetscReturnErrorHandler, nullptr);
  DMDACreate2d(MPI_COMM_WORLD, DM_BOUNDARY_GHOSTED, DM_BOUNDARY_GHOSTED, DMDA_STENCIL_BOX, Mx, My,
               px > 0 ? px : PETSC_DECIDE, py > 0 ? py : PETSC_DECIDE, 1, 1, nullptr, nullptr, &dm);
  const bool cut = DMSetUp(dm) == 0;
  DMDestroy(&dm);
  PetscPopErrorHandler();
  return cut;
}

void check_cut(const DmdaShape& shape) {
  CAPTURE(shape.Mx, shape.My, shape.px, shape.py, shape.periodic_x, shape.periodic_y);
  Decomposition rule;
  try {
    rule = shape.px > 0 ? Decomposition::make(shape.Mx, shape.My, shape.px, shape.py)
                        : Decomposition::make(shape.Mx, shape.My, size_of(MPI_COMM_WORLD));
  } catch (const std::invalid_argument&) {
    CHECK_THROWS_AS(Dmda(MPI_COMM_WORLD, shape), std::invalid_argument);
    CHECK_FALSE(petsc_cuts(shape.Mx, shape.My, shape.px, shape.py));
    return;
  }
  const Decomposition d = Dmda(MPI_COMM_WORLD, shape).decomposition(); // compares neighbours
  CHECK((d.Mx == rule.Mx && d.My == rule.My && d.px == rule.px && d.py == rule.py));
  CHECK((d.x == rule.x && d.y == rule.y));
  CHECK((d.periodic_x == shape.periodic_x && d.periodic_y == shape.periodic_y));
}

/// Arrays of any bits (NaN, too), exchanged both ways: the same bits, all ghosts too.
template <class T> void check_type(MpiRanks& packed, MpiRanks& dmda, int numbers) {
  const Patch p = packed.patch();
  const auto a = make_columns<T>("a", p, numbers), b = make_columns<T>("b", p, numbers);
  std::mt19937 random(static_cast<unsigned>(packed.first()));
  const std::size_t bytes = a.size() * sizeof(T);
  for (std::size_t n = 0; n < bytes; ++n)
    reinterpret_cast<unsigned char*>(a.data())[n] = static_cast<unsigned char>(random());
  Kokkos::deep_copy(b, a);
  packed.update_ghosts({a});
  dmda.update_ghosts({b});
  CAPTURE(sizeof(T), numbers);
  CHECK(std::memcmp(a.data(), b.data(), bytes) == 0);
}

} // namespace

TEST_CASE("the cut of a DMDA is that of Decomposition, chosen and forced") {
  const int size = size_of(MPI_COMM_WORLD);
  for (const int Mx : {1, 2, 3, 4, 5, 7, 8, 12, 19, 50, 191}) {
    for (const int My : {1, 2, 3, 4, 6, 7, 9, 13, 31, 64, 381}) {
      check_cut({Mx, My});
      for (int px = 1; px <= size; ++px) {
        if (size % px == 0) check_cut({Mx, My, px, size / px});
      }
    }
  }
  for (int periodic = 1; periodic < 4; ++periodic)
    check_cut({11, 9, 0, 0, (periodic & 1) != 0, (periodic & 2) != 0});
  CHECK_THROWS_WITH(Dmda(MPI_COMM_WORLD, {40, 40, 5, 0}),
                    ContainsSubstring("expected a product of"));
}

TEST_CASE("PETSc's options change the grid: points and patches, not the size of the domain") {
  const int size = size_of(MPI_COMM_WORLD);
  PetscOptionsSetValue(nullptr, "-da_refine", "1");
  PetscOptionsSetValue(nullptr, "-da_processors_y", std::to_string(size).c_str());
  const Grid grid = make_grid(MPI_COMM_WORLD, {-500.0, 100.0, 11}, {0.0, 50.0, 12, true});
  PetscOptionsClearValue(nullptr, "-da_refine");
  PetscOptionsClearValue(nullptr, "-da_processors_y");
  CHECK((grid.Mx() == 21 && grid.My() == 24));
  CHECK((grid.decomposition.px == 1 && grid.decomposition.py == size));
  CHECK((grid.dx == 50.0 && grid.dy == 25.0 && grid.x(20) == 500.0));

  PetscOptionsSetValue(nullptr, "-da_griddle", "7");
  CHECK_THROWS_WITH(make_grid(MPI_COMM_WORLD, {0.0, 1.0, 11}, {0.0, 1.0, 12}),
                    ContainsSubstring("unknown option -da_griddle: the DMDA"));
  PetscOptionsClearValue(nullptr, "-da_griddle");
}

TEST_CASE("the DMDA's scatters fill ghosts, with and without periodicity, one array at a time") {
  for (int periodic = 0; periodic < 4; ++periodic) {
    Dmda grid(MPI_COMM_WORLD, {11, 9, 0, 0, (periodic & 1) != 0, (periodic & 2) != 0});
    DmdaRanks dmda(MPI_COMM_WORLD, grid);
    MpiRanks packed(MPI_COMM_WORLD, grid.decomposition());
    check_ghosts(dmda); // three arrays
    check_ghosts(packed);
    CHECK((packed.halo().exchanges == 1 && dmda.halo().exchanges == 3));
    if (periodic == 0)
      CHECK((dmda.halo().messages == 3 * packed.halo().messages &&
             dmda.halo().bytes == packed.halo().bytes));
    CHECK((dmda.halo().messages == dmda.traffic().messages &&
           dmda.halo().bytes == dmda.traffic().bytes));
    for (const int numbers : {1, 3, 36}) {
      check_type<unsigned char>(packed, dmda, numbers);
      check_type<int>(packed, dmda, numbers);
      check_type<std::int64_t>(packed, dmda, numbers);
      check_type<float>(packed, dmda, numbers);
      check_type<double>(packed, dmda, numbers);
    }
  }
}
