// exp, log, pow, tan, roots and erf against long double, on many arguments and on all edges.
#include "kernels/grid/elementary.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace nunatak;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity(),
                 nan_ = std::numeric_limits<double>::quiet_NaN();
constexpr double tiny = std::numeric_limits<double>::denorm_min(),
                 normal = std::numeric_limits<double>::min(),
                 huge = std::numeric_limits<double>::max();
#ifdef __SANITIZE_ADDRESS__
constexpr int arguments = 10000;
#else
constexpr int arguments = 1000000; // of each function and range: 10^7 and more in all
#endif

/// Distance of `found` from `exact`, in units of the last place of `exact`.
double error(double found, long double exact) {
  const double rounded = static_cast<double>(exact);
  if (!std::isfinite(rounded) || !std::isfinite(found)) return found == rounded ? 0.0 : inf;
  const double size = std::fmax(std::fabs(rounded), normal);
  const double unit = std::ldexp(1.0, std::ilogb(size) - 52);
  return static_cast<double>(std::fabs(static_cast<long double>(found) - exact) / unit);
}

/// The largest error over numbers between a and b, or between 2^a and 2^b.
template <class F, class G>
double worst(const F& f, const G& exact, double a, double b, bool powers = false) {
  std::mt19937_64 random(12345);
  std::uniform_real_distribution<double> between(a, b);
  double most = 0.0;
  for (int n = 0; n < arguments; ++n) {
    const double x = powers ? std::exp2(between(random)) : between(random);
    most = std::fmax(most, error(f(x), exact(static_cast<long double>(x))));
  }
  return most;
}

struct Range {
  double a, b;
  bool powers = false; // from 2^a to 2^b
};
/// Below 1.5 units in the last place in all ranges and at the edges.
template <class F, class G>
void check(const F& f, const G& exact, const std::vector<Range>& ranges,
           const std::vector<double>& edges = {}) {
  for (const Range& r : ranges) CHECK(worst(f, exact, r.a, r.b, r.powers) < 1.5);
  for (const double x : edges) CHECK(error(f(x), exact(x)) < 1.5);
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

} // namespace

TEST_CASE("exp: below 1.5 units in the last place; edges") {
  const auto f = [](double x) { return elementary::exp(x); };
  const auto exact = [](long double x) { return std::exp(x); };
  check(f, exact, {{-1.0, 1.0}, {-746.0, 710.0}, {-745.2, -708.0}}, // the last: subnormal
        {0.0, -0.0, tiny, -tiny, 1e-17, 709.78271289338397, 709.782712893384, 709.7827128933841,
         -745.13321910194110, -745.2, -745.14, -708.3964185322641, 1e308, -1e308, huge, -huge, inf,
         -inf});
  CHECK((f(0.0) == 1.0 && f(inf) == inf && f(-inf) == 0.0 && std::isnan(f(nan_))));
  int others = 0;
  for (int n = -70000; n <= 70000; ++n) others += elementary::moderate_exp(0.01 * n) != f(0.01 * n);
  CHECK((others == 0 && std::isnan(elementary::moderate_exp(nan_))));
}

TEST_CASE("log: below 1.5 units in the last place; edges") {
  const auto f = [](double x) { return elementary::log(x); };
  const auto exact = [](long double x) { return std::log(x); };
  check(f, exact, {{0.5, 2.0}, {0.999, 1.001}, {-1074.0, 1023.9, true}},
        {tiny, normal, std::nextafter(normal, 0.0), 1.0, std::nextafter(1.0, 0.0),
         std::nextafter(1.0, 2.0), huge});
  CHECK((f(1.0) == 0.0 && f(0.0) == -inf && f(-0.0) == -inf && f(inf) == inf));
  CHECK(
      (std::isnan(f(-1.0)) && std::isnan(f(-inf)) && std::isnan(f(nan_)) && std::isnan(f(-tiny))));
}

TEST_CASE("pow: below 1.5 units in the last place; edges") {
  std::mt19937_64 random(12345);
  std::uniform_real_distribution<double> exponent(-1074.0, 1024.0), fraction(-1.0, 1.0),
      small(-2.0, 2.0);
  double most = 0.0;
  for (int n = 0; n < 2 * arguments; ++n) {
    const double x = std::exp2(
        n % 2 == 0 ? exponent(random) : small(random)); // the whole range of results, and around 1
    const double y = x == 1.0     ? 0.0
                     : n % 3 == 0 ? small(random)
                                  : 1080.0 * fraction(random) / std::log2(x);
    most = std::fmax(most, error(elementary::pow(x, y), std::pow(static_cast<long double>(x),
                                                                 static_cast<long double>(y))));
  }
  CHECK(most < 1.5);
  for (const double x : {0.0, tiny, normal, 0.5, std::nextafter(1.0, 0.0), 1.0,
                         std::nextafter(1.0, 2.0), 2.0, huge, inf, nan_}) {
    for (const double y : {-inf, -huge, -1e20, -3.0, -1.0, -tiny, 0.0, tiny, 0.5, 1.0, 2.0, 1e16,
                           1e20, huge, inf, nan_}) {
      INFO(x << " to the power " << y);
      const double found = elementary::pow(x, y), libm = std::pow(x, y);
      CHECK((same(found, libm) || error(found, std::pow(static_cast<long double>(x),
                                                        static_cast<long double>(y))) < 1.5));
    }
  }
  CHECK(std::isnan(elementary::pow(-1.0, 2.0)));
}

TEST_CASE("tan: below 1.5 units in the last place; edges") {
  const auto f = [](double x) { return elementary::tan(x); };
  const auto exact = [](long double x) { return std::tan(x); };
  check(f, exact, {{-0.8, 0.8}, {-1.5707963, 1.5707963}, {-1e5, 1e5}},
        {0.0, tiny, normal, 1e-9, 0.78539816339744828, 0.78539816339744839, 1.5707963267948966,
         -1.5707963267948966, 3.1415926535897931, 4.7123889803846897, 1e5});
  CHECK((std::isnan(f(nan_)) && std::isnan(f(inf))));
}

TEST_CASE("x^(-n/8) by roots: below 1.5 units in the last place") {
  for (int n = 0; n <= 4; ++n) {
    CAPTURE(n);
    check([n](double x) { return elementary::inverse_eighths(x, n); },
          [n](long double x) { return std::pow(x, -n / 8.0L); }, {{-330.0, 330.0, true}});
    CHECK(elementary::inverse_eighths(1.0, n) == 1.0);
  }
}

TEST_CASE("x^(-1/3): below 1.5 units in the last place") {
  const auto f = [](double x) { return elementary::inverse_cbrt(x); };
  const auto exact = [](long double x) { return 1.0L / std::cbrt(x); };
  check(f, exact, {{-990.0, 990.0, true}, {0.5, 8.0}});
  CHECK((f(1.0) == 1.0 && f(8.0) == 0.5));
}

TEST_CASE("the error function") {
  for (int k = -9000; k <= 9000; ++k) {
    const double x = k / 1000.0;
    CHECK(std::abs(elementary::erf(x) - std::erf(x)) <= 4e-15 * std::abs(std::erf(x)));
  }
  CHECK((elementary::erf(0.0) == 0.0 && elementary::erf(inf) == 1.0 &&
         elementary::erf(-inf) == -1.0 && std::isnan(elementary::erf(nan_))));
}
