// The multigrid on MPI ranks: the bits of one rank, the messages of virtual ones, however merged.
#include "io/agree.hpp"
#include "miniapp/base/mpi_ranks.hpp"
#include "tests/kernels/multigrid_case.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace nunatak;

namespace {

std::vector<std::int64_t> sent(const Ranks& ranks) {
  const Traffic& t = ranks.traffic_of_all();
  return {t.messages, t.bytes, t.exchanges, t.collectives, t.work};
}

/// Three cycles on the MPI ranks: values are those of one rank, messages those of virtual ranks.
template <class Real>
void check(const Operator& A, const Decomposition& d, const MultigridOptions& options) {
  const Vector b = A.random_vector(1), expected = Cycle<Real>(A, A.decomposition(1, 1), options)(b);
  Cycle<Real> on_virtual(A, d, options);
  MpiRanks ranks(MPI_COMM_WORLD, d);
  Multigrid<Real> multigrid(ranks, 1.0, 1.0, active_cells(ranks, A.mask), options);
  const NinePoint<Real>& part = multigrid.finest(0);
  const auto at = [&](int n, int m) { return 2 * part.cells(n) + m; };
  const auto global = [&](int n, int m) {
    const int stride = part.patch.xm + 2;
    return 2 * static_cast<std::size_t>(
                   part.patch.cell(part.cells(n) / stride, part.cells(n) % stride)) +
           static_cast<std::size_t>(m);
  };
  for (int repeat = 0; repeat < 3; ++repeat) {
    if (repeat < 2) A.fill(part), multigrid.set_operator();
    for (int n = 0; n < part.size(); ++n) {
      for (int m = 0; m < 2; ++m) part.b.data()[at(n, m)] = static_cast<Real>(b[global(n, m)]);
    }
    const std::int64_t collectives = ranks.traffic_of_all().collectives;
    multigrid.cycle();
    CHECK(ranks.traffic_of_all().collectives == collectives);
    bool equal = true;
    for (int n = 0; n < part.size(); ++n) {
      for (int m = 0; m < 2; ++m)
        equal = equal && part.x.data()[at(n, m)] == static_cast<Real>(expected[global(n, m)]);
    }
    CHECK(equal);
  }
  on_virtual.multigrid.set_operator();
  for (int repeat = 0; repeat < 3; ++repeat) on_virtual.multigrid.cycle();
  std::vector<std::int64_t> mine = sent(ranks), all = mine;
  MPI_Allreduce(mine.data(), all.data(), static_cast<int>(all.size()), MPI_INT64_T, MPI_SUM,
                MPI_COMM_WORLD);
  const std::vector<std::int64_t> wanted = sent(on_virtual.ranks);
  INFO(d.px << " x " << d.py << ", gather " << options.gather << ", share " << options.share << ": "
            << multigrid.describe());
  CHECK(std::vector<std::int64_t>{all[0], all[1], all[4]} ==
        std::vector<std::int64_t>{wanted[0], wanted[1], wanted[4]});
  if (ranks.first() == 0) {
    CHECK(std::vector<std::int64_t>{mine[2], mine[3]} ==
          std::vector<std::int64_t>{wanted[2], wanted[3]});
    CHECK(multigrid.describe() == on_virtual.multigrid.describe());
  }
}

} // namespace

TEST_CASE("a cycle on MPI ranks has the bits of one rank and the messages of virtual ranks") {
  const int size = io::size_of(MPI_COMM_WORLD);
  Grid<int> ice = random_mask(23, 20, 0.6, 3); // one quarter has none
  for (const auto& [j, i] : points_of(23, 20)) {
    if (j < 10 && i < 12) ice(j, i) = 0;
  }
  for (const int kind : {0, 1, 2, 3}) {
    Operator A = random_operator(ice, (kind & 1) != 0, (kind & 2) != 0, 5);
    for (int cell = 0; cell < static_cast<int>(A.cells()); ++cell) {
      if (A.mask.values[static_cast<std::size_t>(cell)] != 0) A.add_drag(cell, 0.125);
    }
    for (const MultigridOptions& options : {MultigridOptions{2, 0, 10, 0},
                                            {2, 0, 10, 30},
                                            {1, 40, 10, 16},
                                            {2, 0, 10, 1000000000},
                                            {2, 3000, 10, 0},
                                            {2, 200, 10},
                                            {2, 3000, 60, 0}}) {
      std::vector<Decomposition> cuts{A.decomposition(size, 1), A.decomposition(1, size)};
      if (size % 2 == 0) cuts.push_back(A.decomposition(2, size / 2));
      for (Decomposition d : cuts) {
        check<double>(A, d, options);
        check<float>(A, d, options);
        if (d.px > 1) d.x[1] = 1, check<float>(A, d, options); // a patch of one column
      }
    }
  }
}
