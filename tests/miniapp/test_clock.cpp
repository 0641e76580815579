// The clock of a run: as many steps as it has instants, and the same steps after a cut at any of
// them, for random intervals, starts and lengths from year -1e7 to 1e7.
#include "miniapp/model/clock.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

using namespace nunatak;

namespace {

struct Step {
  double time; // s, at its end
  bool maps, snapshot;
  bool operator==(const Step& other) const {
    return time == other.time && maps == other.maps && snapshot == other.snapshot;
  }
};

/// The steps of a run whose stable step, s, is stable(time); no more than `most`.
template <class Stable>
std::vector<Step> steps_of(const RunTimes& times, double start, const Stable& stable,
                           std::size_t most = 100000) {
  Clock clock(times, start);
  std::vector<Step> steps;
  while (!clock.finished() && steps.size() < most) {
    clock.advance(clock.longest_step(stable(clock.time())));
    steps.push_back({clock.time(), clock.is_due(clock.maps()), clock.is_due(clock.snapshots())});
  }
  return steps;
}

double longest(double) { return HUGE_VAL; }

/// 0.05 to 0.45 years, by the bits of the time: another time makes other steps.
double by_bits(double time) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &time, sizeof bits);
  bits *= 0x9e3779b97f4a7c15;
  return (0.05 + 0.4 * static_cast<double>(bits >> 40) / 0x1p24) * seconds_per_year;
}

std::size_t steps_to(double maps, double years, double start_year = 0.0) {
  RunTimes times;
  times.maps = maps;
  times.years = years;
  return steps_of(times, start_year * seconds_per_year, longest).size();
}

/// The instants of a run in years, by sums of long double: later than the start, up to the end.
std::vector<long double> expected_instants(const RunTimes& times, long double start,
                                           long double end) {
  constexpr long double apart = 4e-7L, begins = 1e-8L;
  std::vector<long double> all{end};
  for (const double every : {times.maps, times.snapshots}) {
    if (every == 0.0) continue;
    const long double first = std::floor(start / every) - 1.0L;
    for (long double k = first; k * every <= end + apart; k += 1.0L) {
      if (k * every > start + begins) all.push_back(k * every);
    }
  }
  std::sort(all.begin(), all.end());
  const auto is_one = [](long double a, long double b) { return b - a < apart; };
  all.erase(std::unique(all.begin(), all.end(), is_one), all.end());
  return all;
}

/// Intervals and starts as people choose them, and some that nobody would.
class Random {
public:
  double interval() {
    const double n = whole(1, 40);
    const double choices[] = {n / 10.0, n / 12.0, n / 100.0, n / 8.0, n / 7.0, n, 0.05 + real()};
    return choices[whole(0, 6)];
  }
  double start_year() {
    const double n = whole(0, 1);
    const double choices[] = {0.0,
                              -125000.0,
                              -8300.0,
                              -21000.0 + n / 12.0,
                              static_cast<double>(whole(-10000000, 9999000)),
                              whole(-1250000, 1250000) / 10.0,
                              whole(-300000, 300000) / 12.0};
    return choices[whole(0, 6)];
  }
  int whole(int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(m_engine);
  }
  double real() { return std::uniform_real_distribution<double>(0.0, 1.0)(m_engine); }

private:
  std::mt19937 m_engine{1};
};

} // namespace

TEST_CASE("a run has as many steps as intervals") {
  CHECK(steps_to(1.0, 2.0, -125000.0) == 2);
  CHECK(steps_to(1.0 / 12.0, 1.0) == 12);
  CHECK(steps_to(1.0 / 12.0, 10.0) == 120);
  CHECK(steps_to(1.0 / 12.0, 10.0, -8300.0) == 120);
  CHECK(steps_to(0.3, 0.9) == 3);
  CHECK(steps_to(0.3, 3.0) == 10);
  CHECK(steps_to(0.3, 6.0) == 20);
  CHECK(steps_to(0.1, 1e3, 1e7 - 1e3) == 10000);
}

TEST_CASE("steps of the length of an interval end with it") {
  RunTimes times;
  times.maps = 1.0 / 12.0;
  times.years = 10.0;
  for (const double start : {0.0, -125000.0, 9e6}) {
    const auto month = [](double) { return seconds_per_year / 12.0; };
    CHECK(steps_of(times, start * seconds_per_year, month).size() == 120);
  }
}

