// Decomposition, exchanges and groups of virtual ranks; LogGP. Ghosts and fixed-point sums also:
// tests/course/check_messages.cpp, check_sums.cpp, which are compiled into the same program.
#include "kernels/grid/balance.hpp"
#include "kernels/grid/sums.hpp"
#include "kernels/grid/virtual/virtual_ranks.hpp"
#include "kernels/multigrid/halo.hpp"
#include "tests/kernels/cells.hpp"
#include "tests/kernels/message_checks.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <random>
#include <thread>

using namespace nunatak;
using Catch::Matchers::ContainsSubstring;
using namespace std::chrono_literals;

TEST_CASE("a cut by work gives all patches about the same of it, and at least one line") {
  std::vector<int> ice(60 + 40,
                       0); // 60 columns, 40 rows; ice in columns 20 to 39 and rows 10 to 29
  for (int i = 20; i < 40; ++i) ice[i] = 20;
  for (int j = 10; j < 30; ++j) ice[60 + j] = 20;
  for (const auto& [px, py] :
       {std::pair(1, 1), std::pair(2, 2), std::pair(4, 5), std::pair(7, 1), std::pair(60, 40)}) {
    const Decomposition d = balanced(Decomposition::make(60, 40, px, py), ice);
    REQUIRE(d.x.size() == static_cast<std::size_t>(px) + 1);
    REQUIRE(d.x.front() == 0);
    REQUIRE(d.x.back() == 60);
    const std::vector<double> work = work_of_lines(ice.data(), 60, 40);
    double all = 0.0, most = 0.0, line = 0.0;
    for (const double w : work) all += w, line = std::fmax(line, w);
    for (int r = 0; r < px; ++r) {
      REQUIRE(d.x[static_cast<std::size_t>(r) + 1] > d.x[r]);
      double sum = 0.0;
      for (int i = d.x[r]; i < d.x[static_cast<std::size_t>(r) + 1]; ++i) sum += work[i];
      most = std::fmax(most, sum);
    }
    CHECK(most <= all / px + line);
  }
  const Decomposition halves = balanced(Decomposition::make(60, 40, 2, 2), ice);
  CHECK(halves.x[1] == 30);
  CHECK(halves.y[1] == 20);
  const Decomposition quarters = balanced(Decomposition::make(60, 40, 4, 1), ice);
  CHECK(quarters.patch(1).xm < 15); // where there is ice, patches are narrow
}

TEST_CASE("the cut for many ranks is that of a DMDA") {
  // The rule in integers: px <= 1/2 + sqrt(Mx size / My) is (2 px - 1)^2 My <= 4 Mx size.
  for (const std::int64_t Mx : {64, 100, 191, 381, 761, 6080}) {
    for (const std::int64_t My : {64, 97, 381, 1000, 6081}) {
      for (const int size : {5, 8, 12, 16, 30, 64, 97, 256, 360, 1000, 1024, 4096}) {
        int px = 1;
        for (int n = 1; n <= size; ++n) {
          if (size % n == 0 && (2 * n - 1) * (2 * n - 1) * My <= 4 * Mx * size) px = n;
        }
        int py = size / px;
        if (Mx > My && px < py) std::swap(px, py);
        if (px > Mx || py > My) continue;
        const Decomposition d =
            Decomposition::make(static_cast<int>(Mx), static_cast<int>(My), size);
        CAPTURE(Mx, My, size);
        REQUIRE((d.px == px && d.py == py));
        const int wide = static_cast<int>(Mx % px); // the first patches are one cell wider
        for (int r = 0; r < px; ++r) REQUIRE(d.x[r + 1] - d.x[r] == Mx / px + (r < wide ? 1 : 0));
        REQUIRE((d.x[px] == Mx && d.y[py] == My));
        REQUIRE(d.y[1] - d.y[0] == (My + py - 1) / py);
      }
    }
  }
}

TEST_CASE("a grid too small for the ranks is refused with both numbers") {
  REQUIRE_THROWS_WITH(Decomposition::make(2, 2, 5),
                      ContainsSubstring("2 x 2") && ContainsSubstring("5"));
}

