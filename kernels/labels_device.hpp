// Connected components of several masks at once (see labels.hpp), labelled on the execution space: the labelling for a GPU.
//
//   row j + 1   . [4 4 4|7]       1. A thread takes 64 cells of a row; the cells of a run have its first cell as parent.
//   row j       [0 0] . [3]       2. A run is joined to the run that goes on to its left and to those below it, by atomic
//               ^ a thread's end     compare-and-swap on the larger of two roots: a parent is never larger than its child, hence
//               a
//                                    root is the smallest cell of its component, whatever the order of the threads.
//                                 3. Roots are numbered in raster order (a scan). 4. Cells find their root, areas and flags are
//                                    added up: integers, the same in any order.
//                                 5. Border cells get the identities of their neighbours beyond the seams; patches are joined by
//                                    label_merge.hpp as in labels.hpp.
//
// The answer is that of labels.hpp on any decomposition. The host sees border cells and components, not the arrays.
// Union-find with atomics: Jaiganesh & Burtscher (2018), HPDC '18, 92-104, section 3; on grids: Playne & Hawick (2018), IEEE
// Trans. Parallel Distrib. Syst. 29(6), 1217-1230.
#pragma once

#include "kernels/label_pieces.hpp"

#include <algorithm>

namespace nunatak {

/// Components of one mask.
struct DeviceMaskLabels {
  std::vector<Array2<int>> component; ///< [local](j, i): local number of the component of an owned cell, -1: not in the mask
  std::vector<std::vector<Component>> parts; ///< [local][c]: the component of local number c: of the whole, on all ranks
  std::vector<std::vector<int>> number;      ///< [local][c]: 1 + position in `whole`; 0 if not there
  std::vector<Component> whole;              ///< as in MaskLabels (labels.hpp)
};

class DeviceLabels {
public:
  /// The decomposition must not be periodic. `ranks` must outlive this object.
  explicit DeviceLabels(Ranks& ranks) : m_ranks(ranks) {
    if (ranks.decomposition().periodic_x || ranks.decomposition().periodic_y) {
      throw std::invalid_argument("labels: expected a grid that is not periodic, found a periodic one");
    }
  }

  /// Label all masks over the codes of the owned cells of each local rank. Masks and `maxima`: see Labels::update.
  /// Communicates: one message to each neighbour on a side (8 bytes per mask and border cell), one gather_all.
  const std::vector<DeviceMaskLabels>& update(const std::vector<Array2<Code>>& codes, const std::vector<LabelMask>& masks,
                                              std::vector<std::vector<std::int64_t>>& maxima) {
    const auto locals = static_cast<std::size_t>(m_ranks.local_size());
    const auto count = static_cast<int>(masks.size());
    BorderExchange<std::int64_t> identities(m_ranks, count);
    std::vector<Kokkos::View<int*, Mem>> numbers;
    m_labels.assign(masks.size(), {});
    for (std::size_t r = 0; r < locals; ++r) {
      const Patch p = patch(r);
      numbers.emplace_back("labels: border", BorderCells{p.xm, p.ym}.size() * count);
      for (int m = 0; m < count; ++m) {
        label(p, codes[r], masks[m], m_labels[m], count, numbers[r].data() + m, identities.data(static_cast<int>(r)) + m);
      }
    }
    identities.exchange();
    std::vector<std::vector<std::int64_t>> outgoing = maxima;
    for (std::size_t r = 0; r < locals; ++r) {
      for (int m = 0; m < count; ++m) contribute(r, m, masks[m].all, identities, numbers[r].data(), outgoing[r]);
    }
    receive(m_ranks.gather_all(outgoing), maxima);
    return m_labels;
  }

private:
  Patch patch(std::size_t local) const { return m_ranks.patch(static_cast<int>(local)); }

