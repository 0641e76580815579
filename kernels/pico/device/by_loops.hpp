// PICO's geometry by loops on the execution space, for GPUs. See shelf_finder.hpp.
//
//   codes -> labels by union-find (labels/device/labels.hpp) -> final codes: a thread per cell
//         -> labels
//         -> masks and seeds: a thread per cell
//         -> sums over shelves: a thread per block of a row, then order-independent integer atomics
//         -> lists in raster order: a scan over the blocks finds where each begins, then they are
//            written
//
// Waits for each batch of labels, then for the sums and the lengths of the lists.
#pragma once

#include "kernels/grid/atomics.hpp"
#include "kernels/labels/device/labels.hpp"
#include "kernels/pico/codes.hpp"
#include "kernels/pico/shelf_finder.hpp"
#include "kernels/pico/shelf_water.hpp"

namespace nunatak::pico {

namespace loops {

/// The shelf number of a cell; 0 if none.
struct ShelfOfCell {
  Array2<int> component;
  const int* numbers;
  KOKKOS_INLINE_FUNCTION int operator()(int j, int i) const {
    const int c = component(j, i);
    return c < 0 ? 0 : numbers[c];
  }
};

inline void count_unknown(const Patch& p, const Array2<Code>& codes, const Later<int>& unknown) {
  reduce_over<int>(
      "pico: types", owned_cells(p), unknown,
      KOKKOS_LAMBDA(int j, int i, int& n) { n += (codes(j, i) & type_bits) == 0; });
}

inline void add_bits(const Patch& p, const Array2<Code>& codes, const ComponentBits& bits,
                     const Kokkos::Array<ComponentOfCell, 3>& components,
                     const Shared<LargestComponent>& open) {
  for_each_cell(
      "pico: codes", p, KOKKOS_LAMBDA(int j, int i) {
        Code code = codes(j, i);
        for (int mask = of_land; mask <= of_water; ++mask) {
          const Component c = components[mask](j, i);
          if (c.cells() > 0) code = static_cast<Code>(code | bits(mask, c, open().found));
        }
        codes(j, i) = code;
      });
}

/// Writes masks and seeds, clears what only the last geometry had. `adjacent`: part of the sum.
inline void write_cells(const Patch& p, const Array2<Code>& codes, const ComponentOfCell& sea_floor,
                        const Array2<int>& basins, int largest_basin_here, const PicoFields& out,
                        std::int64_t* adjacent) {
  const Array2<std::uint8_t> masks = out.masks;
  const Array2<int> rise = out.ice_rise_mask;
  const Array2<int> ocean = out.ocean_mask;
  const Array2<int> lake = out.lake_mask;
  const Array2<int> sea = out.contshelf_mask;
  const Array2<int> shelf_mask = out.shelf_mask;
  const Array2<int> box_mask = out.box_mask;
  const SharedArray2<int> d_gl = out.distance_gl, d_cf = out.distance_cf;
  const WaterFields water(out);
  const int up = p.xm + 2, size = largest_basin_here + 1;
  for_each_cell(
      "pico: masks and seeds", p, KOKKOS_LAMBDA(int j, int i) {
        const Code* code = &codes(j, i);
        const Code here = *code;
        const int contshelf = contshelf_mask(here, (sea_floor(j, i).flags() & has_continent) != 0);
        const std::uint8_t before = masks(j, i), now = packed_masks(here, contshelf);
        if (now != before) {
          masks(j, i) = now;
          rise(j, i) = ice_rise_mask(here);
          ocean(j, i) = ocean_mask(here);
          lake(j, i) = lake_mask(here);
          sea(j, i) = contshelf;
        }
        const bool inside = in_shelf_domain(here);
        d_gl(j, i) = inside ? static_cast<int>(starts_at_continent(code, up)) : -1;
        d_cf(j, i) = inside ? static_cast<int>(starts_at_front(code, up)) : -1;
        if (!shelf_ice(here)) {
          shelf_mask(j, i) = box_mask(j, i) = 0;
          if (was_floating(before)) water.clear(j * up + i);
        }
        if ((here & is_ocean) == 0) return;
        for_each_adjacent_basin(code, up, 0, &basins(j, i), [=](int a, int b) {
          atomic_store(adjacent + a * size + b, std::int64_t{1});
          atomic_store(adjacent + b * size + a, std::int64_t{1});
        });
      });
}

/// Lengths of the lists of a local rank, or positions of a block in them.
struct ListSizes {
  int shelf = 0, lake = 0, sea = 0, sea_cells = 0, domain = 0;
  KOKKOS_INLINE_FUNCTION ListSizes& operator+=(const ListSizes& o) {
    return add_each(*this, o, &ListSizes::shelf, &ListSizes::lake, &ListSizes::sea,
                    &ListSizes::sea_cells, &ListSizes::domain);
  }
};

/// The cells of a patch, their undivided shelves, and the positions of its blocks in the lists.
struct ShelfBlocks {
  Patch patch;
  Array2<Code> codes;
  Array2<std::uint8_t> masks;
  Array2<int> basins;
  ShelfOfCell shelf;
  Shared<ListSizes*> first; ///< of each block; then the total

