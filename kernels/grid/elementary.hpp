// exp, log, pow, x^(-1/3), x^(-n/8), tan and erf from + - * / sqrt and integer shifts: the same
// bits on every processor, with every compiler and at any width, if nothing is fused or reordered.
// All except erf are branch-free and vectorise. Errors are below 1.5 units in the last place,
// relative ones of erf below 4e-15 (tests/kernels/test_elementary.cpp compares with long double and
// libm), in the default rounding mode. The polynomials interpolate at Chebyshev points.
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <limits>

namespace nunatak::elementary {

namespace detail {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// 1.5 2^52: a sum with it is rounded to an integer, held in the low bits.
constexpr double to_integer = 6755399441055744.0;
constexpr double log2_e = 1.4426950408889634;
constexpr double ln2_hi = 0x1.62e42fefa3800p-1;
constexpr double ln2_lo = 0x1.ef35793c76730p-45;

KOKKOS_FORCEINLINE_FUNCTION std::int64_t bits(double x) {
  return Kokkos::bit_cast<std::int64_t>(x);
}
KOKKOS_FORCEINLINE_FUNCTION double number(std::int64_t n) { return Kokkos::bit_cast<double>(n); }
/// Round to the nearest integer, for |x| up to 2^51.
KOKKOS_FORCEINLINE_FUNCTION double round(double x) { return (x + to_integer) - to_integer; }
/// 2^k for an integer k in -1022..1023.
KOKKOS_FORCEINLINE_FUNCTION double power_of_two(double k) {
  return number(
      static_cast<std::int64_t>(static_cast<std::uint64_t>(bits(k + (to_integer + 1023.0))) << 52));
}
/// The exponent of a normal positive number, from the bits.
KOKKOS_FORCEINLINE_FUNCTION double exponent(std::int64_t n) {
  return number(static_cast<std::int64_t>(static_cast<std::uint64_t>(n) >> 52) |
                bits(4503599627370496.0)) -
         4503599627371519.0;
}

template <int n> KOKKOS_FORCEINLINE_FUNCTION double polynomial(const double (&c)[n], double x) {
  double sum = c[n - 1];
  for (int k = n - 2; k >= 0; --k) sum = sum * x + c[k];
  return sum;
}

/// A number in double-double precision: hi + lo, |lo| at most half a unit of hi.
struct Double2 {
  double hi, lo;
};
/// a + b exactly, for |a| >= |b|.
KOKKOS_FORCEINLINE_FUNCTION Double2 sum_exactly(double a, double b) {
  const double s = a + b;
  return {s, b - (s - a)};
}
/// a b exactly (Dekker 1971).
KOKKOS_FORCEINLINE_FUNCTION Double2 multiply_exactly(double a, double b) {
  constexpr double split = 134217729.0; // 2^27 + 1
  const double as = split * a;
  const double bs = split * b;
  const double a1 = as - (as - a);
  const double b1 = bs - (bs - b);
  const double a2 = a - a1;
  const double b2 = b - b1;
  const double p = a * b;
  return {p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2};
}
KOKKOS_FORCEINLINE_FUNCTION Double2 multiply(const Double2& a, const Double2& b) {
  const Double2 p = multiply_exactly(a.hi, b.hi);
  return sum_exactly(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

/// e^(x + lo) = p 2^k, |lo| small compared with x, for x in -746..710.
KOKKOS_FORCEINLINE_FUNCTION double exp(double x, double lo, double& k) {
  constexpr double c[] = {0.16666666666666669,    0.041666666666666664,   0.008333333333330062,
                          0.0013888888888886552,  0.00019841269863053618, 2.4801587317144498e-05,
                          2.7557268459997064e-06, 2.755728296954995e-07,  2.510038549551032e-08,
                          2.0911236630261545e-09};
  k = round(x * log2_e);
  const double r = (x - k * ln2_hi) - (k * ln2_lo - lo);
  return 1.0 + (r + r * r * (0.5 + r * polynomial(c, r)));
}
KOKKOS_FORCEINLINE_FUNCTION double exp(double x, double lo) {
  double k;
  x = x > 710.0 ? 710.0 : x;
  const double p = exp(x < -746.0 ? -746.0 : x, lo, k);
  const double half = round(0.5 * k); // 2^k in two factors: it may be subnormal or infinite
  return p * power_of_two(half) * power_of_two(k - half);
}

/// log x, 0 < x < infinity, to 65 bits: x = 2^e m, s = (m-1)/(m+1), log m = 2 s + 2/3 s^3 + s^5
/// Q(s^2).
KOKKOS_FORCEINLINE_FUNCTION Double2 log(double x) {
  constexpr double Q[] = {0.4,
                          0.28571428571428564,
                          0.2222222222222843,
                          0.18181818179656925,
                          0.15384615761170173,
                          0.13333296534432942,
                          0.11766813121034213,
                          0.10456327269484514,
                          0.107624244195648};
  constexpr std::int64_t one = 0x3ff0000000000000;
  constexpr std::int64_t sqrt_half = 0x3fe6a09e667f3bcd;
  constexpr std::int64_t mantissa = 0x000fffffffffffff;
  const bool tiny = x < std::numeric_limits<double>::min();
  const auto n = static_cast<std::int64_t>(
      static_cast<std::uint64_t>(bits(tiny ? x * 18014398509481984.0 : x)) + (one - sqrt_half));
  const double e = exponent(n) - (tiny ? 54.0 : 0.0), f = number((n & mantissa) + sqrt_half) - 1.0;
  const double g = 2.0 + f, s_hi = f / g;
  const Double2 sg = multiply_exactly(s_hi, g);
  const Double2 s{s_hi, ((f - sg.hi) - sg.lo - s_hi * (f - (g - 2.0))) / g};
  const Double2 z = multiply(s, s);
  const Double2 cube = multiply(multiply(z, s), {0.6666666666666666, 3.700743415417188e-17});
  const double tail = s.hi * z.hi * z.hi * polynomial(Q, z.hi);
  const Double2 a = sum_exactly(e * ln2_hi, 2.0 * s.hi), b = sum_exactly(a.hi, cube.hi);
  return sum_exactly(b.hi, a.lo + b.lo + (2.0 * s.lo + cube.lo + (tail + e * ln2_lo)));
}

} // namespace detail

KOKKOS_FORCEINLINE_FUNCTION double exp(double x) { return detail::exp(x, 0.0); }
/// exp with the same bits for -700 <= x <= 700 in fewer operations.
KOKKOS_FORCEINLINE_FUNCTION double moderate_exp(double x) {
  double k;
  const double p = detail::exp(x, 0.0, k);
  return p * detail::power_of_two(k);
}

/// log x: -infinity at 0, NaN below.
KOKKOS_FORCEINLINE_FUNCTION double log(double x) {
  const detail::Double2 y = detail::log(x);
  const double edge = x == 0.0                ? -detail::infinity
                      : x == detail::infinity ? x
                                              : std::numeric_limits<double>::quiet_NaN();
  return x > 0.0 && x < detail::infinity ? y.hi + y.lo : edge;
}

/// x^y for x >= 0 (NaN below).
KOKKOS_FORCEINLINE_FUNCTION double pow(double x, double y) {
  constexpr double most =
      73786976294838206464.0; // 2^66: beyond it every x except 1 gives 0 or infinity
  const double exponent = y > most ? most : y < -most ? -most : y;
  const detail::Double2 l = detail::log(x), p = detail::multiply_exactly(exponent, l.hi);
  const bool inside = p.hi > -800.0 && p.hi < 800.0;
  const double power = detail::exp(p.hi, inside ? p.lo + exponent * l.lo : 0.0);
  const double edge = x == 0.0 || x == detail::infinity
                          ? ((y > 0.0) == (x > 0.0) ? detail::infinity : 0.0)
                          : std::numeric_limits<double>::quiet_NaN();
  const double of_any = y == y ? (x > 0.0 && x < detail::infinity ? power : edge) : y;
  return y == 0.0 || x == 1.0 ? 1.0 : of_any;
}

namespace detail {

/// 2^k times the number with these bits.
KOKKOS_FORCEINLINE_FUNCTION double scaled(std::int64_t n, double k) {
  return number(static_cast<std::int64_t>(
      static_cast<std::uint64_t>(n) + (static_cast<std::uint64_t>(bits(k + to_integer)) << 52)));
}
/// m^(-1/3) for m in 1/2..4, to 1e-9
KOKKOS_FORCEINLINE_FUNCTION double inverse_cbrt(double m) {
  constexpr double c[] = {1.7631873531973725,   -1.3956863570775033,  0.9031638942822358,
                          -0.32592513599592976, 0.059812450110234595, -0.004350397609046824};
  const double r = polynomial(c, m), h = 1.0 - m * (r * r * r);
  return r + r * h * (1.0 / 3.0 + h * (2.0 / 9.0 + h * (14.0 / 81.0 + h * (35.0 / 243.0))));
}

} // namespace detail

/// x^(-1/3) for 1e-300 <= x <= 1e300, used by the viscosity of ice.
KOKKOS_FORCEINLINE_FUNCTION double inverse_cbrt(double x) {
  const std::int64_t n = detail::bits(x);
  const double k = detail::round(detail::exponent(n) * (1.0 / 3.0));
  const double m = detail::scaled(n, -3.0 * k), r = detail::inverse_cbrt(m);
  return detail::scaled(detail::bits(r + r * (1.0 - m * (r * r * r)) * (1.0 / 3.0)), -k);
}

/// tan x for |x| <= 1e5.
KOKKOS_FORCEINLINE_FUNCTION double tan(double x) {
  using namespace detail;
  constexpr double c[] = {0.3333333333333333,      0.1333333333333336,     0.053968253968216494,
                          0.021869488538186894,    0.00886323547219349,    0.0035921290251277526,
                          0.001455823306484352,    0.0005901129273566122,  0.00023866062511576094,
                          9.877222654104013e-05,   3.391996496950876e-05,  2.712495871761255e-05,
                          -1.0218100602616342e-05, 1.9554377552178262e-05, -9.753956934096784e-06,
                          3.951549148345975e-06};
  const double k = round(x * 0.6366197723675814);
  const double half = 0.5 * k; // pi/2 in three parts of 33, 33 and 53 bits
  const double r1 = x - k * 0x1.921fb54400000p+0;
  const double r2 = k * 0x1.0b4611a600000p-34;
  const double r3 = k * 0x1.3198a2e037073p-69;
  const double s = r1 - r2, s_lo = ((r1 - s) - r2) - r3, r = s + s_lo, r_lo = s_lo - (r - s);
  const double tail = r * r * r * polynomial(c, r * r) + r_lo * (1.0 + r * r);
  const Double2 t = sum_exactly(r, tail);
  const double y = 1.0 / t.hi, inverse = y - y * (y * t.lo);
  // the rounding error of the division, from the exact product of y and t
  const Double2 product = multiply_exactly(y, t.hi);
  const double cotangent = inverse + y * ((1.0 - product.hi) - product.lo);
  return round(half) == half ? t.hi : -cotangent;
}

/// The error function, for initialisation: 2/sqrt(pi) e^(-x^2) sum 2^n x^(2n+1)/(2n+1)!! (all > 0).
KOKKOS_INLINE_FUNCTION double erf(double x) {
  if (!(x > -6.0 && x < 6.0)) return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x;
  const double x2 = x * x;
  double term = x, sum = x;
  for (int n = 1; n < 200 && sum + term != sum; ++n) {
    term *= 2.0 * x2 / (2 * n + 1);
    sum += term;
  }
  return 1.1283791670955126 * exp(-x2) * sum;
}

/// x^(-n/8), n = 0..4, for 1e-100 <= x <= 1e100, by roots: the usual sliding laws.
KOKKOS_FORCEINLINE_FUNCTION double inverse_eighths(double x, int n) {
  const double inverse = 1.0 / (n == 3 ? x * x * x : x);
  const double half = Kokkos::sqrt(inverse);
  const double quarter = Kokkos::sqrt(half);
  return n == 0 ? 1.0 : n == 4 ? half : n == 2 ? quarter : Kokkos::sqrt(quarter);
}

} // namespace nunatak::elementary