TEST_CASE("rings of ghosts hold the cells of their owners, and only those that are kept") {
  if (levels_apart) SKIP("written for columns that are contiguous");
  const int Mx = 23, My = 19;
  const auto value = [](const Patch& p, int j, int i) {
    return static_cast<float>((p.cell(j, i) * 37) % 1009);
  };
  const auto kept = [](const Patch& p, int j, int i) {
    return (p.global_j(j) * 7 + p.global_i(i) * 3) % 5 != 0;
  };
  for (const auto& [px, py] : {std::pair{1, 1}, {2, 1}, {1, 3}, {3, 2}, {4, 4}}) {
    const Decomposition d = Decomposition::make(Mx, My, px, py);
    VirtualRanks ranks(Decomposition::make(Mx, My, 9, 7));
    std::vector<int> members;
    for (int n = 0; n < d.size(); ++n) members.push_back(3 * n + 1);
    const Holders level(ranks, d, members);
    for (const int rings : {1, 2, 3, 4}) {
      Route route = halo(level, rings);
      std::vector<Rows<float>> a;
      std::vector<Array2<int>> active;
      for (int n = 0; n < level.local_size(); ++n) {
        const Patch p = level.patch(n), array = grown(p, rings - 1);
        a.emplace_back("a", array, 2);
        Kokkos::deep_copy(a.back().memory, 0.0f);
        active.push_back(make_marks(array));
        for (const auto& [j, i] : cells_of(p)) {
          const int row = j + p.ys - array.ys, column = i + p.xs - array.xs;
          active[n](row, column) = kept(p, j, i);
          a[n](row, column, 0) = value(p, j, i), a[n](row, column, 1) = -value(p, j, i);
        }
      }
      route.move(
          1, [&](std::size_t n) { return values_of(active[n]); },
          [&](std::size_t n) { return values_of(active[n]); });
      route.keep(active, active);
      const std::int64_t bytes = ranks.traffic().bytes;
      route.move(
          2, [&](std::size_t n) -> CellValues<float> { return a[n]; },
          [&](std::size_t n) -> CellValues<float> { return a[n]; });
      int wrong = 0, ghosts = 0;
      for (int n = 0; n < level.local_size(); ++n) {
        const Patch p = level.patch(n), array = grown(p, rings - 1);
        for (const auto& [j, i] : cells_and_ghosts_of(array)) {
          const int gj = array.global_j(j), gi = array.global_i(i);
          const bool owned = p.owns(gj, gi), inside = gj >= 0 && gj < My && gi >= 0 && gi < Mx;
          const bool travels = inside && (owned || kept(array, j, i));
          const float expected = travels ? value(array, j, i) : 0.0f;
          ghosts += inside && !owned && kept(array, j, i);
          wrong += a[n](j, i, 0) != expected || a[n](j, i, 1) != -expected ||
                   active[n](j, i) != (inside && kept(array, j, i));
        }
      }
      INFO(px << " x " << py << " patches, " << rings << " rings");
      CHECK(wrong == 0);
      CHECK(ranks.traffic().bytes - bytes == 8 * ghosts);
    }
  }
}

TEST_CASE("messages between ranks, and groups of ranks") {
  for (int px : {1, 2, 5}) {
    for (int py : {1, 3}) {
      VirtualRanks ranks(Decomposition::make(11, 9, px, py));
      check_messages(ranks);
      for (const int every : {1, 2}) check_group(ranks, every);
    }
  }
}

TEST_CASE("a message that is not expected, or too long, is an error that names the ranks") {
  VirtualRanks ranks(Decomposition::make(4, 4, 2, 1));
  const std::vector<std::vector<Packet>> out = {{{1, {7, 7}}}, {}};
  std::vector<std::vector<Packet>> none(2), short_one = {{}, {{0, {0}}}},
                                            another = {{{1, {0}}}, {{0, {0, 0}}}};
  CHECK_THROWS_WITH(ranks.exchange(out, none),
                    ContainsSubstring("rank 1 expects none from rank 0"));
  CHECK_THROWS_WITH(ranks.exchange(out, short_one), ContainsSubstring("2 words to rank 1"));
  CHECK_THROWS_WITH(ranks.exchange(out, another), ContainsSubstring("2 expected, 1 sent"));
}

namespace {
bool near(double a, double b) { return std::abs(a - b) <= 1e-12; }
} // namespace

