// The geometry of PICO: masks, shelves, distances and boxes from bed, cell types and basins.
//   bed, mask -> codes (one byte a cell) -> segments -> labels of {grounded, ocean, floating + ocean}   -> continent, open, lake
//                                                    -> labels of {floating + rises, shallow + continent} -> shelves, shelf sea
//   -> split over basins -> distances to the grounding line and to the front -> boxes
//
// Everything after the codes is done per segment or per shelf cell. Reese et al. (2018), The Cryosphere 12, 1969, section 2.
// Communicates: two batches of labels (one ghost exchange, one gather each), one ghost exchange of codes, one sum, the distances.
// Neighbours: codes.hpp (legends), split.hpp, boxes.hpp, last_input.hpp, shelf_sum.hpp; the result: shelves.hpp.
#pragma once

#include "kernels/distance/distance.hpp"
#include "kernels/labels/labels.hpp"
#include "kernels/pico/adjacent.hpp"
#include "kernels/pico/boxes.hpp"
#include "kernels/pico/codes.hpp"
#include "kernels/pico/fields.hpp"
#include "kernels/pico/last_input.hpp"
#include "kernels/pico/options.hpp"
#include "kernels/pico/shelf_fields.hpp"
#include "kernels/pico/shelf_sum.hpp"
#include "kernels/pico/shelves.hpp"

#include <algorithm>
#include <numeric>

namespace nunatak::pico {

class ShelfGeometry {
public:
  ShelfGeometry(Ranks& ranks, double dx, double dy, PicoOptions options, LabelPatch label_patch = {})
      : m_ranks(ranks), m_labels(ranks, std::move(label_patch)),
        m_distances(ranks, options.solver, {options.distance_guard, dx, dy}), m_cell_area(dx * dy), m_options(options) {
    options.check();
    if (!(dx > 0.0) || !(dy > 0.0)) throw std::invalid_argument("PICO: expected dx > 0 and dy > 0");
    const auto locals = static_cast<std::size_t>(ranks.local_size());
    for (int r = 0; r < ranks.local_size(); ++r) m_codes.push_back(shared_array<Code>("pico_codes", ranks.patch(r)));
    m_segments.resize(locals);
    m_last.resize(locals);
    m_result.local.resize(locals);
    m_result.domain.ranks = m_result.shelf.ranks = ranks.decomposition().size();
  }

  /// Is there a result? The same on all ranks.
  bool valid() const { return m_valid; }
  /// Of each local rank: has `in` changed since the result was found, or are the fields of `out` others? The result is still
  /// valid if no rank reports a change. The fields of `out` must be as the last update left them. Nothing is communicated.
  std::vector<Answer> changed(const std::vector<PicoInput>& in, const std::vector<PicoFields>& out) const {
    std::vector<Answer> answers;
    for (std::size_t r = 0; r < m_codes.size(); ++r) {
      const Patch p = m_ranks.patch(static_cast<int>(r));
      answers.push_back(m_last[r].changed(p, in[r], out[r], m_options));
    }
    return answers;
  }
  const Shelves& result() const { return m_result; }
  /// Of each rank: does it own cells of the domain of the distances? After update(), the same on all ranks.
  const std::vector<char>& members() const { return m_members; }

  /// Needs ghosts of basins. Writes the masks, distances and boxes of `out`.
  /// runtime_error, the same on all ranks, if a cell type or a basin number makes no sense.
  const Shelves& update(const std::vector<PicoInput>& in, std::vector<PicoFields>& out) {
    const std::size_t locals = m_codes.size();
    m_valid = false; // until all went well
    std::vector<std::vector<std::int64_t>> maxima(locals);
    for (std::size_t r = 0; r < locals; ++r) maxima[r] = first_codes(r, in[r]);
    classify(maxima);
    std::vector<std::vector<Ghosted>> ghosted;
    for (std::size_t r = 0; r < locals; ++r) ghosted.push_back({m_codes[r]});
    m_ranks.update_ghosts(ghosted);
    find_shelves(in, out);
    find_boxes(out);
    for (std::size_t r = 0; r < locals; ++r) clear_water(out[r], m_codes[r]);
    for (std::size_t r = 0; r < locals && m_options.skip_unchanged; ++r) m_last[r].keep(out[r]);
    m_valid = true;
    return m_result;
  }

private:
  static constexpr std::int64_t has_shelf = 2, has_continent = 4; // flags of components

