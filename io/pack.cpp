// Strided copies. See pack.hpp.
#include "io/pack.hpp"

#include <algorithm>
#include <cstdlib>

namespace nunatak::io {

std::size_t Piece::elements() const {
  if (empty) return 0;
  std::size_t n = 1;
  for (const std::size_t c : count) n *= c;
  return n;
}

namespace {

struct Loop {
  std::size_t count;
  std::ptrdiff_t from, to; // strides in memory and in the buffer
};

/// Two nested loops, in tiles that keep the lines of both sides in cache.
template <class From, class To> void copy_plane(const From* from, To* to, const Loop& a, const Loop& b) {
  constexpr std::size_t tile = 32;
  for (std::size_t m0 = 0; m0 < a.count; m0 += tile) {
    const std::size_t m1 = std::min(a.count, m0 + tile);
    for (std::size_t n0 = 0; n0 < b.count; n0 += tile) {
      const std::size_t n1 = std::min(b.count, n0 + tile);
      for (std::size_t m = m0; m < m1; ++m) {
        const From* f = from + static_cast<std::ptrdiff_t>(m) * a.from;
        To* t = to + static_cast<std::ptrdiff_t>(m) * a.to;
        for (std::size_t n = n0; n < n1; ++n) {
          t[static_cast<std::ptrdiff_t>(n) * b.to] = static_cast<To>(f[static_cast<std::ptrdiff_t>(n) * b.from]);
        }
      }
    }
  }
}

template <class From, class To> void copy_row(const From* from, To* to, const Loop& row) {
  if (row.from == 1 && row.to == 1) {
    std::copy(from, from + row.count, to);
  } else {
    for (std::size_t n = 0; n < row.count; ++n)
      to[static_cast<std::ptrdiff_t>(n) * row.to] = static_cast<To>(from[static_cast<std::ptrdiff_t>(n) * row.from]);
  }
}

template <class From, class To>
void pack_as(const Piece& piece, std::byte* target, const std::vector<std::ptrdiff_t>& target_stride) {
  const auto* from = reinterpret_cast<const From*>(piece.data);
  auto* to = reinterpret_cast<To*>(target);
  // Loops over the dimensions, slowest of the file first. Dimensions of one element do not matter.
  // Neighbours that are one run in memory and in the target become one loop.
  std::vector<Loop> loops;
  for (std::size_t d = 0; d < piece.count.size(); ++d) {
    const Loop loop{piece.count[d], piece.stride[d], target_stride[d]};
    const auto length = static_cast<std::ptrdiff_t>(loop.count);
    if (loop.count == 1) continue;
    if (!loops.empty() && loops.back().from == loop.from * length && loops.back().to == loop.to * length) {
      loops.back() = {loops.back().count * loop.count, loop.from, loop.to};
    } else {
      loops.push_back(loop);
    }
  }
  if (loops.empty()) loops.push_back({1, 1, 1});
  const Loop row = loops.back();
  loops.pop_back();
  // A plane: the file's fastest dimension and, if it is another one, memory's fastest.
  const auto fastest = std::min_element(loops.begin(), loops.end(),
                                        [](const Loop& a, const Loop& b) { return std::abs(a.from) < std::abs(b.from); });
  const bool transposed = fastest != loops.end() && std::abs(fastest->from) < std::abs(row.from);
  Loop column{1, 0, 0};
  if (transposed) {
    column = *fastest;
    loops.erase(fastest);
  }
  std::vector<std::size_t> index(loops.size(), 0);
  while (true) {
    const From* f = from;
    To* t = to;
    for (std::size_t d = 0; d < loops.size(); ++d) {
      f += static_cast<std::ptrdiff_t>(index[d]) * loops[d].from;
      t += static_cast<std::ptrdiff_t>(index[d]) * loops[d].to;
    }
    if (transposed) {
      copy_plane(f, t, column, row);
    } else {
      copy_row(f, t, row);
    }
    std::size_t d = loops.size();
    while (d > 0 && ++index[d - 1] == loops[d - 1].count) index[--d] = 0;
    if (d == 0) return;
  }
}

} // namespace

std::vector<std::ptrdiff_t> contiguous_strides(const std::vector<std::size_t>& count) {
  std::vector<std::ptrdiff_t> stride(count.size());
  std::ptrdiff_t next = 1;
  for (std::size_t d = count.size(); d-- > 0; next *= static_cast<std::ptrdiff_t>(count[d])) stride[d] = next;
  return stride;
}

void pack(const Piece& piece, Type file_type, std::byte* target) {
  pack(piece, file_type, target, contiguous_strides(piece.count));
}

void pack(const Piece& piece, Type file_type, std::byte* target, const std::vector<std::ptrdiff_t>& target_stride) {
  if (piece.elements() == 0) return;
  switch (piece.type) {
  case Type::int8:
    return pack_as<std::int8_t, std::int8_t>(piece, target, target_stride);
  case Type::int16:
    return pack_as<std::int16_t, std::int16_t>(piece, target, target_stride);
  case Type::int32:
    return pack_as<std::int32_t, std::int32_t>(piece, target, target_stride);
  case Type::int64:
    return pack_as<std::int64_t, std::int64_t>(piece, target, target_stride);
  case Type::float32:
    return pack_as<float, float>(piece, target, target_stride);
  case Type::float64:
    if (file_type == Type::float32) return pack_as<double, float>(piece, target, target_stride);
    return pack_as<double, double>(piece, target, target_stride);
  }
}

Piece slice(const Piece& piece, std::size_t d, std::size_t first, std::size_t last) {
  Piece part = piece;
  part.empty = piece.elements() == 0;
  if (part.empty) return part;
  const std::size_t begin = std::max(first, piece.start[d]), end = std::min(last, piece.start[d] + piece.count[d]);
  part.empty = begin >= end;
  if (part.empty) return part;
  part.start[d] = begin;
  part.count[d] = end - begin;
  const auto skipped = static_cast<std::ptrdiff_t>(begin - piece.start[d]);
  part.data += skipped * piece.stride[d] * static_cast<std::ptrdiff_t>(bytes_of(piece.type));
  return part;
}

Piece part_of(const Piece& piece, std::size_t part, std::size_t n_parts) {
  if (n_parts == 1 || piece.elements() == 0 || piece.count.empty()) return piece;
  const auto enough = std::find_if(piece.count.begin(), piece.count.end(), [&](std::size_t c) { return c >= n_parts; });
  const auto along = enough != piece.count.end() ? enough : std::max_element(piece.count.begin(), piece.count.end());
  const auto d = static_cast<std::size_t>(along - piece.count.begin());
  return slice(piece, d, piece.start[d] + *along * part / n_parts, piece.start[d] + *along * (part + 1) / n_parts);
}

std::byte* Buffer::of_size(std::size_t bytes) {
  if (m_size < bytes) {
    m_data.reset(); // before the new one is allocated
    m_data.reset(new std::byte[bytes]);
    m_size = bytes;
  }
  return m_data.get();
}

bool is_packed(const Piece& piece, Type file_type) {
  if (piece.type != file_type) return false;
  std::ptrdiff_t contiguous = 1;
  for (std::size_t d = piece.count.size(); d-- > 0;) {
    if (piece.count[d] != 1 && piece.stride[d] != contiguous) return false;
    contiguous *= static_cast<std::ptrdiff_t>(piece.count[d]);
  }
  return true;
}

const std::byte* packed(const Piece& piece, Type file_type, Buffer& buffer) {
  if (piece.elements() == 0 || is_packed(piece, file_type)) return piece.data;
  std::byte* target = buffer.of_size(piece.elements() * bytes_of(file_type));
  pack(piece, file_type, target);
  return target;
}

} // namespace nunatak::io