  /// Components within one patch.
  void label(const Patch& p, const Array2<Code>& codes, const LabelMask& mask, DeviceMaskLabels& labels, int stride, int* numbers,
             std::int64_t* identities) {
    const device_labels::CodeTable table("labels: codes");
    for (int c = 0; c < 256; ++c) table(c) = mask.contains(static_cast<Code>(c)) ? mask.flags(static_cast<Code>(c)) : -1;
    labels.component.push_back(make_array<int>("component", p));
    const std::size_t cells = labels.component.back().size();
    if (m_parent.size() < cells)
      m_parent = Kokkos::View<int*, WorkMem>(Kokkos::view_alloc("labels: parents", Kokkos::WithoutInitializing), cells);
    const device_labels::PatchPieces pieces{p, table, codes, labels.component.back(), m_parent};
    device_labels::find_runs(pieces);
    device_labels::join_runs(pieces);
    const Kokkos::View<Component*, WorkMem> parts("labels: components", device_labels::number_roots(pieces));
    device_labels::collect(pieces, parts);
    device_labels::look_at_border(pieces, parts, stride, numbers, identities);
    labels.parts.emplace_back(parts.size());
    Kokkos::deep_copy(Kokkos::View<Component*, Kokkos::HostSpace>(labels.parts.back().data(), parts.size()), parts);
  }

  /// What one rank tells the others about one mask: [edges, components, pairs..., (identity, cells, flags)...].
  void contribute(std::size_t r, int m, bool all, const BorderExchange<std::int64_t>& identities, const int* numbers,
                  std::vector<std::int64_t>& out) const {
    const std::vector<Component>& parts = m_labels[m].parts[r];
    const std::size_t masks = m_labels.size();
    std::vector<SeamEdge> edges;
    std::vector<char> send(parts.size(), all ? 1 : 0);
    for (const auto& side : identities.sides(static_cast<int>(r))) {
      for (int n = side.first; n < side.first + side.cells; ++n) {
        const std::size_t at = static_cast<std::size_t>(n) * masks + static_cast<std::size_t>(m);
        const std::int64_t beyond = identities.data(static_cast<int>(r))[at];
        if (numbers[at] < 0 || beyond < 0) continue;
        const auto mine = static_cast<std::size_t>(numbers[at]);
        send[mine] = 1;
        if (side.dx + side.dy < 0) edges.push_back({parts[mine].identity, beyond}); // the patch east or north of a seam sends it
      }
    }
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    const auto fewer = [](const Component& a, const Component& b) { return a.cells < b.cells; };
    const auto largest = std::max_element(parts.begin(), parts.end(), fewer); // the first of several
    if (largest != parts.end()) send[static_cast<std::size_t>(largest - parts.begin())] = 1;

    out.push_back(static_cast<std::int64_t>(edges.size()));
    out.push_back(std::count(send.begin(), send.end(), 1));
    for (const SeamEdge& e : edges) out.insert(out.end(), {e.a, e.b});
    for (std::size_t c = 0; c < parts.size(); ++c) {
      if (send[c]) out.insert(out.end(), {parts[c].identity, parts[c].cells, parts[c].flags});
    }
  }

  void receive(const std::vector<std::int64_t>& in, std::vector<std::vector<std::int64_t>>& maxima) {
    std::vector<SeamMerge> merge(m_labels.size());
    std::vector<std::int64_t> maximum = maxima[0];
    for (auto at = in.begin(); at != in.end();) {
      for (std::int64_t& value : maximum) value = std::max(value, *at++);
      for (SeamMerge& seams : merge) {
        const std::int64_t edges = *at++, components = *at++;
        for (std::int64_t n = 0; n < edges; ++n, at += 2) seams.add(SeamEdge{at[0], at[1]});
        for (std::int64_t n = 0; n < components; ++n, at += 3) seams.add(Component{at[0], at[1], at[2]});
      }
    }
    for (auto& values : maxima) values = maximum;
    for (std::size_t m = 0; m < merge.size(); ++m) {
      merge[m].merge();
      DeviceMaskLabels& labels = m_labels[m];
      labels.whole = merge[m].whole();
      for (std::vector<Component>& parts : labels.parts) {
        labels.number.emplace_back(parts.size(), 0);
        for (std::size_t c = 0; c < parts.size(); ++c) {
          const int position = merge[m].position(parts[c].identity);
          if (position < 0) continue; // wholly inside this patch
          parts[c] = labels.whole[static_cast<std::size_t>(position)];
          labels.number.back()[c] = position + 1;
        }
      }
    }
  }

  Ranks& m_ranks;
  std::vector<DeviceMaskLabels> m_labels;
  Kokkos::View<int*, WorkMem> m_parent;
};

} // namespace nunatak
