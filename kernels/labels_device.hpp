// Connected components of several masks at once (see labels.hpp), labelled on the execution space: the labelling for a GPU.
//
//   row j + 1   . [4 4 4|7]       1. A thread takes 64 cells of a row; the cells of a run have its first cell as parent.
//   row j       [0 0] . [3]       2. A run is joined to the run that goes on to its left and to those below it, by atomic
//               ^ a thread's end     compare-and-swap on the larger of two roots: a parent is never larger than its child, hence
//               a
//                                    root is the smallest cell of its component, whatever the order of the threads.
//                                 3. Roots are numbered in raster order (a scan). 4. Cells find their root, areas and flags are
//                                    added up: integers, the same in any order.
//                                 5. Border cells show which component they belong to, and patches are joined across their
//                                    seams by label_merge.hpp.
//
// The answer is that of labels.hpp on any decomposition. The host sees border cells and components, not the arrays.
// Union-find with atomics: Jaiganesh & Burtscher (2018), HPDC '18, 92-104, section 3; on grids: Playne & Hawick (2018), IEEE
// Trans. Parallel Distrib. Syst. 29(6), 1217-1230.
#pragma once

#include "kernels/label_pieces.hpp"
#include "kernels/labels.hpp"

#include <algorithm>

namespace nunatak {

/// Components of one mask; see MaskLabels (labels.hpp).
struct DeviceMaskLabels {
  std::vector<Array2<int>> component; ///< [local](j, i): local number of the component of an owned cell, -1: not in the mask
  std::vector<std::vector<Component>> parts; ///< [local][c]: the component of local number c, as a whole
  std::vector<std::vector<int>> number;      ///< [local][c]: its number, as in MaskLabels
  int numbered = 0;                          ///< how many have a number
  std::vector<Component> whole; ///< in the order of identities: of a mask with numbers all, else those at seams and the largest
};

class DeviceLabels {
public:
  /// The decomposition must not be periodic. `ranks` must outlive this object.
  explicit DeviceLabels(Ranks& ranks) : m_ranks(ranks) {
    if (ranks.decomposition().periodic_x || ranks.decomposition().periodic_y) {
      throw std::invalid_argument("labels: expected a grid that is not periodic, found a periodic one");
    }
  }

  /// Label all masks over the codes of the owned cells of each local rank. Masks and `maxima`: see Labels::update; of a mask with
  /// numbers (`all` or `numbered`) all components are gathered.
  /// Communicates: one message to each neighbour on a side (4 bytes per mask and border cell), one gather_all.
  const std::vector<DeviceMaskLabels>& update(const std::vector<Array2<Code>>& codes, const std::vector<LabelMask>& masks,
                                              std::vector<std::vector<std::int64_t>>& maxima) {
    const std::size_t locals = codes.size(), count = masks.size();
    m_labels.assign(count, {}), m_place.assign(count, {});
    BorderExchange<int> border(m_ranks, static_cast<int>(count));
    for (std::size_t m = 0; m < count; ++m) {
      for (std::size_t r = 0; r < locals; ++r) {
        label(patch(r), codes[r], masks[m], m_labels[m]);
        device_labels::look_at_border(m_pieces, static_cast<int>(count), border.data(static_cast<int>(r)) + m);
      }
    }
    Kokkos::fence("labels: border");
    std::vector<std::vector<int>> mine(locals); // components of border cells, by their places among the parts: 0: not in the mask
    for (std::size_t r = 0; r < locals; ++r) {
      int* const data = border.data(static_cast<int>(r));
      for (std::size_t m = 0; m < count; ++m) choose_parts(r, m, numbered(masks[m]) != nullptr, border);
      const std::size_t size = static_cast<std::size_t>(BorderCells{patch(r).xm, patch(r).ym}.size()) * count;
      for (std::size_t n = 0; n < size; ++n) {
        const int component = data[n];
        data[n] = component < 0 ? 0 : m_place[n % count][r][static_cast<std::size_t>(component)] + 1;
      }
      mine[r].assign(data, data + size);
    }
    border.exchange();
    std::vector<std::vector<std::int64_t>> outgoing = maxima;
    for (std::size_t r = 0; r < locals; ++r) {
      for (std::size_t m = 0; m < count; ++m) contribute(r, m, numbered(masks[m]) != nullptr, mine[r], border, outgoing[r]);
    }
    receive(m_ranks.gather_all(outgoing), masks, maxima);
    return m_labels;
  }

private:
  using Numbered = bool (*)(const Component&);

  Patch patch(std::size_t local) const { return m_ranks.patch(static_cast<int>(local)); }

  static Numbered numbered(const LabelMask& mask) {
    return mask.all ? [](const Component&) { return true; } : mask.numbered;
  }

