// Components of PICO's codes, and what follows from them for each cell: on the host, by segments of
// a row that have one code.
#pragma once

#include "kernels/distance/types.hpp"
#include "kernels/labels/labels.hpp"
#include "kernels/pico/codes.hpp"
#include "kernels/pico/fields.hpp"
#include "kernels/pico/shelf_water.hpp"
#include "kernels/pico/shelves.hpp"

#include <algorithm>
#include <numeric>

namespace nunatak::pico {

/// The first batch of labels, from the first codes: grounded cells, ocean, ocean with floating ice.
enum LandAndSea { of_land, of_ocean, of_water };
inline std::vector<LabelMask> land_and_sea() {
  return {
      {[](Code c) { return ice_rise(c); }},
      {[](Code c) { return (c & is_ocean) != 0; }},
      {[](Code c) { return (c & (is_floating | is_ocean)) != 0; }},
  };
}

/// The second batch, from the final codes: shelves with ice rises; shallow sea floor and continent.
enum ShelvesAndSeaFloor { of_shelf, of_sea_floor };
constexpr std::int64_t has_shelf = 2, has_continent = 4; // flags of components
inline std::vector<LabelMask> shelves_and_sea_floor() {
  return {{[](Code c) { return (c & is_floating) != 0 || ice_rise(c); },
           [](Code c) { return shelf_ice(c) ? has_shelf : 0; }, false, has_shelf},
          {[](Code c) { return (c & is_shallow) != 0 || continent(c); },
           [](Code c) { return continent(c) ? has_continent : 0; }}};
}

/// The bits that a cell gets from its component in the first batch. `open`: the largest ocean.
struct ComponentBits {
  double cell_area, continental_area; ///< m2

  Code operator()(int mask, const Component& c, const Component& open) const {
    if (mask == of_land)
      return static_cast<double>(c.cells()) * cell_area > continental_area ? is_continent : 0;
    if (mask == of_ocean) return c.identity == open.identity ? is_open : 0;
    return (c.flags() & touches_edge) != 0 ? 0 : is_lake;
  }
};

/// Works on the codes given at construction, in this order for each new geometry.
class ShelfFinder {
public:
  /// `ranks` must outlive this object.
  ShelfFinder(Ranks& ranks, const std::vector<SharedArray2<Code>>& codes, bool batch)
      : m_ranks(ranks), m_codes(codes), m_labels(ranks, batch), m_segments(codes.size()) {}

  /// Labels the first codes, completes them, and labels the final codes. Returns the number of
  /// shelves. values[local] is replaced by maxima over all ranks, after which comes 1 if there is
  /// an unknown cell type.
  int label(const ComponentBits& bits, std::vector<std::vector<std::int64_t>>& values) {
    std::vector<std::vector<std::int64_t>> nothing(m_codes.size());
    for (const int r : m_ranks.locals()) {
      find_segments(m_ranks.patch(r), m_codes[r], m_segments[r]);
      m_ranks.work(r, 3 * m_ranks.patch(r).cells(),
                   Work::pico); // including the masks written later
      const auto& list = m_segments[r].list;
      const bool unknown = std::any_of(
          list.begin(), list.end(), [](const Segment& s) { return (s.code() & type_bits) == 0; });
      values[r].push_back(unknown ? 1 : 0);
    }
    m_found = &m_labels.update(m_segments, land_and_sea(), values);
    add_bits(bits);
    m_found = &m_labels.update(m_segments, shelves_and_sea_floor(), nothing);
    return (*m_found)[of_shelf].numbered;
  }