TEST_CASE("LogGP: work, a message, a collective, and the critical path through them") {
  LogGP m;
  m.L = 5.0, m.o = 1.0, m.g = 3.0, m.G = 0.5;
  m.visit.fill(2.0);
  VirtualRanks ranks(Decomposition::make(4, 4, 4, 1), m);
  ranks.work(0, 10); // 20 s on rank 0
  std::vector<std::vector<Packet>> out(4), in(4);
  out[0] = {{1, {1, 2}}, {2, {}}};
  in[1] = {{0, {0, 0}}}, in[2] = {{0, {0}}};
  ranks.exchange(out, in);
  const auto& clock = *ranks.clock();
  CHECK(near(clock.of(0).time, 22.0));                   // 20 + o + o
  CHECK(near(clock.of(1).time, 21.0 + 3.5 + 5.0 + 1.0)); // 7 G more than the first byte, L, o
  CHECK(near(clock.of(2).time, 24.5 + 5.0 + 1.0));       // the wire is free after 3.5 s > g
  CHECK(clock.of(3).time == 0.0);
  CHECK(clock.critical().messages == 1);
  CHECK(clock.critical().work == 20.0);

  std::vector<std::vector<std::int64_t>> values(4, {0});
  ranks.max(values);
  CHECK(near(clock.of(3).time, 30.5 + 2 * (2.0 + 5.0 + 3.5))); // two steps of 8 bytes
  CHECK(clock.critical().collectives == 1);

  // a reduction that does not block
  ranks.restart_clock();
  const auto group = ranks.group({1, 3});
  group->start_max({0, 5, 0, 4});
  ranks.work(1, 100);
  CHECK(group->finish_max() == 5);
  CHECK(near(ranks.clock()->of(1).time, 210.5)); // it has moved only when rank 1 had done its work
  CHECK(near(ranks.clock()->of(3).time, 210.5));
  CHECK(ranks.clock()->of(0).time == 0.0);
  CHECK(ranks.traffic().lagged == 1);
  CHECK(ranks.work_of_ranks() == std::vector<std::int64_t>{0, 100, 0, 0});
}

TEST_CASE("LogGP: measured work is that of turns, and a share of what is between them") {
  LogGP m;
  m.measured_work = true;
  VirtualRanks ranks(Decomposition::make(4, 4, 4, 1), m);
  const Kokkos::Timer all;
  ranks.restart_clock();
  std::this_thread::sleep_for(8ms); // of all four together
  ranks.start_turn();
  std::this_thread::sleep_for(5ms);
  ranks.end_turn(2);
  const double passed = all.seconds(), work = ranks.clock()->critical().work;
  CHECK((work >= 0.0069 && work <= passed - 0.0059));
  ranks.gather_all({{}, {}, {}, {}});
  CHECK(ranks.clock()->own(0) >= 0.0019);
  CHECK(ranks.clock()->own(2) >= ranks.clock()->own(0) + 0.0049);
}

TEST_CASE("LogGP: what does not block rests while its ranks work; shared cores") {
  LogGP m;
  m.visit.fill(1.0);
  m.step.lagged = 50.0;
  VirtualRanks ranks(Decomposition::make(4, 4, 4, 1), m);
  const auto group = ranks.group({0, 1});
  group->start_max({1, 2, 0, 0});
  ranks.work(0, 20);
  group->finish_max();
  CHECK(std::abs(ranks.clock()->of(1).time - (70.0)) <= 1e-6);

  m.cores = 2;
  VirtualRanks four(Decomposition::make(4, 4, 4, 1), m);
  for (int rank = 0; rank < 4; ++rank) four.work(rank, 10 + rank);
  CHECK(four.clock()->of(1).time == 11.0);
  CHECK(four.clock()->of(2).time == 22.0); // after rank 0
  CHECK(four.clock()->of(3).time == 24.0); // after rank 1
  CHECK(four.clock()->of(3).work == 13.0);
}

TEST_CASE("fixed-point sums of many terms at once are those of one term after another") {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(-3000.0, 5000.0);
  std::vector<double> terms(100000);
  for (double& t : terms) t = uniform(random);
  for (int n = -40; n < 40; ++n) {
    terms.push_back(std::ldexp(n + 0.5, -40)); // a tie
    terms.push_back(std::ldexp(n, -41 - n));   // a small number
  }
  for (const std::size_t first : {0, 99990, 100001}) {
    FixedSum one_by_one, at_once;
    for (std::size_t n = first; n < terms.size(); ++n) one_by_one.add(terms[n]);
    at_once.add(terms.data() + first, static_cast<int>(terms.size() - first));
    CHECK(at_once.value() == one_by_one.value());
  }
  FixedSum step, run; // many steps of few millimetres: their low words alone pass 2^63
  const std::vector<double> melt(1000000, 1e-3);
  step.add(melt.data(), static_cast<int>(melt.size()));
  for (int n = 0; n < 20000; ++n) run += step;
  CHECK(run.value() == 20000 * step.value());
}
