// The geometry of PICO: masks, shelves, distances and boxes from bed, cell types and basins.
//
//   bed, mask -> codes (one byte a cell)
//             -> labels of {grounded, ocean, floating + ocean}    -> continent, open, lake
//             -> labels of {floating + rises, shallow + continent} -> shelves, shelf sea
//             -> shelves divided over basins
//             -> distances to the grounding line and to the front -> boxes
//
// Codes are made by loops; all else is found on the host, with a GPU, too. Reese et al. (2018),
// The Cryosphere 12, 1969, section 2. Communicates: two batches of labels (one ghost exchange and
// one gather each), one ghost exchange of codes, one sum, the distances. Legends: codes.hpp;
// result: shelves.hpp.
#pragma once

#include "kernels/distance/distance.hpp"
#include "kernels/pico/last_input.hpp"
#include "kernels/pico/one_by_one.hpp"
#include "kernels/pico/options.hpp"
#include "kernels/pico/shelf_finder.hpp"
#include "kernels/pico/shelves.hpp"

#include <algorithm>
#include <numeric>

namespace nunatak::pico {

/// Renumbers shelf cells after the division over basins: shelf_of[entry], by table_entry().
inline void renumber(LocalShelves& local, const std::vector<int>& shelf_of, int basins,
                     const Array2<int>& basin_of_cell, const PicoFields& out) {
  const auto basin = on_host(basin_of_cell);
  for (std::size_t n = 0; n < local.cell.size(); ++n) {
    const int c = local.cell[n];
    local.shelf[n] = shelf_of[table_entry(local.shelf[n], basin.data()[c], basins)];
    out.shelf_mask.data()[c] = local.shelf[n];
  }
}

inline void write_boxes(LocalShelves& local, const std::vector<int>& boxes, const PicoFields& out) {
  const int *d_gl = out.distance_gl.data(), *d_cf = out.distance_cf.data();
  local.box.resize(local.cell.size());
  for (std::size_t n = 0; n < local.cell.size(); ++n) {
    const int c = local.cell[n];
    out.box_mask.data()[c] = local.box[n] = box_of(d_gl[c], d_cf[c], boxes[local.shelf[n]]);
  }
}

class ShelfGeometry {
public:
  ShelfGeometry(Ranks& ranks, double dx, double dy, const PicoOptions& options)
      : m_ranks(ranks), m_distances(ranks, options.solver, {dx, dy}), m_cell_area(dx * dy),
        m_options(options), m_codes(codes_of(ranks)), m_finder(ranks, m_codes, options.batch) {
    options.check();
    if (!(dx > 0.0) || !(dy > 0.0)) throw std::invalid_argument("PICO: expected dx > 0 and dy > 0");
    m_last.resize(m_codes.size());
    m_result.local.resize(m_codes.size());
    m_result.domain.ranks = m_result.shelf.ranks = ranks.decomposition().size();
  }

  /// True if there is a result. The same on all ranks.
  bool valid() const { return m_valid; }
  /// Per local rank: 1 if `in` has changed since the last result, or `out` has different arrays.
  /// The result is valid if no rank reports a change. No communication.
  std::vector<Answer> changed(const std::vector<PicoInput>& in,
                              const std::vector<PicoFields>& out) const {
    std::vector<Answer> answers;
    for (const int r : m_ranks.locals()) {
      const Patch p = m_ranks.patch(r);
      answers.push_back(m_last[r].changed(p, in[r], out[r], m_options));
    }
    return answers;
  }
  const Shelves& result() const { return m_result; }
  /// Per rank: 1 if it owns cells of the domain of the distances. The same on all ranks.
  const std::vector<char>& members() const { return m_members; }

  /// Needs ghosts of basins. Writes masks, distances and boxes of `out`, clears the water off
  /// shelves; asynchronous. Throws runtime_error on all ranks for invalid cell types or basins.
  const Shelves& update(const std::vector<PicoInput>& in, std::vector<PicoFields>& out) {
    m_valid = false; // until the update has succeeded
    label(in);
    update_ghosts();
    find_shelves(in, out);
    find_boxes(solve_distances(out), out);
    for (const int r : m_ranks.locals()) clear_water(out[r], m_codes[r]);
    for (const int r : m_ranks.locals()) {
      if (m_options.skip_unchanged) m_last[r].keep(out[r]);
    }
    m_valid = true;
    return m_result;
  }

private:
  static std::vector<SharedArray2<Code>> codes_of(Ranks& ranks) {
    std::vector<SharedArray2<Code>> codes;
    for (const int r : ranks.locals())
      codes.push_back(shared_array<Code>("pico_codes", ranks.patch(r)));
    return codes;
  }