  /// Needs final codes, with valid ghosts, and ghosts of basins. Writes the masks and the seeds of
  /// both distances; clears what only the last geometry had. Finds the lists of each local rank,
  /// with undivided shelves, and its contribution to the sum. `seeds`: positions.
  void look_at_cells(const std::vector<PicoInput>& in, std::vector<PicoFields>& out,
                     const ShelfTable& table, const ShelfSum& sum,
                     std::vector<std::vector<std::int64_t>>& sums, std::vector<LocalShelves>& local,
                     DistanceSeeds& seeds) {
    seeds.assign(2, std::vector<std::vector<int>>(m_codes.size()));
    for (const int r : m_ranks.locals()) {
      local[r].clear();
      out[r].clear_written(m_codes[r].data());
      visit(r, in[r], out[r], table, sum, sums[r], local[r], seeds);
      local[r].domain_cells = static_cast<std::int64_t>(out[r].written_domain.size());
    }
  }

private:
  void add_bits(const ComponentBits& bits) {
    const Component open = (*m_found)[of_ocean].largest();
    for (const int r : m_ranks.locals()) {
      const int up = m_ranks.patch(r).xm + 2;
      m_segments[r].for_each([&](int j, int n, int i0, Segment& s) {
        Code c = s.code();
        for (const int mask : {of_land, of_ocean, of_water}) {
          const MaskLabels& labels = (*m_found)[mask];
          if (labels.component[r][n] >= 0) c |= bits(mask, labels.at(r, n), open);
        }
        if (c == s.code()) return;
        s = {s.end(), c};
        Code* codes = m_codes[r].data() + j * up;
        std::fill(codes + i0, codes + s.end(), c);
      });
    }
  }

  void visit(std::size_t r, const PicoInput& in, PicoFields& out, const ShelfTable& table,
             const ShelfSum& sum, std::vector<std::int64_t>& sums, LocalShelves& local,
             DistanceSeeds& seeds) {
    const MaskLabels &shelves = (*m_found)[of_shelf], &sea_floor = (*m_found)[of_sea_floor];
    const Code* code = m_codes[r].data();
    const auto basins = on_host(in.basins);
    const int* basin = basins.data();
    const int up = m_ranks.patch(r).xm + 2;
    m_segments[r].for_each([&](int j, int n, int i0, const Segment& s) {
      const int from = j * up + i0, to = j * up + s.end();
      const int contshelf = contshelf_mask(s.code(), (sea_floor.flags(r, n) & has_continent) != 0);
      out.write_masks(from, to, s.code(), contshelf);
      if (contshelf == 2) {
        local.sea.emplace_back(from, to);
        local.sea_cells += to - from;
      }
      if (s.code() & is_ocean)
        find_adjacent_basins(code, up, from, to, basin, table.basins, &sums[sum.adjacent()]);
      if (in_shelf_domain(s.code()))
        start_distances(code, up, from, to, out, seeds[0][r], seeds[1][r]);
      for (int c = from; lake_ice(s.code()) && c < to; ++c) local.lake.push_back(c);
      if (shelf_ice(s.code()))
        add_shelf_cells(code, up, from, to, shelves.number_of(r, n), basin, table, sum, sums,
                        local);
    });
  }

  /// Appends from, from + 1, ..., to - 1.
  static void append(List<int>& list, int from, int to) {
    list.resize(list.size() + static_cast<std::size_t>(to - from));
    std::iota(list.end() - (to - from), list.end(), from);
  }

  static void start_distances(const Code* code, int up, int from, int to, PicoFields& f,
                              std::vector<int>& seeds_gl, std::vector<int>& seeds_cf) {
    int *d_gl = f.distance_gl.data(), *d_cf = f.distance_cf.data();
    NUNATAK_INDEPENDENT
    for (int c = from; c < to; ++c) {
      d_gl[c] = starts_at_continent(code + c, up);
      d_cf[c] = starts_at_front(code + c, up);
    }
    for (int c = from; c < to; ++c) {
      if (d_gl[c]) seeds_gl.push_back(c);
      if (d_cf[c]) seeds_cf.push_back(c);
    }
    append(f.written_domain, from, to);
    if (code[from] & is_floating) append(f.written_ice, from, to);
  }

  static void add_shelf_cells(const Code* code, int up, int from, int to, int shelf,
                              const int* basin, const ShelfTable& table, const ShelfSum& sum,
                              std::vector<std::int64_t>& sums, LocalShelves& local) {
    append(local.cell, from, to);
    local.shelf.insert(local.shelf.end(), static_cast<std::size_t>(to - from), shelf);
    for (int c = from; c < to;) {
      const int here = basin[c], first = c;
      int front = 0;
      for (; c < to && basin[c] == here; ++c) front += is_front(code + c, up);
      const std::size_t entry = table.at(shelf, here);
      sums[entry] += c - first;
      sums[sum.front_cells() + entry] += front;
    }
  }

  Ranks& m_ranks;
  std::vector<SharedArray2<Code>> m_codes; // of the geometry
  Labels m_labels;
  std::vector<Segments> m_segments;
  const std::vector<MaskLabels>* m_found = nullptr; // by the last batch
};

} // namespace nunatak::pico