  int row(std::size_t r) const { return m_ranks.patch(static_cast<int>(r)).xm + 2; }

  /// Codes of owned cells; segments. Returns [largest basin, minus the smallest basin, is there an unknown cell type].
  std::vector<std::int64_t> first_codes(std::size_t r, const PicoInput& in) {
    const Patch p = m_ranks.patch(static_cast<int>(r));
    const SeenBasins seen = m_last[r].read(p, in, m_options, m_codes[r]);
    find_segments(p, m_codes[r], m_segments[r]);
    m_ranks.work(static_cast<int>(r), 3 * p.cells()); // with the masks that are written later
    const auto& list = m_segments[r].list;
    const bool unknown = std::any_of(list.begin(), list.end(), [](const Segment& s) { return (s.code() & type_bits) == 0; });
    return {seen.largest, -static_cast<std::int64_t>(seen.smallest), unknown ? 1 : 0};
  }

  /// Continent, open ocean, lakes: three labellings in one batch.
  void classify(std::vector<std::vector<std::int64_t>>& maxima) {
    const std::vector<LabelMask> masks = {
        {[](Code c) { return ice_rise(c); }},
        {[](Code c) { return (c & is_ocean) != 0; }},
        {[](Code c) { return (c & (is_floating | is_ocean)) != 0; }},
    };
    const std::vector<MaskLabels>& labels = m_labels.update(m_segments, masks, maxima);
    if (maxima[0][0] > largest_basin || maxima[0][1] > 0) {
      throw std::runtime_error("PICO: basins: expected numbers from 0 to " + std::to_string(largest_basin) + ", found " +
                               std::to_string(maxima[0][1] > 0 ? -maxima[0][1] : maxima[0][0]));
    }
    if (maxima[0][2] != 0) throw std::runtime_error("PICO: mask: expected cell types 0, 2, 3, 4, found another number");
    m_result.table.basins = static_cast<int>(maxima[0][0]);

    const Component open = labels[1].largest();
    for (std::size_t r = 0; r < m_codes.size(); ++r) {
      m_segments[r].for_each([&](int j, int n, int i0, Segment& s) {
        Code c = s.code();
        if (ice_rise(c) && static_cast<double>(labels[0].at(r, n).cells()) * m_cell_area > m_options.continental_ice_area)
          c |= is_continent;
        if (c & is_ocean && labels[1].at(r, n).identity == open.identity) c |= is_open;
        if (c & (is_floating | is_ocean) && !(labels[2].at(r, n).flags() & touches_edge)) c |= is_lake;
        if (c == s.code()) return;
        s = {s.end(), c};
        Code* codes = m_codes[r].data() + j * row(r);
        std::fill(codes + i0, codes + s.end(), c);
      });
    }
  }

  /// Shelves, the continental shelf and the start of the distances; one sum over all ranks; shelves divided over basins.
  void find_shelves(const std::vector<PicoInput>& in, std::vector<PicoFields>& out) {
    const std::vector<MaskLabels>& labels = label_shelves();
    m_result.table.reset(labels[0].numbered, m_result.table.basins);
    const ShelfSum sum(m_result.table, m_ranks.decomposition().size());
    std::vector<std::vector<std::int64_t>> sums(m_codes.size(), std::vector<std::int64_t>(sum.size()));
    m_seeds.assign(2, std::vector<std::vector<int>>(m_codes.size()));
    for (std::size_t r = 0; r < m_codes.size(); ++r) {
      m_result.local[r].clear();
      out[r].clear_written(m_codes[r].data());
      visit_segments(r, labels, in[r], out[r], sum, sums[r]);
      sum.set_domain(m_ranks.first() + static_cast<int>(r), static_cast<std::int64_t>(out[r].written_domain.size()), sums[r]);
    }
    m_ranks.sum(sums);
    sum.read(sums[0], m_result.table);
    m_members = sum.members(sums[0]);
    m_result.domain.total = sums[0][sum.domain()];
    m_result.shelf.total = std::accumulate(m_result.table.cells.begin(), m_result.table.cells.end(), std::int64_t{0});
    renumber(in, out, sum.adjacent_basins(sums[0]));
  }