  /// Codes: continent, open ocean, lakes by a batch of three labellings; shelves, sea floor by two.
  void label(const std::vector<PicoInput>& in) {
    for (const int r : m_ranks.locals())
      m_last[r].read(m_ranks.patch(r), in[r], m_options, m_codes[r]);
    Kokkos::fence("pico: first codes");
    // largest basin, minus the smallest one, 1 if there is an unknown cell type
    std::vector<std::vector<std::int64_t>> values;
    for (const LastInput& input : m_last)
      values.push_back({input.seen().largest, -static_cast<std::int64_t>(input.seen().smallest)});
    const StepShare share(m_ranks, "ocean: labels");
    const int shelves = m_finder.label({m_cell_area, m_options.continental_ice_area}, values);
    const std::vector<std::int64_t>& maxima = values[0];
    if (maxima[0] > largest_basin || maxima[1] > 0) {
      throw std::runtime_error("PICO: basins: expected numbers from 0 to " +
                               std::to_string(largest_basin) + ", found " +
                               std::to_string(maxima[1] > 0 ? -maxima[1] : maxima[0]));
    }
    if (maxima[2] != 0)
      throw std::runtime_error("PICO: mask: expected cell types 0, 2, 3, 4, found another number");
    m_result.table.reset(shelves, static_cast<int>(maxima[0]));
  }

  void update_ghosts() {
    std::vector<std::vector<Ghosted>> ghosted;
    for (const SharedArray2<Code>& codes : m_codes) ghosted.push_back({codes});
    m_ranks.update_ghosts(ghosted);
  }

  /// Shelves, continental shelf, seeds of the distances; one sum; division over basins.
  void find_shelves(const std::vector<PicoInput>& in, std::vector<PicoFields>& out) {
    ShelfTable& table = m_result.table;
    const ShelfSum sum(table, m_ranks.decomposition().size());
    std::vector<std::vector<std::int64_t>> sums(m_codes.size(),
                                                std::vector<std::int64_t>(sum.size()));
    m_finder.look_at_cells(in, out, table, sum, sums, m_result.local, m_seeds);
    for (const int r : m_ranks.locals())
      sum.set_domain(m_ranks.first() + r, m_result.local[r].domain_cells, sums[r]);
    pico::sum(m_ranks, m_options, geometry_sums, sums);
    m_ranks.start_turn(); // every rank does the same
    sum.read(sums[0], table);
    m_members = sum.members(sums[0]);
    m_result.domain.total = sums[0][sum.domain()];
    m_result.shelf.total = std::accumulate(table.cells.begin(), table.cells.end(), std::int64_t{0});
    const std::vector<int> shelf_of = split_shelves(table, sum.adjacent_basins(sums[0]));
    m_ranks.end_turn(Ranks::every_rank);
    for (const int r : m_ranks.locals())
      renumber(m_result.local[r], shelf_of, table.basins, in[r].basins, out[r]);
  }

  /// Number of boxes of each shelf and box of each cell, from the report of the distances.
  void find_boxes(const DistanceReport& report, std::vector<PicoFields>& out) {
    const std::size_t entries = report.maxima.size() - 2;
    m_result.rounds = report.rounds;
    m_result.domain.largest = report.maxima[entries];
    m_result.shelf.largest = report.maxima[entries + 1];
    std::vector<int> largest;
    for (std::size_t s = 0; s < entries; ++s) largest.push_back(static_cast<int>(report.maxima[s]));
    m_result.d_max = *std::max_element(largest.begin(), largest.end());
    m_result.boxes.assign(1, 0);
    for (std::size_t s = 1; s < largest.size(); ++s)
      m_result.boxes.push_back(number_of_boxes(largest[s], m_result.d_max, m_options.boxes));
    for (const int r : m_ranks.locals()) write_boxes(m_result.local[r], m_result.boxes, out[r]);
  }

  /// Both distances. Maxima: largest d_gl on each shelf (0 first), cells of the domain, of shelves.
  DistanceReport solve_distances(std::vector<PicoFields>& out) {
    const StepShare share(m_ranks, "ocean: distances");
    DistanceProblem problem{DistanceFields(2), m_seeds, {}, m_members};
    for (const PicoFields& f : out) {
      problem.fields[0].push_back(f.distance_gl);
      problem.fields[1].push_back(f.distance_cf);
    }
    problem.maxima = [&](int local) {
      const auto r = static_cast<std::size_t>(local);
      const LocalShelves& shelves = m_result.local[r];
      const int* d_gl = out[r].distance_gl.data();
      std::vector<std::int64_t> d(static_cast<std::size_t>(m_result.table.shelves) + 1, 0);
      for (std::size_t n = 0; n < shelves.cell.size(); ++n) {
        std::int64_t& largest = d[static_cast<std::size_t>(shelves.shelf[n])];
        largest = std::max(largest, std::int64_t{d_gl[shelves.cell[n]]});
      }
      d.push_back(shelves.domain_cells);
      d.push_back(static_cast<std::int64_t>(shelves.cell.size()));
      return d;
    };
    if (m_options.batch) return m_distances.solve(problem);
    const DistanceReport first =
        m_distances.solve({{problem.fields[0]}, {m_seeds[0]}, problem.maxima, m_members});
    DistanceReport second =
        m_distances.solve({{problem.fields[1]}, {m_seeds[1]}, problem.maxima, m_members});
    second.rounds += first.rounds;
    return second;
  }

  Ranks& m_ranks;
  Distances m_distances;
  double m_cell_area;
  PicoOptions m_options;
  std::vector<SharedArray2<Code>> m_codes; // final codes have valid ghosts
  ShelfFinder m_finder;
  DistanceSeeds m_seeds; // of the grounding line and the front
  std::vector<char> m_members;
  std::vector<LastInput> m_last;
  Shelves m_result;
  bool m_valid = false;
};

} // namespace nunatak::pico
