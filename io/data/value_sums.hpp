// Checksums of the values of all variables and records, put or in a file, which verify that a file
// holds the values put, independent of order, ranks, layout, format and compression.
//
//   sum = sum over the elements of f((n + 1) K xor b)  mod 2^64
//   f(u) = C u + (u mod 2^32) (u / 2^32)
//
// n: the element's place in the variable, row-major; b: the bits of the value in the type of the
// file, as a number; K and C are odd. One changed bit always changes the sum: it adds 2^k (C + h)
// or 2^k (2^32 C + l), h and l below 2^32, which is no multiple of 2^64, because C is odd and its
// bit 32 is not set. Of other changes about one in 2^32 is undetected. Packed at the same time it
// costs less than the memory access. Hashing by such products: Black et al. (1999), UMAC.
//
// Sums of put values are made only in summed(), around the call that hands hyperslabs to a format.
// What the format packs (hyperslab.hpp) is summed while it is in cache; if that is not exactly the
// hyperslabs (a library took strided memory, or packed a part twice) the sum is computed again.
#pragma once

#include "io/data/hyperslab.hpp"
#include "io/data/schema.hpp"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace nunatak::io {

/// The sum of one variable, or of one record of it.
class ValueSum {
public:
  /// `shape`: lengths of the dimensions of the variable in the file, without the record dimension.
  explicit ValueSum(const Indices& shape) : m_shape(shape) {}

  const Indices& shape() const { return m_shape; }
  std::uint64_t value() const { return C * m_linear + m_product; }

  /// Elements in the sum, counted by pack(); summed() checks their number.
  std::size_t elements() const { return m_elements; }
  void count(std::size_t elements) { m_elements += elements; }

  /// The key of the value at place n is (n + 1) K.
  static constexpr std::uint64_t K = 0x9e3779b97f4a7c15; ///< 2^64 over the golden ratio

  template <class T> void add(T value, std::uint64_t key) {
    const std::uint64_t u = bits_of(value) ^ key;
    m_linear += u;
    m_product += (u & 0xffffffff) * (u >> 32);
  }

  /// Add a run of values with the keys key, key + step, ..., and copy them.
  template <class From, class To>
  void copy(const From* from, To* to, std::size_t size, std::uint64_t key, std::uint64_t step) {
    std::size_t n = 0;
#ifdef __SSE2__
    if constexpr (sizeof(From) == 8 && (std::is_same_v<From, To> || std::is_same_v<To, float>)) {
      __m128i linear = _mm_setzero_si128(), product = linear;
      __m128i keys =
          _mm_set_epi64x(static_cast<long long>(key + step), static_cast<long long>(key));
      const __m128i steps = _mm_set1_epi64x(static_cast<long long>(2 * step));
      for (; n + 2 <= size; n += 2, key += 2 * step) {
        const __m128i u = _mm_xor_si128(copy_two(from + n, to + n), keys);
        linear = _mm_add_epi64(linear, u);
        product = _mm_add_epi64(product, _mm_mul_epu32(u, _mm_srli_epi64(u, 32)));
        keys = _mm_add_epi64(keys, steps);
      }
      m_linear += sum_of_lanes(linear);
      m_product += sum_of_lanes(product);
    }
#endif
    for (; n < size; ++n, key += step) {
      to[n] = static_cast<To>(from[n]);
      add(to[n], key);
    }
  }

private:
  template <class T> static std::uint64_t bits_of(T value) {
    std::conditional_t<
        sizeof(T) == 8, std::uint64_t,
        std::conditional_t<sizeof(T) == 4, std::uint32_t,
                           std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>
        bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  }
#ifdef __SSE2__
  /// Copies two values; returns their bits as two numbers.
  template <class T> static __m128i copy_two(const T* from, T* to) {
    const __m128i values = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), values);
    return values;
  }
  static __m128i copy_two(const double* from, float* to) {
    const __m128i values = _mm_castps_si128(_mm_cvtpd_ps(_mm_loadu_pd(from)));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), values);
    return _mm_unpacklo_epi32(values, _mm_setzero_si128());
  }
  static std::uint64_t sum_of_lanes(__m128i lanes) {
    std::uint64_t two[2];
    _mm_storeu_si128(reinterpret_cast<__m128i*>(two), lanes);
    return two[0] + two[1];
  }
#endif

  static constexpr std::uint64_t C = 0xd1342543de82ef95 & ~(std::uint64_t{1} << 32);

  Indices m_shape;
  std::size_t m_elements = 0;
  std::uint64_t m_linear = 0, m_product = 0; ///< sums of u, and of the products of its halves
};

/// By name of the variable: one sum per record, or one if it has no records.
using Sums = std::map<std::string, std::vector<std::uint64_t>>;

/// "0123456789abcdef"
std::string sum_text(std::uint64_t sum);

/// The share of a sum, or of a rank's part of it, in the digest of many variables and records,
/// which is the sum of all shares. `record`: no_record for a variable without.
std::uint64_t share_in_digest(const std::string& variable, std::size_t record, std::uint64_t sum);
/// The digest of all sums of a file with this schema.
std::uint64_t digest_of(const Sums& sums, const Schema& schema);

/// Hash of the lines of a schema, in any order, except what a continued series changes.
std::string fingerprint(Schema schema);

/// Run write(slabs); returns the sum of their values, written as `type` to a variable of this
/// `shape`.
template <class F>
std::uint64_t summed(Slabs slabs, Type type, const Indices& shape, const F& write) {
  ValueSum sum(shape), again(shape);
  std::size_t elements = 0;
  for (Hyperslab& slab : slabs) {
    slab.sum = &sum;
    elements += slab.elements();
  }
  write(slabs);
  if (sum.elements() == elements) return sum.value();
  for (Hyperslab& slab : slabs) {
    slab.sum = &again;
    add_to_sum(slab, type);
  }
  return again.value();
}

/// This rank's part of the sums that the manifest does not have yet.
class ValueSums {
public:
  explicit ValueSums(const Schema& schema) : m_sums(schema.variables.size()) {}

  /// `record`: no_record for a variable without records.
  void add(std::size_t v, std::size_t record, std::uint64_t sum);

  /// Earlier records have been committed and, if it is not 0, also variables without records.
  std::size_t first_record() const { return m_first; }
  /// The sums over all ranks, up to `records`, on rank 0. Collective: one reduction.
  Sums reduce(MPI_Comm comm, const Schema& schema, std::size_t records) const;
  /// The first `records` records are in the manifest now.
  void forget(std::size_t records);

private:
  std::vector<std::vector<std::uint64_t>> m_sums; ///< of each variable, by record from m_first on
  std::size_t m_first = 0;
};

} // namespace nunatak::io
