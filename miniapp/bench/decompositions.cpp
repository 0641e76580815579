// Who owns what: decompositions that are computed, and the boxes of a rank. See workload.hpp.
#include "common/error.hpp"
#include "miniapp/base/printed.hpp"
#include "miniapp/bench/workload.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>

namespace nunatak::bench {

namespace {

using Ranks = std::vector<std::size_t>;

/// Factors of `ranks`, one for each dimension: patches as square as possible, those with the least
/// surface. Of equals those with fewer parts along the first dimensions.
Ranks square_patches(const Indices& shape, std::size_t ranks) {
  Ranks best;
  double least = 0.0;
  const std::function<void(Ranks, std::size_t)> go_on = [&](Ranks parts, std::size_t rest) {
    if (parts.size() + 1 < shape.size()) {
      for (std::size_t p = 1; p <= rest; ++p) {
        if (rest % p != 0) continue;
        parts.push_back(p);
        go_on(parts, rest / p);
        parts.pop_back();
      }
      return;
    }
    parts.push_back(rest);
    double surface = 0.0; // of a patch, half of it
    for (std::size_t a = 0; a < parts.size(); ++a) {
      double side = 1.0;
      for (std::size_t b = 0; b < parts.size(); ++b)
        side *= a == b ? 1.0 : static_cast<double>(shape[b]) / static_cast<double>(parts[b]);
      surface += side;
    }
    if (best.empty() || surface < least) {
      best = parts;
      least = surface;
    }
  };
  go_on({}, ranks);
  return best;
}

/// As equal as possible, the larger one first.
Ranks equal_factors(const Indices&, std::size_t ranks) {
  const Ranks small_first = square_patches({1, 1}, ranks);
  return {small_first[1], small_first[0]};
}

/// Place of cell (x, y) of a square with 2^k x 2^k cells on Hilbert's curve.
std::uint64_t hilbert(int k, std::uint64_t x, std::uint64_t y) {
  std::uint64_t place = 0;
  for (std::uint64_t side = std::uint64_t{1} << k >> 1; side > 0; side /= 2) {
    const bool right = (x & side) != 0, up = (y & side) != 0;
    place = 4 * place + (right ? (up ? 2 : 3) : (up ? 1 : 0));
    x &= side - 1;
    y &= side - 1;
    if (up) continue;
    if (right) {
      x = side - 1 - x;
      y = side - 1 - y;
    }
    std::swap(x, y);
  }
  return place;
}

/// Equal pieces of a curve for the ranks: the rank of each cell, from its place on the curve.
Ranks deal_curve(const std::vector<std::uint64_t>& place, std::size_t ranks) {
  std::vector<std::size_t> order(place.size()), owner(place.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return place[a] < place[b]; });
  for (std::size_t n = 0; n < order.size(); ++n) owner[order[n]] = n * ranks / order.size();
  return owner;
}

/// Columns on the spectral elements of a cubed sphere, 6 ne^2 with nine columns of their own each,
/// numbered one after another, and two more: elements in equal pieces of a curve.
Ranks cubed_sphere(const Indices& shape, std::size_t ranks) {
  const double faces = std::max(54.0, static_cast<double>(shape[0]) - 2.0) / 54.0;
  const auto ne = static_cast<std::size_t>(std::lround(std::sqrt(faces)));
  int k = 0;
  while (std::size_t{1} << k < ne) ++k;
  std::vector<std::uint64_t> place(6 * ne * ne);
  for (std::size_t e = 0; e < place.size(); ++e)
    place[e] = (e / ne / ne << 2 * k) + hilbert(k, e % ne, e / ne % ne);
  const Ranks of_element = deal_curve(place, ranks);
  Ranks owner(shape[0]);
  for (std::size_t c = 0; c < owner.size(); ++c)
    owner[c] = of_element[std::min(c / 9, place.size() - 1)];
  return owner;
}

/// Physics: every second column is exchanged with the rank half the curve away.
Ranks exchanged_sphere(const Indices& shape, std::size_t ranks) {
  Ranks owner = cubed_sphere(shape, ranks);
  for (std::size_t c = 1; c < owner.size(); c += 2) owner[c] = (owner[c] + ranks / 2) % ranks;
  return owner;
}

/// Numbers that do not follow the pieces of an unstructured mesh: every cell is a run.
Ranks golden(const Indices& shape, std::size_t ranks) {
  const std::size_t n = shape[0];
  auto step = static_cast<std::size_t>(0.618 * static_cast<double>(n)); // from place to place
  while (std::gcd(step, n) != 1) ++step;
  Ranks owner(n);
  for (std::size_t c = 0; c < n; ++c) owner[c] = c * step % n * ranks / n;
  return owner;
}

/// Land cells, row by row, in 20 segments per rank, dealt round-robin; the others in equal pieces.
Ranks land_segments(const Indices& shape, std::size_t ranks) {
  Ranks owner(shape[0] * shape[1]), land, ocean;
  for (std::size_t c = 0; c < owner.size(); ++c) {
    const double y = static_cast<double>(c / shape[1]), x = static_cast<double>(c % shape[1]);
    const bool is_land = is_continent((y + 0.5) / static_cast<double>(shape[0]),
                                      (x + 0.5) / static_cast<double>(shape[1]));
    (is_land ? land : ocean).push_back(c);
  }
  for (std::size_t n = 0; n < land.size(); ++n)
    owner[land[n]] = n * 20 * ranks / land.size() % ranks;
  for (std::size_t n = 0; n < ocean.size(); ++n) owner[ocean[n]] = n * ranks / ocean.size();
  return owner;
}

/// 80 4^k triangles of an icosahedron, numbered root by root, the four parts of a triangle one
/// after another; the ranks have equal pieces of Hilbert's curve through the unfolded icosahedron,
/// so that a rank's edge cuts the parts into shorter runs.
Ranks icosahedron(const Indices& shape, std::size_t ranks) {
  const std::size_t of_root = shape[0] / 20;
  int k = 0;
  while (std::size_t{4} << 2 * k < of_root) ++k;
  if (std::size_t{80} << 2 * k != shape[0])
    throw Error("decomposition icosahedron: expected 80 4^k cells, found " +
                std::to_string(shape[0]));
  using Point = std::complex<double>;
  const int bits = k + 6; // cells of the curve are smaller than a triangle
  const double height = std::sqrt(0.75), size = std::ldexp(1.0, bits) / 8;
  std::vector<std::uint64_t> place;
  for (std::size_t cell = 0; cell < shape[0]; ++cell) {
    const std::size_t root = cell / of_root, row = root / 5;
    const double x = static_cast<double>(root % 5) + 0.5 * static_cast<double>((row + 1) / 2),
                 low = height * static_cast<double>((row + 1) / 2),
                 tip = row % 2 == 0 ? low + height : low - height;
    Point a(x, low), b(x + 1, low), c(x + 0.5, tip);
    for (int digit = k; digit >= 0; --digit) {
      const Point ab = (a + b) / 2.0, bc = (b + c) / 2.0, ca = (c + a) / 2.0;
      const std::size_t part = cell >> 2 * digit & 3;
      a = part == 1 ? ab : part == 2 ? ca : part == 3 ? bc : a;
      b = part == 0 ? ab : part == 2 ? bc : part == 3 ? ca : b;
      c = part == 0 ? ca : part == 1 ? bc : part == 3 ? ab : c;
    }
    const Point middle = (a + b + c) / 3.0 * size;
    place.push_back(hilbert(bits, static_cast<std::uint64_t>(middle.real()),
                            static_cast<std::uint64_t>(middle.imag())));
  }
  return deal_curve(place, ranks);
}

} // namespace