TEST_CASE("instants are those of the union of intervals and end, and a cut changes no step") {
  Random random;
  std::size_t n_steps = 0;
  for (int n = 0; n < 1000; ++n) {
    RunTimes times;
    times.maps = random.interval();
    times.snapshots = n % 3 == 0 ? 0.0 : random.interval();
    const double start_year = random.start_year();
    const double length = random.whole(1, 20) * (n % 2 == 0 ? times.maps : 0.5);
    times.until = start_year + length;
    const double start = seconds_at(std::llround(start_year * ticks_per_year));
    INFO("case " << n << ": from year " << start_year << " for " << length << ", maps every "
                 << times.maps << ", snapshots every " << times.snapshots);

    const std::vector<Step> whole = steps_of(times, start, longest);
    const auto expected = expected_instants(times, start_year, *times.until);
    REQUIRE(whole.size() == expected.size());
    for (std::size_t k = 0; k < whole.size(); ++k)
      REQUIRE(std::fabs(whole[k].time / seconds_per_year - static_cast<double>(expected[k])) <
              1e-6);

    const std::vector<Step> fine = steps_of(times, start, by_bits);
    n_steps += fine.size();
    RunTimes first = times, second = times;
    const Step& cut =
        whole[static_cast<std::size_t>(random.whole(0, static_cast<int>(whole.size()) - 1))];
    if (n % 5 == 0) { // between two instants, as by a signal
      first.steps = random.whole(1, static_cast<int>(fine.size()));
    } else if (n % 5 == 1) {
      first.until.reset();
      first.years = (cut.time - start) / seconds_per_year;
    } else {
      first.until = cut.time / seconds_per_year;
    }
    std::vector<Step> parts = steps_of(first, start, by_bits);
    const std::vector<Step> rest = steps_of(second, parts.back().time, by_bits);
    parts.insert(parts.end(), rest.begin(), rest.end());
    REQUIRE(parts == fine);
  }
  CHECK(n_steps > 10000);
}

TEST_CASE("instants that are one are one after a cut, too") {
  RunTimes times;
  times.maps = 0.0833333; // twelve of them end 360 ticks before the year
  times.snapshots = 1.0;
  times.until = 3.0;
  const std::vector<Step> whole = steps_of(times, 0.0, longest);
  CHECK(whole.size() == 38); // the second year is 720 ticks apart, the third 1080
  for (std::size_t n = 1; n < whole.size(); ++n)
    CHECK(steps_of(times, whole[n - 1].time, longest) ==
          std::vector<Step>(whole.begin() + static_cast<std::ptrdiff_t>(n), whole.end()));
  times.until = 1.0;
  CHECK(steps_of(times, 0.0, longest).size() == 12);
  CHECK(steps_of(times, whole[11].time, longest).empty());
  times.maps = 0.08333335; // the twelfth is later than the snapshot with which a run began
  times.until = 1.1;
  CHECK(Clock(times, seconds_per_year).is_due(Interval(times.maps)));
}

TEST_CASE("runs by -run_years that follow one another meet the instants of longer intervals") {
  for (const double length : {0.3, 1.0 / 12.0, 1.0 / 7.0, 0.07}) {
    RunTimes times;
    times.maps = 1.0;
    times.years = length;
    double time = 0.0;
    std::size_t maps = 0;
    for (int job = 0; time < 9.999 * seconds_per_year; ++job) {
      const std::vector<Step> steps = steps_of(times, time, longest);
      REQUIRE(steps.size() <= 2);
      for (const Step& step : steps) {
        maps += step.maps ? 1 : 0;
        REQUIRE(step.time - time > 0.001 * seconds_per_year);
        time = step.time;
      }
    }
    CHECK(maps == 10);
  }
}

TEST_CASE("time that does not advance is an error") {
  RunTimes times;
  times.years = 1.0;
  Clock clock(times, -1e7 * seconds_per_year);
  CHECK_THROWS_AS(clock.advance(clock.longest_step(1e-3)), Error);
}

TEST_CASE("the times of instants are exact") {
  for (const double year : {0.0, 3.0, -125000.0, 1e7, -1e7, 0.25, -0.5, 1234.75}) {
    const Ticks t = std::llround(year * ticks_per_year);
    CHECK(seconds_at(t) == year * seconds_per_year);
    CHECK(std::llround(ticks_at(seconds_at(t))) == t);
  }
  CHECK(seconds_at(10 * 270000000LL) == 3.0 * seconds_per_year);
}