  /// Two labellings in one batch: shelves with ice rises (the number of a component is that of the shelf), shallow sea floor with
  /// the continent.
  const std::vector<MaskLabels>& label_shelves() {
    const std::vector<LabelMask> masks = {
        {[](Code c) { return (c & is_floating) != 0 || ice_rise(c); }, [](Code c) { return shelf_ice(c) ? has_shelf : 0; }, false,
         has_shelf},
        {[](Code c) { return (c & is_shallow) != 0 || continent(c); }, [](Code c) { return continent(c) ? has_continent : 0; }},
    };
    std::vector<std::vector<std::int64_t>> nothing(m_codes.size());
    return m_labels.update(m_segments, masks, nothing);
  }

  /// What local rank r knows of its cells: masks, continental shelf, shelf cells, seeds, and its numbers of the sum.
  void visit_segments(std::size_t r, const std::vector<MaskLabels>& labels, const PicoInput& in, PicoFields& out,
                      const ShelfSum& sum, std::vector<std::int64_t>& sums) {
    LocalShelves& local = m_result.local[r];
    const int* basin = in.basins.data();
    m_segments[r].for_each([&](int j, int n, int i0, const Segment& s) {
      const int from = j * row(r) + i0, to = j * row(r) + s.end();
      const int contshelf = contshelf_mask(s.code(), (labels[1].flags(r, n) & has_continent) != 0);
      out.write_masks(from, to, s.code(), contshelf);
      if (contshelf == 2) local.sea.emplace_back(from, to);
      if (s.code() & is_ocean)
        find_adjacent_basins(m_codes[r].data(), row(r), from, to, basin, m_result.table.basins, &sums[sum.adjacent()]);
      if (in_shelf_domain(s.code())) start_distances(r, from, to, out);
      for (int c = from; lake_ice(s.code()) && c < to; ++c) local.lake.push_back(c);
      if (shelf_ice(s.code())) add_shelf_cells(r, from, to, labels[0].number_of(r, n), basin, sum, sums);
    });
  }

  /// Divides shelves over basins; shelf cells get their new numbers.
  void renumber(const std::vector<PicoInput>& in, std::vector<PicoFields>& out, const std::vector<std::int64_t>& adjacent) {
    const ShelfTable before = m_result.table;
    const std::vector<int> shelf_of = split_shelves(m_result.table, adjacent);
    for (std::size_t r = 0; r < m_codes.size(); ++r) {
      LocalShelves& local = m_result.local[r];
      const int* basin = in[r].basins.data();
      int* shelf_mask = out[r].shelf_mask.data();
      for (std::size_t n = 0; n < local.cell.size(); ++n) {
        local.shelf[n] = shelf_of[before.at(local.shelf[n], basin[local.cell[n]])];
        shelf_mask[local.cell[n]] = local.shelf[n];
      }
    }
  }

  /// Distances, number of boxes of each shelf, box of each cell.
  void find_boxes(std::vector<PicoFields>& out) {
    const DistanceReport report = solve_distances(out);
    const auto shelves = static_cast<std::size_t>(m_result.table.shelves);
    m_result.rounds = report.rounds;
    m_result.domain.largest = report.maxima[shelves + 1];
    m_result.shelf.largest = report.maxima[shelves + 2];
    m_result.d_max = static_cast<int>(*std::max_element(report.maxima.begin(), report.maxima.end() - 2));
    m_result.boxes.assign(1, 0);
    for (std::size_t s = 1; s <= shelves; ++s)
      m_result.boxes.push_back(number_of_boxes(static_cast<int>(report.maxima[s]), m_result.d_max, m_options.boxes));
    for (std::size_t r = 0; r < out.size(); ++r) {
      LocalShelves& local = m_result.local[r];
      const int *d_gl = out[r].distance_gl.data(), *d_cf = out[r].distance_cf.data();
      int* box_mask = out[r].box_mask.data();
      local.box.resize(local.cell.size());
      for (std::size_t n = 0; n < local.cell.size(); ++n) {
        const int c = local.cell[n];
        box_mask[c] = local.box[n] = box_of(d_gl[c], d_cf[c], m_result.boxes[static_cast<std::size_t>(local.shelf[n])]);
      }
    }
  }

