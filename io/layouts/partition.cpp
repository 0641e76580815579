#include "io/layouts/partition.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>

namespace nunatak::io {

namespace {

/// First index of part `n` of `parts` nearly equal parts of 0 .. length-1.
std::size_t first_of(std::size_t length, std::size_t n, std::size_t parts) {
  return length * n / parts;
}

/// The largest r with r^n <= x, of at least 1.
std::size_t root(std::size_t x, std::size_t n) {
  constexpr double rounding = 1e-12;
  return static_cast<std::size_t>(std::pow(static_cast<double>(x), 1.0 / static_cast<double>(n)) *
                                  (1.0 + rounding));
}

/// Lengths of a tile of about `cells` cells, as nearly equal as possible.
std::vector<std::size_t> tile_of(const std::vector<std::size_t>& lengths, std::size_t cells) {
  std::vector<std::size_t> order(lengths.size()), tile(lengths.size(), 1);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return lengths[a] < lengths[b]; });
  for (std::size_t n = 0; n < order.size(); ++n) {
    std::size_t& length = tile[order[n]];
    length = std::min(lengths[order[n]], root(cells, order.size() - n));
    cells = std::max<std::size_t>(1, cells / length);
  }
  return tile;
}

/// The grid of `n` aggregators with the shortest subdomain boundaries: least sum of n_d / length_d.
/// Empty aggregators only if unavoidable; of equals, the one with most cuts along the first axis.
std::vector<std::size_t> make_grid(const std::vector<std::size_t>& lengths, std::size_t n) {
  std::vector<std::size_t> grid(lengths.size(), 1), best;
  bool best_fits = false;
  double best_length = 0.0;
  const std::function<void(std::size_t, std::size_t)> choose = [&](std::size_t axis,
                                                                   std::size_t left) {
    if (axis + 1 < lengths.size()) {
      for (std::size_t k = left; k > 0; --k) {
        if (left % k == 0) {
          grid[axis] = k;
          choose(axis + 1, left / k);
        }
      }
      return;
    }
    grid[axis] = left;
    bool fits = true;
    double length_of_cuts = 0.0;
    for (std::size_t d = 0; d < grid.size(); ++d) {
      fits = fits && grid[d] <= lengths[d];
      length_of_cuts += static_cast<double>(grid[d]) / static_cast<double>(lengths[d]);
    }
    if (best.empty() || (fits && !best_fits) ||
        (fits == best_fits && length_of_cuts < best_length * (1.0 - 1e-12))) {
      best = grid;
      best_fits = fits;
      best_length = length_of_cuts;
    }
  };
  if (!lengths.empty()) choose(0, n);
  return best;
}

} // namespace

std::vector<std::size_t> distributed_places(const Schema& schema, std::size_t v) {
  std::vector<std::size_t> places;
  const Variable& variable = schema.variables[v];
  const std::size_t lead = schema.has_records(variable) ? 1 : 0;
  for (std::size_t n = lead; n < variable.dimensions.size(); ++n) {
    if (schema.dimensions[schema.dimension(variable.dimensions[n])].distributed)
      places.push_back(n - lead);
  }
  return places;
}

Boxes slab_boxes(const Schema& schema, std::size_t v, std::size_t aggregators) {
  const Box whole = whole_box(schema, v);
  Boxes boxes(aggregators);
  // lab 8 begin: slabs along the slowest dimension | stub: throw "lab 8: not written yet";
  if (whole.count.empty()) {
    boxes[0] = {whole};
    return boxes;
  }
  for (std::size_t a = 0; a < aggregators; ++a) {
    Box slab = whole;
    slab.start[0] = first_of(whole.count[0], a, aggregators);
    slab.count[0] = first_of(whole.count[0], a + 1, aggregators) - slab.start[0];
    if (slab.count[0] > 0) boxes[a] = {slab};
  }
  return boxes;
  // lab 8 end
}