  /// Components within one patch.
  void label(const Patch& p, const Array2<Code>& codes, const LabelMask& mask, DeviceMaskLabels& labels) {
    const device_labels::CodeTable table("labels: codes");
    for (int c = 0; c < 256; ++c) {
      table(c) = mask.contains(static_cast<Code>(c)) ? mask.flags(static_cast<Code>(c)) : -1;
      if (table(c) >> flag_bits > 0) {
        throw std::invalid_argument("labels: expected flags of 16 bits, found " + std::to_string(table(c)));
      }
    }
    labels.component.push_back(make_array<int>("component", p));
    const std::size_t cells = labels.component.back().size();
    if (m_parent.size() < cells)
      m_parent = Kokkos::View<int*, WorkMem>(Kokkos::view_alloc("labels: parents", Kokkos::WithoutInitializing), cells);
    m_pieces = {p, table, codes, labels.component.back(), m_parent};
    device_labels::find_runs(m_pieces);
    device_labels::join_runs(m_pieces);
    const Kokkos::View<Component*, WorkMem> parts("labels: components", device_labels::number_roots(m_pieces));
    device_labels::collect(m_pieces, parts);
    labels.parts.emplace_back(parts.size());
    Kokkos::deep_copy(Kokkos::View<Component*, Kokkos::HostSpace>(labels.parts.back().data(), parts.size()), parts);
  }

  /// m_place[m][r][c]: place of component c among the parts that rank r sends, -1 if it is not sent.
  void choose_parts(std::size_t r, std::size_t m, bool all, const BorderExchange<int>& border) {
    const std::vector<Component>& parts = m_labels[m].parts[r];
    std::vector<int> place(parts.size(), all ? 1 : -1);
    for (const auto& side : border.sides(static_cast<int>(r))) {
      for (int n = side.first; n < side.first + side.cells; ++n) {
        const int component = border.data(static_cast<int>(r))[static_cast<std::size_t>(n) * m_labels.size() + m];
        if (component >= 0) place[static_cast<std::size_t>(component)] = 1;
      }
    }
    const auto fewer = [](const Component& a, const Component& b) { return a.cells < b.cells; };
    const auto largest = std::max_element(parts.begin(), parts.end(), fewer); // the first of several
    if (largest != parts.end()) place[static_cast<std::size_t>(largest - parts.begin())] = 1;
    int chosen = 0;
    for (int& of_part : place) {
      if (of_part >= 0) of_part = chosen++;
    }
    m_place[m].push_back(std::move(place));
  }

  /// What one rank tells the others about one mask. An edge is sent by the patch east or north of the seam.
  void contribute(std::size_t r, std::size_t m, bool numbers, const std::vector<int>& mine, const BorderExchange<int>& border,
                  std::vector<std::int64_t>& out) const {
    SeamParts sent;
    for (const auto& side : border.sides(static_cast<int>(r))) {
      for (int n = side.first; n < side.first + side.cells && side.dx + side.dy < 0; ++n) {
        const std::size_t at = static_cast<std::size_t>(n) * m_labels.size() + m;
        const int other = border.data(static_cast<int>(r))[at];
        if (mine[at] > 0 && other > 0) sent.edges.push_back(SeamParts::edge(mine[at] - 1, side.dy < 0, other - 1));
      }
    }
    std::sort(sent.edges.begin(), sent.edges.end());
    sent.edges.erase(std::unique(sent.edges.begin(), sent.edges.end()), sent.edges.end());
    const std::vector<Component>& parts = m_labels[m].parts[r];
    for (std::size_t c = 0; c < parts.size(); ++c) {
      if (m_place[m][r][c] >= 0) sent.parts.push_back(parts[c]);
    }
    sent.before.assign(sent.parts.size(), 0); // with numbers, all are parts
    sent.pack(numbers, out);
  }

  void receive(const std::vector<std::int64_t>& in, const std::vector<LabelMask>& masks,
               std::vector<std::vector<std::int64_t>>& maxima) {
    const Decomposition& d = m_ranks.decomposition();
    std::vector<SeamMerge> merge(masks.size());
    for (std::size_t m = 0; m < masks.size(); ++m) merge[m].start(d, numbered(masks[m]));
    std::vector<std::int64_t> maximum = maxima[0];
    const std::int64_t* at = in.data();
    for (int rank = 0; rank < d.size(); ++rank) {
      for (std::int64_t& value : maximum) value = std::max(value, *at++);
      for (SeamMerge& seams : merge) at = seams.add(at, d.patch(rank), nullptr);
    }
    for (auto& values : maxima) values = maximum;
    for (std::size_t m = 0; m < masks.size(); ++m) {
      merge[m].merge();
      DeviceMaskLabels& labels = m_labels[m];
      labels.whole = merge[m].whole(), labels.numbered = merge[m].numbered();
      for (std::size_t r = 0; r < labels.parts.size(); ++r) {
        labels.number.emplace_back(labels.parts[r].size(), 0);
        for (std::size_t c = 0; c < labels.parts[r].size(); ++c) {
          if (m_place[m][r][c] < 0) continue; // wholly inside this patch
          const int position = merge[m].position(m_ranks.first() + static_cast<int>(r), m_place[m][r][c]);
          labels.parts[r][c] = labels.whole[static_cast<std::size_t>(position)];
          labels.number[r][c] = merge[m].numbers()[static_cast<std::size_t>(position)];
        }
      }
    }
  }

  Ranks& m_ranks;
  std::vector<DeviceMaskLabels> m_labels;
  std::vector<std::vector<std::vector<int>>> m_place; // [mask][local][component]
  device_labels::PatchPieces m_pieces;                // of the patch and mask that were labelled last
  Kokkos::View<int*, WorkMem> m_parent;
};

} // namespace nunatak