  /// Both distances. Maxima: largest distance to the grounding line on each shelf (0 first); cells of the domain, of shelves.
  DistanceReport solve_distances(std::vector<PicoFields>& out) {
    DistanceProblem problem{DistanceFields(2), m_seeds, {}, m_members, m_result.domain.total};
    for (const PicoFields& f : out) problem.fields[0].push_back(f.distance_gl), problem.fields[1].push_back(f.distance_cf);
    problem.maxima = [&](int r) {
      const LocalShelves& local = m_result.local[static_cast<std::size_t>(r)];
      const PicoFields& f = out[static_cast<std::size_t>(r)];
      std::vector<std::int64_t> d(static_cast<std::size_t>(m_result.table.shelves) + 1, 0);
      for (std::size_t n = 0; n < local.cell.size(); ++n) {
        std::int64_t& of_shelf = d[static_cast<std::size_t>(local.shelf[n])];
        of_shelf = std::max<std::int64_t>(of_shelf, f.distance_gl.data()[local.cell[n]]);
      }
      d.push_back(static_cast<std::int64_t>(f.written_domain.size()));
      d.push_back(static_cast<std::int64_t>(local.cell.size()));
      return d;
    };
    return m_distances.solve(problem);
  }

  /// Cells of the domain of the distances, and their seeds: a continental cell among 8 neighbours, open ocean among 4.
  void start_distances(std::size_t r, int from, int to, PicoFields& f) {
    const Code* code = m_codes[r].data();
    int *d_gl = f.distance_gl.data(), *d_cf = f.distance_cf.data();
    const int up = row(r);
    for (int c = from; c < to; ++c) {
      const int beside = code[c - 1] | code[c + 1] | code[c - up] | code[c + up];
      const int corners = code[c - up - 1] | code[c - up + 1] | code[c + up - 1] | code[c + up + 1];
      d_gl[c] = ((beside | corners) & is_continent) != 0;
      d_cf[c] = (beside & is_open) != 0;
      if (d_gl[c]) m_seeds[0][r].push_back(c);
      if (d_cf[c]) m_seeds[1][r].push_back(c);
      f.written_domain.push_back(c);
    }
    if (code[from] & is_floating)
      f.written_ice.insert(f.written_ice.end(), f.written_domain.end() - (to - from), f.written_domain.end());
  }

  void add_shelf_cells(std::size_t r, int from, int to, int shelf, const int* basin, const ShelfSum& sum,
                       std::vector<std::int64_t>& sums) {
    const Code* code = m_codes[r].data();
    const int up = row(r);
    LocalShelves& local = m_result.local[r];
    for (int c = from; c < to; ++c) {
      local.cell.push_back(c);
      local.shelf.push_back(shelf);
      const std::size_t entry = m_result.table.at(shelf, basin[c]);
      sums[entry] += 1;
      if ((code[c - 1] | code[c + 1] | code[c - up] | code[c + up]) & is_ocean) sums[sum.front_cells() + entry] += 1;
    }
  }

  Ranks& m_ranks;
  Labels m_labels;
  Distances m_distances;
  double m_cell_area;
  PicoOptions m_options;
  std::vector<SharedArray2<Code>> m_codes; // with valid ghosts after classify() and the exchange
  std::vector<Segments> m_segments;
  DistanceSeeds m_seeds; // of the grounding line, of the front
  std::vector<char> m_members;
  std::vector<LastInput> m_last;
  Shelves m_result;
  bool m_valid = false;
};

} // namespace nunatak::pico