bool morton_less(const Indices& a, const Indices& b) {
  // the index with the highest differing bit decides; of equals the first
  std::size_t decides = 0, highest = 0;
  for (std::size_t d = 0; d < a.size(); ++d) {
    const std::size_t bits = a[d] ^ b[d];
    if (highest < bits && highest < (highest ^ bits)) {
      decides = d;
      highest = bits;
    }
  }
  return !a.empty() && a[decides] < b[decides];
}

Boxes morton_boxes(const Schema& schema, std::size_t v, std::size_t aggregators,
                   std::size_t stripe) {
  const Box whole = whole_box(schema, v);
  const std::vector<std::size_t> places = distributed_places(schema, v);
  Boxes boxes(aggregators);
  if (places.empty()) {
    boxes[0] = {whole};
    return boxes;
  }
  std::vector<std::size_t> lengths;
  std::size_t column = whole.elements() * bytes_of(schema.variables[v].type); // bytes of one cell
  for (const std::size_t d : places) {
    lengths.push_back(whole.count[d]);
    column /= whole.count[d];
  }
  const std::vector<std::size_t> tile = tile_of(lengths, std::max<std::size_t>(1, stripe / column));
  Indices n_tiles;
  for (std::size_t n = 0; n < places.size(); ++n)
    n_tiles.push_back((lengths[n] + tile[n] - 1) / tile[n]);

  std::vector<Indices> tiles;
  Indices tile_index(n_tiles.size(), 0);
  do {
    tiles.push_back(tile_index);
  } while (next_index(tile_index, n_tiles));
  std::sort(tiles.begin(), tiles.end(), morton_less);
  const std::size_t total = whole.elements();
  std::size_t before = 0; // elements of the tiles so far
  for (const Indices& index : tiles) {
    Box box = whole;
    for (std::size_t n = 0; n < places.size(); ++n) {
      box.start[places[n]] = index[n] * tile[n];
      box.count[places[n]] = std::min(tile[n], lengths[n] - index[n] * tile[n]);
    }
    const std::size_t elements = box.elements(), middle = before + (elements - 1) / 2;
    boxes[middle * aggregators / total].push_back(box);
    before += elements;
  }
  return boxes;
}

Rectangles::Rectangles(const Schema& schema, std::size_t aggregators)
    : m_schema(schema), m_aggregators(aggregators), m_axis(schema.dimensions.size(), uncut) {
  // by variable: its distributed dimensions; most dimensions first
  std::vector<std::vector<std::size_t>> meetings;
  for (std::size_t v = 0; v < schema.variables.size(); ++v) {
    const Variable& variable = schema.variables[v];
    std::vector<std::size_t> dims;
    const std::size_t lead = schema.has_records(variable) ? 1 : 0;
    for (const std::size_t place : distributed_places(schema, v))
      dims.push_back(schema.dimension(variable.dimensions[place + lead]));
    if (!dims.empty()) meetings.push_back(dims);
  }
  std::stable_sort(meetings.begin(), meetings.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });

  for (const auto& dims : meetings) {
    for (std::size_t n = 0; n < dims.size(); ++n) {
      if (m_axis[dims[n]] == uncut) m_axis[dims[n]] = dims.size() > 1 ? static_cast<int>(n) : alone;
    }
  }
  // of two dimensions of a variable on one axis only the first can be cut
  for (const auto& dims : meetings) {
    std::set<int> taken;
    for (const std::size_t d : dims) {
      if (m_axis[d] != uncut && !taken.insert(m_axis[d]).second) m_axis[d] = uncut;
    }
  }
  const std::size_t n_axes = meetings.empty() || meetings[0].size() == 1 ? 0 : meetings[0].size();
  // the least of each axis
  std::vector<std::size_t> lengths(n_axes, static_cast<std::size_t>(-1));
  for (std::size_t d = 0; d < m_axis.size(); ++d) {
    const std::size_t length = schema.dimensions[d].length;
    if (m_axis[d] >= 0) {
      std::size_t& least = lengths[static_cast<std::size_t>(m_axis[d])];
      least = std::min(least, length);
    }
    if (m_axis[d] == alone) m_fits = m_fits && aggregators <= length;
  }
  m_cuts_something =
      std::any_of(m_axis.begin(), m_axis.end(), [](int axis) { return axis != uncut; });
  m_grid = make_grid(lengths, aggregators);
  for (std::size_t axis = 0; axis < m_grid.size(); ++axis)
    m_fits = m_fits && m_grid[axis] <= lengths[axis];
}