  KOKKOS_INLINE_FUNCTION int size() const { return RowBlocks(patch).size(); }
  KOKKOS_INLINE_FUNCTION int position(int j, int i) const { return j * (patch.xm + 2) + i; }
  KOKKOS_INLINE_FUNCTION bool in_sea(int j, int i) const { return was_contshelf(masks(j, i)); }
  /// True if a range of continental shelf begins at cell i of the block from i0, where all end.
  KOKKOS_INLINE_FUNCTION bool begins_sea(int j, int i, int i0) const {
    return in_sea(j, i) && (i == i0 || !in_sea(j, i - 1));
  }
};

/// Consecutive cells with the same entry in the table of shelves.
struct Entry {
  std::int64_t entry = -1, cells = 0, front = 0;
  KOKKOS_INLINE_FUNCTION void add_to(std::int64_t* sums, std::size_t front_cells) const {
    if (entry < 0) return;
    atomic_add(sums + entry, cells);
    if (front > 0) atomic_add(sums + front_cells + entry, front);
  }
};

/// Positions of the blocks in the lists; adds cells and front cells to `sums` by ShelfSum.
inline void place_blocks(const ShelfBlocks& b, int basins, std::size_t front_cells,
                         std::int64_t* sums) {
  scan_range<ListSizes>(
      "pico: sums and places", 0, b.size(), KOKKOS_LAMBDA(int n, ListSizes& at, bool last) {
        int j = 0, i0 = 0, i1 = 0;
        RowBlocks(b.patch).find(n, j, i0, i1);
        if (last) b.first(n) = at;
        Entry entry;
        for (int i = i0; i < i1; ++i) {
          const Code* code = &b.codes(j, i);
          at.domain += in_shelf_domain(*code);
          at.lake += lake_ice(*code);
          at.sea_cells += b.in_sea(j, i);
          at.sea += b.begins_sea(j, i, i0);
          if (!shelf_ice(*code)) continue;
          at.shelf += 1;
          if (!last) continue;
          const auto here =
              static_cast<std::int64_t>(table_entry(b.shelf(j, i), b.basins(j, i), basins));
          if (here != entry.entry) {
            entry.add_to(sums, front_cells);
            entry = {here, 0, 0};
          }
          entry.cells += 1;
          entry.front += is_front(code, b.patch.xm + 2);
        }
        if (!last) return;
        entry.add_to(sums, front_cells);
        if (n == b.size() - 1) b.first(n + 1) = at;
      });
}

inline void write_lists(const ShelfBlocks& b, LocalShelves& local) {
  int *cell = local.cell.data(), *shelf = local.shelf.data(), *lake = local.lake.data();
  std::pair<int, int>* sea = local.sea.data();
  Kokkos::parallel_for(
      "pico: lists", Kokkos::RangePolicy<Exec>(0, b.size()), KOKKOS_LAMBDA(int n) {
        int j = 0, i0 = 0, i1 = 0;
        RowBlocks(b.patch).find(n, j, i0, i1);
        ListSizes at = b.first(n);
        for (int i = i0; i < i1; ++i) {
          const Code code = b.codes(j, i);
          const int c = b.position(j, i);
          if (b.begins_sea(j, i, i0)) sea[at.sea++].first = c;
          if (b.in_sea(j, i)) sea[at.sea - 1].second = c + 1;
          if (lake_ice(code)) lake[at.lake++] = c;
          if (!shelf_ice(code)) continue;
          cell[at.shelf] = c;
          shelf[at.shelf++] = b.shelf(j, i);
        }
      });
}

} // namespace loops

class LoopFinder final : public ShelfFinder {
public:
  LoopFinder(Ranks& ranks, const std::vector<Array2<Code>>& codes)
      : m_ranks(ranks), m_codes(codes), m_land_and_sea(ranks, land_and_sea()),
        m_shelves(ranks, shelves_and_sea_floor()), m_numbers(codes.size()), m_sums(codes.size()) {
    for (std::size_t r = 0; r < codes.size(); ++r) {
      m_unknown.push_back(make_later<int>("pico: unknown types"));
      m_first.push_back(
          make_shared<loops::ListSizes*>("pico: places", RowBlocks(m_ranks.patch(r)).size() + 1));
    }
  }

