// Lab 1, and a part of kernels.grid: the ghosts that an exchange fills, and what it sends, counted.
#include "kernels/grid/virtual/virtual_ranks.hpp"
#include "tests/kernels/ghost_checks.hpp"

using namespace nunatak;

TEST_CASE("ghosts hold the neighbour's cells, with and without periodicity") {
  for (int px : {1, 2, 3, 5}) {
    for (int py : {1, 2, 4}) {
      with_each_periodicity(Decomposition::make(11, 9, px, py), [&](const Decomposition& d) {
        CAPTURE(px, py, d.periodic_x, d.periodic_y);
        VirtualRanks ranks(d, std::nullopt, Halo::host), loops(d, std::nullopt, Halo::loops);
        check_ghosts(ranks);
        check_ghosts(loops);
        CHECK(loops.traffic().messages == ranks.traffic().messages);
        CHECK(loops.traffic().bytes == ranks.traffic().bytes);
      });
    }
  }
}

TEST_CASE("lab 1: messages of one exchange on 2 x 2, 4 x 4, 6 x 6 patches, and their bytes") {
  struct Expected {
    int p;
    std::int64_t messages, cells;
  };
  for (const Expected& e :
       {Expected{2, 12, 4 * (2 * 12 + 1)}, {4, 84, 24 * 2 * 6 + 36}, {6, 220, 60 * 2 * 4 + 100}}) {
    CAPTURE(e.p);
    VirtualRanks ranks(Decomposition::make(24, 24, e.p, e.p));
    check_ghosts(ranks);
    CHECK(ranks.traffic().exchanges == 1);
    CHECK(ranks.traffic().messages == e.messages);
    CHECK(ranks.traffic().bytes == e.cells * (8 + 4 + 3 * 8)); // three arrays
  }
}

TEST_CASE("lab 1: strips touch their side, have the right size and do not overlap") {
  const Patch p = Decomposition::make(7, 5, 1, 1).patch(0);
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      if (dx == 0 && dy == 0) continue;
      CAPTURE(dx, dy);
      const Strip owned = owned_strip(p, dx, dy), ghosts = ghost_strip(p, dx, dy);
      const std::size_t cells = dx != 0 && dy != 0 ? 1 : dx != 0 ? 5 : 7;
      CHECK(owned.cells() == cells);
      CHECK(ghosts.cells() == cells);
      CHECK((owned.i0 >= 1 && owned.i1 <= 8 && owned.j0 >= 1 && owned.j1 <= 6));
      CHECK(ghosts.i0 == owned.i0 + dx);
      CHECK(ghosts.j0 == owned.j0 + dy);
    }
  }
}