std::size_t Rectangles::index(int axis, std::size_t a) const {
  for (std::size_t e = m_grid.size() - 1; e > static_cast<std::size_t>(axis); --e) a /= m_grid[e];
  return a % m_grid[static_cast<std::size_t>(axis)];
}

Rectangles::Range Rectangles::range(std::size_t d, std::size_t a) const {
  const std::size_t length = m_schema.dimensions[d].length;
  if (m_axis[d] == uncut) return {0, length};
  const std::size_t n = m_axis[d] == alone ? a : index(m_axis[d], a);
  const std::size_t parts =
      m_axis[d] == alone ? m_aggregators : m_grid[static_cast<std::size_t>(m_axis[d])];
  const std::size_t first = first_of(length, n, parts);
  return {first, first_of(length, n + 1, parts) - first};
}

Boxes Rectangles::boxes(std::size_t v, bool repeated) const {
  const Variable& variable = m_schema.variables[v];
  const std::size_t lead = m_schema.has_records(variable) ? 1 : 0;
  std::set<int> axes;
  for (std::size_t n = lead; n < variable.dimensions.size(); ++n)
    axes.insert(m_axis[m_schema.dimension(variable.dimensions[n])]);
  Boxes boxes(m_aggregators);
  for (std::size_t a = 0; a < m_aggregators; ++a) {
    bool is_owner = true;
    if (!(repeated && m_cuts_something) && axes.count(alone) == 0) {
      is_owner = !m_grid.empty() || a == 0;
      for (std::size_t axis = 0; axis < m_grid.size(); ++axis)
        is_owner = is_owner && (axes.count(static_cast<int>(axis)) > 0 ||
                                index(static_cast<int>(axis), a) == 0);
    }
    if (!is_owner) continue;
    Box box = whole_box(m_schema, v);
    for (std::size_t n = lead; n < variable.dimensions.size(); ++n) {
      const Range r = range(m_schema.dimension(variable.dimensions[n]), a);
      box.start[n - lead] = r.first;
      box.count[n - lead] = r.count;
    }
    if (box.elements() > 0) boxes[a] = {box};
  }
  return boxes;
}

std::size_t Rectangles::most(const Schema& schema, std::size_t aggregators) {
  if (!Rectangles(schema, 1).m_cuts_something) return 0;
  while (aggregators > 1 && !Rectangles(schema, aggregators).m_fits) --aggregators;
  return aggregators;
}

std::size_t elements_of(const std::vector<Box>& boxes) {
  std::size_t elements = 0;
  for (const Box& box : boxes) elements += box.elements();
  return elements;
}

std::vector<Box> part_of(const std::vector<Box>& boxes, std::size_t part, std::size_t n_parts) {
  if (n_parts == 1 || boxes.empty()) return boxes;
  const std::size_t cuts = (n_parts + boxes.size() - 1) / boxes.size(); // parts per box
  const std::size_t first = first_of(boxes.size() * cuts, part, n_parts),
                    last = first_of(boxes.size() * cuts, part + 1, n_parts);
  std::vector<Box> result;
  for (std::size_t n = first; n < last; ++n) {
    const Box box = part_of(boxes[n / cuts], n % cuts, cuts);
    const bool is_scalar = box.count.empty(); // which cannot be cut
    if (is_scalar ? n % cuts == 0 : box.elements() > 0) result.push_back(box);
  }
  return result;
}

} // namespace nunatak::io
