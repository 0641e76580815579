// io/data/hyperslab.hpp: strided copies against one by elements, for all orders of three
// dimensions.
#include "io/data/hyperslab.hpp"
#include "io/data/value_sums.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <array>
#include <numeric>

using namespace nunatak::io;

namespace {

/// Values of the slab in the order of the file, one by one.
template <class T> std::vector<T> expected(const Hyperslab& p) {
  std::vector<T> out;
  Indices at(3, 0);
  do {
    std::ptrdiff_t place = 0;
    for (std::size_t d = 0; d < 3; ++d) place += static_cast<std::ptrdiff_t>(at[d]) * p.stride[d];
    out.push_back(reinterpret_cast<const T*>(p.data)[place]);
  } while (next_index(at, p.count));
  return out;
}

template <class T> void check_all_orders() {
  // an array with ghosts; sizes beyond one tile, equal to it, and 1
  for (const std::array<std::size_t, 3> size :
       {std::array<std::size_t, 3>{5, 40, 70}, {33, 32, 31}, {1, 7, 65}, {9, 1, 1}, {1, 1, 1}}) {
    const std::size_t n1 = size[1] + 2, n2 = size[2] + 3;
    std::vector<T> memory((size[0] + 2) * n1 * n2);
    for (std::size_t n = 0; n < memory.size(); ++n) memory[n] = static_cast<T>(n % 127);
    const Strides stride = contiguous_strides({size[0] + 2, n1, n2});
    std::array<std::size_t, 3> order = {0, 1, 2};
    do {
      Hyperslab p;
      p.type = type_of<T>();
      p.data = reinterpret_cast<const std::byte*>(memory.data() + n1 * n2 + n2 + 1);
      for (const std::size_t d : order)
        p.start.push_back(10), p.count.push_back(size[d]), p.stride.push_back(stride[d]);
      std::vector<T> packed(p.elements());
      pack(p, p.type, reinterpret_cast<std::byte*>(packed.data()));
      CHECK(packed == expected<T>(p));
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

} // namespace

TEMPLATE_TEST_CASE("strided arrays are packed in the order of the file", "", std::int8_t,
                   std::int16_t, std::int32_t, std::int64_t, float, double) {
  check_all_orders<TestType>();
}

TEST_CASE("doubles are rounded to floats, also when transposed") {
  std::vector<double> memory(12 * 17);
  for (std::size_t n = 0; n < memory.size(); ++n) memory[n] = 0.1 * static_cast<double>(n);
  Hyperslab p = row_major({{0, 0}, {17, 12}}, reinterpret_cast<const std::byte*>(memory.data()),
                          Type::float64);
  p.stride = {1, 17};
  std::vector<float> packed(p.elements());
  pack(p, Type::float32, reinterpret_cast<std::byte*>(packed.data()));
  for (std::size_t a = 0; a < 17; ++a) {
    for (std::size_t b = 0; b < 12; ++b)
      CHECK(packed[a * 12 + b] == static_cast<float>(memory[b * 17 + a]));
  }
}

TEST_CASE("a slice is the part of a piece within a range") {
  std::vector<std::int32_t> memory(40);
  std::iota(memory.begin(), memory.end(), 0);
  const Hyperslab p{
      {{4, 0}, {5, 8}}, {8, 1}, reinterpret_cast<const std::byte*>(memory.data()), Type::int32};
  const Hyperslab s = slice(p, Box{{6, 1}, {94, 6}});
  CHECK(s == Box{{6, 1}, {3, 6}});
  CHECK(*reinterpret_cast<const std::int32_t*>(s.data) == 17);
  CHECK(slice(p, Box{{0, 0}, {4, 8}}).elements() == 0);
  CHECK(part_of(p, 2, 5) == Box{{6, 0}, {1, 8}});
  CHECK(slice(row_major({{0}, {0}}, nullptr, Type::int32), Box{{0, 0}, {4, 4}}).elements() == 0);
  const Box from{{4, 0, 0}, {5, 2, 4}}, to{{3, 1, 0}, {6, 1, 5}};
  for (const Box& part : {Box{{5, 1, 0}, {3, 1, 4}}, Box{{4, 1, 2}, {5, 1, 1}}, meet(from, to)}) {
    std::vector<std::int32_t> copied(30, -1), expected = copied;
    copy_values(part, from, p.data, to, reinterpret_cast<std::byte*>(copied.data()), 4);
    pack_into(to, reinterpret_cast<std::byte*>(expected.data()),
              slice(row_major(from, p.data, Type::int32), part), Type::int32);
    CHECK(copied == expected);
  }
}

TEST_CASE("values are scaled while they are packed, except missing ones") {
  constexpr double fill = -2e9, factor = 31556926.0;
  std::vector<double> memory(600);
  for (std::size_t n = 0; n < memory.size(); ++n)
    memory[n] = n % 7 == 3 ? fill : 1e-7 * static_cast<double>(n);
  std::vector<double> in_the_file(memory);
  for (double& v : in_the_file) v = v == fill ? v : v * factor;
  const auto slab_of = [](const std::vector<double>& values, const Indices& count,
                          const Strides& stride) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(values.data());
    Hyperslab slab = row_major({Indices(count.size(), 0), count}, bytes, Type::float64);
    slab.stride = stride;
    return slab;
  };
  const auto check = [&](const std::vector<std::size_t>& count,
                         const std::vector<std::ptrdiff_t>& stride) {
    for (const Type type : {Type::float64, Type::float32}) {
      Hyperslab slab = slab_of(memory, count, stride),
                reference = slab_of(in_the_file, count, stride);
      slab.scale = {factor, fill};
      CHECK_FALSE(is_packed(slab, type));
      ValueSum sum(count), expected_sum(count);
      slab.sum = &sum, reference.sum = &expected_sum;
      std::vector<std::byte> found(slab.elements() * bytes_of(type)), expected(found.size());
      pack(slab, type, found.data());
      pack(reference, type, expected.data());
      CHECK(found == expected);
      CHECK(sum.value() == expected_sum.value());
      slab.sum = nullptr; // runs have another loop then
      pack(slab, type, found.data());
      CHECK(found == expected);
      slab = row_major(slab, found.data(), type);
      Buffer unused;
      CHECK(packed(slab, type, unused) == found.data());
    }
  };
  check({600}, {1});
  check({20, 30}, {30, 1});
  check({30, 20}, {1, 30}); // transposed
  check({300}, {2});
}