  int label(const ComponentBits& bits, const LocalNumbers& numbers,
            std::vector<std::int64_t>& maxima) override {
    const std::size_t locals = m_codes.size();
    std::vector<std::vector<std::int64_t>> values, nothing(locals);
    for (std::size_t r = 0; r < locals; ++r)
      loops::count_unknown(m_ranks.patch(r), m_codes[r], m_unknown[r]);
    m_land_and_sea.find(m_codes);
    Kokkos::fence("pico: land and sea");
    for (std::size_t r = 0; r < locals; ++r) {
      values.push_back(numbers(r));
      values[r].push_back(m_unknown[r]() > 0);
    }
    m_open().found = m_land_and_sea.join(values)[of_ocean].largest();
    for (std::size_t r = 0; r < locals; ++r) {
      const auto of = [&](int mask) { return m_land_and_sea.of_cell(mask, r); };
      loops::add_bits(m_ranks.patch(r), m_codes[r], bits,
                      {{of(of_land), of(of_ocean), of(of_water)}}, m_open);
    }
    m_shelves.find(m_codes);
    Kokkos::fence("pico: labels");
    maxima = values[0];
    m_found = &m_shelves.join(nothing)[of_shelf];
    return m_found->numbered;
  }

  void look_at_cells(const std::vector<PicoInput>& in, std::vector<PicoFields>& out,
                     const ShelfTable& table, const ShelfSum& sum,
                     std::vector<std::vector<std::int64_t>>& sums, std::vector<LocalShelves>& local,
                     DistanceSeeds& seeds) override {
    seeds.clear(); // solvers find them in the fields
    m_blocks.clear();
    for (std::size_t r = 0; r < m_codes.size(); ++r) {
      m_numbers[r].assign(m_found->number[r].begin(), m_found->number[r].end());
      m_sums[r].assign(sums[r].begin(), sums[r].end());
      m_blocks.push_back({m_ranks.patch(r),
                          m_codes[r],
                          out[r].masks,
                          in[r].basins,
                          {m_found->component[r], m_numbers[r].data()},
                          m_first[r]});
      loops::write_cells(m_ranks.patch(r), m_codes[r], m_shelves.of_cell(of_sea_floor, r),
                         in[r].basins, table.basins, out[r], m_sums[r].data() + sum.adjacent());
      loops::place_blocks(m_blocks[r], table.basins, sum.front_cells(), m_sums[r].data());
    }
    Kokkos::fence("pico: sums of shelves");
    for (std::size_t r = 0; r < m_codes.size(); ++r) {
      sums[r].assign(m_sums[r].begin(), m_sums[r].end());
      set_sizes(m_first[r](m_first[r].extent(0) - 1), local[r]);
      m_ranks.work(r, 3 * m_ranks.patch(r).cells());
    }
    for (std::size_t r = 0; r < m_codes.size(); ++r) loops::write_lists(m_blocks[r], local[r]);
  }

private:
  static void set_sizes(const loops::ListSizes& sizes, LocalShelves& local) {
    local.clear();
    local.cell.resize(static_cast<std::size_t>(sizes.shelf));
    local.shelf.resize(static_cast<std::size_t>(sizes.shelf));
    local.lake.resize(static_cast<std::size_t>(sizes.lake));
    local.sea.resize(static_cast<std::size_t>(sizes.sea));
    local.sea_cells = sizes.sea_cells;
    local.domain_cells = sizes.domain;
  }

  Ranks& m_ranks;
  std::vector<Array2<Code>> m_codes; // of the geometry
  DeviceLabels m_land_and_sea, m_shelves;
  Shared<LargestComponent> m_open = make_shared<LargestComponent>("pico: open ocean");
  const DeviceMaskLabels* m_found = nullptr;      // shelves
  std::vector<List<int>> m_numbers;               // [local]: shelf number of each component
  std::vector<List<std::int64_t>> m_sums;         // [local]
  std::vector<Later<int>> m_unknown;              // [local]
  std::vector<Shared<loops::ListSizes*>> m_first; // [local](block)
  std::vector<loops::ShelfBlocks> m_blocks;       // [local]
};

} // namespace nunatak::pico
