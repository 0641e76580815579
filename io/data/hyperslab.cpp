#include "io/data/hyperslab.hpp"

#include "io/data/value_sums.hpp"

#include <cmath>
#include <cstdlib>
#include <iterator>
#include <type_traits>

namespace nunatak::io {

namespace {

struct Loop {
  std::size_t count;
  std::ptrdiff_t from, to; // strides in memory and in the buffer
  std::uint64_t key;       // and of the keys in the sum
};

/// For slabs without a sum (else ValueSum).
struct NoSum {
  template <class T> void add(T /*value*/, std::uint64_t /*key*/) {}
  template <class From, class To>
  void copy(const From* from, To* to, std::size_t size, std::uint64_t /*key*/,
            std::uint64_t /*step*/) {
    std::copy(from, from + size, to);
  }
};

struct AsTheyAre {
  template <class T> T operator()(T value) const { return value; }
};

/// Two nested loops, in tiles that keep the lines of both sides in cache.
template <class From, class To, class Units, class Sum>
void copy_plane(const From* from, To* to, const Loop& a, const Loop& b, const Units& units,
                std::uint64_t key, Sum& sum) {
  constexpr std::size_t tile = 32;
  for (std::size_t m0 = 0; m0 < a.count; m0 += tile) {
    const std::size_t m1 = std::min(a.count, m0 + tile);
    for (std::size_t n0 = 0; n0 < b.count; n0 += tile) {
      const std::size_t n1 = std::min(b.count, n0 + tile);
      for (std::size_t m = m0; m < m1; ++m) {
        const From* f = from + static_cast<std::ptrdiff_t>(m) * a.from;
        To* t = to + static_cast<std::ptrdiff_t>(m) * a.to;
        for (std::size_t n = n0; n < n1; ++n) {
          const To value = static_cast<To>(units(f[static_cast<std::ptrdiff_t>(n) * b.from]));
          t[static_cast<std::ptrdiff_t>(n) * b.to] = value;
          sum.add(value, key + m * a.key + n * b.key);
        }
      }
    }
  }
}

template <class From, class To, class Units, class Sum>
void copy_row(const From* from, To* to, const Loop& row, const Units& units, std::uint64_t key,
              Sum& sum) {
  if (row.from == 1 && row.to == 1) {
    if constexpr (std::is_same_v<Units, AsTheyAre>) {
      sum.copy(from, to, row.count, key, row.key);
    } else {
      From scaled[256];
      for (std::size_t n = 0; n < row.count; n += std::size(scaled)) {
        const std::size_t some = std::min(std::size(scaled), row.count - n);
        std::transform(from + n, from + n + some, scaled, units);
        sum.copy(scaled, to + n, some, key + n * row.key, row.key);
      }
    }
    return;
  }
  for (std::size_t n = 0; n < row.count; ++n) {
    const To value = static_cast<To>(units(from[static_cast<std::ptrdiff_t>(n) * row.from]));
    to[static_cast<std::ptrdiff_t>(n) * row.to] = value;
    sum.add(value, key + n * row.key);
  }
}

/// The key of the first value of a slab, and the steps of keys along its dimensions.
std::uint64_t keys_of(const Hyperslab& slab, PerDimension<std::uint64_t>& steps) {
  steps.assign(slab.count.size(), 0);
  std::uint64_t key = ValueSum::K, step = ValueSum::K;
  if (slab.sum == nullptr) return 0;
  for (std::size_t d = slab.count.size(); d-- > 0; step *= slab.sum->shape()[d]) {
    steps[d] = step;
    key += slab.start[d] * step;
  }
  return key;
}

template <class From, class To, class Units, class Sum>
void pack_as(const Hyperslab& slab, std::byte* target, const Strides& target_stride,
             const Units& units, Sum& sum) {
  const auto* from = reinterpret_cast<const From*>(slab.data);
  auto* to = reinterpret_cast<To*>(target);
  PerDimension<std::uint64_t> steps;
  const std::uint64_t first_key = keys_of(slab, steps);
  // Loops over the dimensions, slowest of the file first, without those of one element. Dimensions
  // that are contiguous in memory, target and file are merged.
  std::array<Loop, Indices::most> loops;
  std::size_t n = 0;
  for (std::size_t d = 0; d < slab.count.size(); ++d) {
    const Loop loop{slab.count[d], slab.stride[d], target_stride[d], steps[d]};
    const auto length = static_cast<std::ptrdiff_t>(loop.count);
    if (loop.count == 1) continue;
    const Loop& slower = n > 0 ? loops[n - 1] : loop;
    if (n > 0 && slower.from == loop.from * length && slower.to == loop.to * length &&
        slower.key == loop.key * loop.count) {
      loops[n - 1] = {slower.count * loop.count, loop.from, loop.to, loop.key};
    } else {
      loops[n++] = loop;
    }
  }
  const Loop row = n > 0 ? loops[--n] : Loop{1, 1, 1, 0};
  if (n == 0) return copy_row(from, to, row, units, first_key, sum);
  // A plane: the fastest dimension of the file and, if different, that of the memory.
  Loop* const end = loops.data() + n;
  Loop* const fastest = std::min_element(loops.data(), end, [](const Loop& a, const Loop& b) {
    return std::abs(a.from) < std::abs(b.from);
  });
  const bool transposed = fastest != end && std::abs(fastest->from) < std::abs(row.from);
  const Loop column = transposed ? *fastest : Loop{1, 0, 0, 0};
  if (transposed) {
    std::copy(fastest + 1, end, fastest);
    n -= 1;
  }
  Indices index(n, 0), counts;
  for (std::size_t d = 0; d < n; ++d) counts.push_back(loops[d].count);
  do {
    const From* f = from;
    To* t = to;
    std::uint64_t key = first_key;
    for (std::size_t d = 0; d < n; ++d) {
      f += static_cast<std::ptrdiff_t>(index[d]) * loops[d].from;
      t += static_cast<std::ptrdiff_t>(index[d]) * loops[d].to;
      key += index[d] * loops[d].key;
    }
    if (transposed) {
      copy_plane(f, t, column, row, units, key, sum);
    } else {
      copy_row(f, t, row, units, key, sum);
    }
  } while (next_index(index, counts));
}

template <class From, class To>
void pack_as(const Hyperslab& slab, std::byte* target, const Strides& target_stride) {
  const auto pack_in = [&](const auto& units) {
    NoSum none;
    if (slab.sum == nullptr) return pack_as<From, To>(slab, target, target_stride, units, none);
    pack_as<From, To>(slab, target, target_stride, units, *slab.sum);
  };
  if constexpr (std::is_same_v<From, double>) {
    if (!slab.scale.is_one()) return pack_in(slab.scale);
  }
  pack_in(AsTheyAre());
}

/// `target_stride`: in elements of file_type, by dimension.
void pack(const Hyperslab& slab, Type file_type, std::byte* target, const Strides& target_stride) {
  if (slab.elements() == 0) return;
  if (slab.sum != nullptr) slab.sum->count(slab.elements());
  if (slab.type == Type::float64 && file_type == Type::float32)
    return pack_as<double, float>(slab, target, target_stride);
  with_type(slab.type, [&](auto zero) {
    pack_as<decltype(zero), decltype(zero)>(slab, target, target_stride);
  });
}

} // namespace

Strides contiguous_strides(const Indices& count) {
  Strides stride(count.size(), 0);
  std::ptrdiff_t next = 1;
  for (std::size_t d = count.size(); d-- > 0; next *= static_cast<std::ptrdiff_t>(count[d]))
    stride[d] = next;
  return stride;
}

void pack(const Hyperslab& slab, Type file_type, std::byte* target) {
  pack(slab, file_type, target, contiguous_strides(slab.count));
}

void pack_into(const Box& box, std::byte* values, const Hyperslab& slab, Type file_type) {
  if (slab.elements() == 0) return;
  pack(slab, file_type, values + place_in(box, slab) * bytes_of(file_type),
       contiguous_strides(box.count));
}

void add_to_sum(const Hyperslab& slab, Type file_type) {
  if (slab.sum == nullptr) return;
  alignas(double) std::byte nowhere[sizeof(double)];
  pack(slab, file_type, nowhere, Strides(slab.count.size(), 0));
}

Hyperslab row_major(const Box& box, const std::byte* values, Type type) {
  return {box, contiguous_strides(box.count), values, type};
}

Hyperslab slice(const Hyperslab& slab, const Box& box) {
  Hyperslab part = slab;
  if (slab.elements() > 0) static_cast<Box&>(part) = meet(slab, box);
  if (part.elements() == 0) return part;
  std::ptrdiff_t skipped = 0; // elements
  for (std::size_t d = 0; d < part.start.size(); ++d)
    skipped += static_cast<std::ptrdiff_t>(part.start[d] - slab.start[d]) * slab.stride[d];
  part.data += skipped * static_cast<std::ptrdiff_t>(bytes_of(slab.type));
  return part;
}

Hyperslab part_of(const Hyperslab& slab, std::size_t part, std::size_t n_parts) {
  if (n_parts == 1 || slab.elements() == 0) return slab;
  return slice(slab, part_of(static_cast<const Box&>(slab), part, n_parts));
}

std::byte* Buffer::of_size(std::size_t bytes) {
  if (m_size < bytes) {
    m_data.reset(); // release before the new allocation
    m_data.reset(new std::byte[bytes]);
    m_size = bytes;
  }
  return m_data.get();
}

bool is_packed(const Hyperslab& slab, Type file_type) {
  if (slab.type != file_type || !slab.scale.is_one()) return false;
  const Strides contiguous = contiguous_strides(slab.count);
  for (std::size_t d = 0; d < slab.count.size(); ++d) {
    if (slab.count[d] != 1 && slab.stride[d] != contiguous[d]) return false;
  }
  return true;
}

const std::byte* packed(const Hyperslab& slab, Type file_type, Buffer& buffer) {
  if (slab.elements() == 0 || is_packed(slab, file_type)) {
    add_to_sum(slab, file_type);
    return slab.data;
  }
  std::byte* target = buffer.of_size(slab.elements() * bytes_of(file_type));
  pack(slab, file_type, target);
  return target;
}

std::vector<const std::byte*> Waiting::keep(const Slabs& slabs, Type file_type) {
  const auto stays = [&](const Hyperslab& s) { return s.lasting && is_packed(s, file_type); };
  std::size_t elements = 0;
  for (const Hyperslab& slab : slabs) elements += stays(slab) ? 0 : slab.elements();
  if (m_used == m_copies.size()) m_copies.emplace_back();
  std::byte* copy = m_copies[m_used++].of_size(elements * bytes_of(file_type));
  std::vector<const std::byte*> values;
  values.reserve(slabs.size());
  for (const Hyperslab& slab : slabs) {
    if (stays(slab)) {
      add_to_sum(slab, file_type);
      values.push_back(slab.data);
    } else {
      pack(slab, file_type, copy);
      values.push_back(copy);
      copy += slab.elements() * bytes_of(file_type);
    }
  }
  return values;
}

} // namespace nunatak::io
