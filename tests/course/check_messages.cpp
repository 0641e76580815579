// Lab 1: what an exchange of ghosts sends, counted.
#include "kernels/grid/virtual/virtual_ranks.hpp"
#include "tests/kernels/ghost_checks.hpp"

using namespace nunatak;

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