bool is_continent(double y, double x) {
  return (x < 0.36 && y > 0.48) || (x > 0.60 && x < 0.70 && y > 0.20) || y < 0.06;
}

Deal deal_runs(std::size_t length) {
  return [=](const Indices& shape, std::size_t ranks) {
    Ranks owner(Box{{}, shape}.elements());
    for (std::size_t c = 0; c < owner.size(); ++c) owner[c] = c / length % ranks;
    return owner;
  };
}

Deal deal_owners(const std::vector<double>& map, const Indices& whole) {
  const auto [least, most] = std::minmax_element(map.begin(), map.end());
  return
      [=, first = *least, parts = *most - *least + 1.0](const Indices& shape, std::size_t ranks) {
        Ranks owner;
        Indices index(shape.size(), 0);
        do {
          std::size_t cell = 0; // of the whole map
          for (std::size_t d = 0; d < shape.size(); ++d)
            cell = cell * whole[d] + index[d] * whole[d] / shape[d];
          owner.push_back(static_cast<std::size_t>(map[cell] - first) * ranks /
                          static_cast<std::size_t>(parts));
        } while (io::next_index(index, shape));
        return owner;
      };
}

std::vector<double> owners_by_runs(const io::Reader& in, const std::string& name,
                                   const Indices& shape, const std::string& where) {
  const std::vector<double> counts = in.read_all(name + ".nreqs"),
                            first = in.read_all(name + ".offsets"),
                            sizes = in.read_all(name + ".lengths"),
                            dims = in.numbers("", name + ".dims").value_or(std::vector<double>{});
  const double cells = cells_of(shape), all = cells_of(dims);
  const bool fast = dims.size() >= shape.size() &&
                    std::equal(shape.begin(), shape.end(), dims.begin()),
             slow = dims.size() >= shape.size() &&
                    std::equal(shape.begin(), shape.end(),
                               dims.end() - static_cast<std::ptrdiff_t>(shape.size()));
  if (!(fast || slow) || cells > 0x1p32 || all > 0x1p48)
    throw Error(where + ": expected lengths " + name + ".dims of the map that begin or end with " +
                io::in_words(shape) + ", of at most 2^32 cells, found " +
                printed("'%.0f cells'", all));
  const double levels = fast ? all / cells : 1.0;
  const auto sum = [](const std::vector<double>& numbers) {
    return std::accumulate(numbers.begin(), numbers.end(), 0.0);
  };
  const auto is_number = [](double x) { return x >= 0.0 && x <= 0x1p48 && x == std::floor(x); };
  bool fits = first.size() == sizes.size() && sum(sizes) == all &&
              sum(counts) == static_cast<double>(first.size());
  for (const auto* list : {&counts, &first, &sizes})
    fits = fits && std::all_of(list->begin(), list->end(), is_number);
  std::vector<double> owner(fits ? static_cast<std::size_t>(cells) : 0, -1.0);
  std::size_t run = 0;
  for (std::size_t rank = 0; fits && rank < counts.size(); ++rank) {
    for (double n = 0.0; n < counts[rank]; ++n, ++run) {
      const double end = std::min(std::ceil((first[run] + sizes[run]) / levels), cells);
      for (double c = std::ceil(first[run] / levels); c < end; ++c)
        owner[static_cast<std::size_t>(c)] = static_cast<double>(rank);
    }
  }
  if (!fits || std::count(owner.begin(), owner.end(), -1.0) > 0)
    throw Error(where + ": expected runs in " + name + ".nreqs, .offsets and .lengths that have " +
                printed("each of %.0f cells once, found other ones", all));
  return owner;
}

const std::vector<Ownership>& decompositions() {
  static const std::vector<Ownership> all = {{"blocks", false, square_patches, Indices::most},
                                             {"factors", false, equal_factors, 2},
                                             {"owners", true, nullptr, Indices::most},
                                             {"runs", true, nullptr, Indices::most},
                                             {"golden", true, golden, 1},
                                             {"land-segments", true, land_segments, 2},
                                             {"cubed-sphere", true, cubed_sphere, 1},
                                             {"cubed-sphere-exchanged", true, exchanged_sphere, 1},
                                             {"icosahedron", true, icosahedron, 1}};
  return all;
}

namespace {

/// The box of a rank by its position in the rank grid of so many parts, land or not.
Box plain_box(const Workload& w, const WorkloadVariable& v, std::size_t rank, const Ranks& parts) {
  Ranks at(parts.size());
  for (std::size_t a = parts.size(), rest = rank; a-- > 0; rest /= parts[a])
    at[a] = rest % parts[a];
  Box box = w.box(v);
  for (std::size_t n = 0; n < v.dimensions.size(); ++n) {
    const WorkloadDimension& d = w.dimensions[v.dimensions[n]];
    if (d.decomposition == none) continue;
    const std::size_t p = at[d.axis];
    box.start[n] = d.length * p / parts[d.axis];
    box.count[n] = d.length * (p + 1) / parts[d.axis] - box.start[n];
    at[d.axis] = 0; // met
  }
  for (const std::size_t a : at) // of an axis without a dimension only the first ranks
    if (a > 0) box.count.assign(box.count.size(), 0);
  return box;
}

bool is_all_missing(const Workload& w, const WorkloadVariable& v, const Box& box) {
  const auto place = [&](std::size_t d) {
    return std::find(v.dimensions.begin(), v.dimensions.end(), d) - v.dimensions.begin();
  };
  const auto y = place(w.mask[0]), x = place(w.mask[1]);
  for (std::size_t j = box.start[y]; j < box.start[y] + box.count[y]; ++j)
    for (std::size_t i = box.start[x]; i < box.start[x] + box.count[x]; ++i)
      if (!w.is_missing(j, i)) return false;
  return true;
}

/// The runs of a scattered variable, whose cut dimensions follow one another.
std::vector<Box> scattered_boxes(const Workload& w, const WorkloadVariable& v, std::size_t rank,
                                 std::size_t ranks) {
  Box box = w.box(v);
  Indices cut, shape;
  for (std::size_t n = 0; n < v.dimensions.size(); ++n) {
    if (w.dimensions[v.dimensions[n]].decomposition == none) continue;
    cut.push_back(n);
    shape.push_back(box.count[n]);
  }
  const std::vector<std::size_t> owner = w.decompositions[v.decomposition].deal(shape, ranks);
  std::vector<std::size_t> n_runs(ranks, 0);
  std::vector<Box> boxes;
  for (std::size_t begin = 0, end = 0; begin < owner.size(); begin = end) {
    end = begin + 1;
    while (end % shape.back() != 0 && owner[end] == owner[begin]) ++end;
    n_runs[owner[begin]] += 1;
    if (owner[begin] != rank) continue;
    for (std::size_t n = cut.size(), rest = begin; n-- > 0; rest /= shape[n]) {
      box.start[cut[n]] = rest % shape[n];
      box.count[cut[n]] = 1;
    }
    box.count[cut.back()] = end - begin;
    boxes.push_back(box);
  }
  boxes.resize(*std::max_element(n_runs.begin(), n_runs.end()),
               {box.start, Indices(box.count.size(), 0)});
  return boxes;
}

} // namespace

std::vector<Box> boxes_of(const Workload& w, const WorkloadVariable& v, std::size_t rank,
                          std::size_t ranks) {
  if (w.is_scattered(v)) return scattered_boxes(w, v, rank, ranks);
  const Ownership& cut = w.decompositions[v.decomposition];
  const Ranks parts = cut.deal(w.lengths(cut.dimensions), ranks);
  if (v.content != Content::masked) return {plain_box(w, v, rank, parts)};
  std::vector<std::vector<Box>> boxes(ranks);
  std::size_t owner = none, most = 0;
  for (std::size_t k = 0; k < 2 * ranks; ++k) { // the first round finds who writes for rank 0
    const std::size_t r = k % ranks;
    const Box box = plain_box(w, v, r, parts);
    if (!is_all_missing(w, v, box)) owner = r;
    if (k < ranks) continue;
    std::vector<Box>& own = boxes[owner == none ? r : owner];
    own.insert(owner == r ? own.begin() : own.end(), box);
    most = std::max(most, own.size());
  }
  const Indices zero(v.dimensions.size(), 0);
  boxes[rank].resize(most, {zero, zero});
  return boxes[rank];
}

} // namespace nunatak::bench
