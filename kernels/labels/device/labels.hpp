// Connected components of several masks at once (see labels/labels.hpp), labelled on the execution space: the labelling for a
// GPU.
//
//   row j + 1   . [4 4 4|7]       1. A thread takes 64 cells of a row; the cells of a run have its first cell as parent.
//   row j       [0 0] . [3]       2. A run is joined to the run that goes on to its left and to those below it, by atomic
//               ^ a thread's end     compare-and-swap on the larger of two roots. A parent is never larger than its child: a
//                                    root is the smallest cell of its component, whatever the order of the threads.
//                                 3. Roots are numbered in raster order (a scan).
//                                 4. Cells find their root; areas and flags are added up: integers, the same in any order.
//                                 5. The host gets the fragments of border cells; patches are joined by labels/seams.hpp.
//
// The answer is that of labels/labels.hpp on any decomposition. The host sees border cells and components, not the arrays.
// Union-find with atomics: Jaiganesh & Burtscher (2018), HPDC '18, 92-104, section 3; on grids: Playne & Hawick (2018), IEEE
// Trans. Parallel Distrib. Syst. 29(6), 1217-1230.
#pragma once

#include "kernels/labels/device/union_find.hpp"
#include "kernels/labels/labels.hpp"

#include <algorithm>

namespace nunatak {

/// Components of one mask.
struct DeviceMaskLabels : Components {
  std::vector<Array2<int>> component; ///< [local](j, i): local number of the component of an owned cell, -1: not in the mask
};

class DeviceLabels {
public:
  /// The decomposition must not be periodic. `ranks` must outlive this object.
  explicit DeviceLabels(Ranks& ranks) : m_ranks(ranks), m_seams(ranks) {}

  /// Label all masks over the codes of the owned cells of each local rank. Masks and `maxima`: see Labels::update.
  /// Communicates what labels/labels.hpp does.
  const std::vector<DeviceMaskLabels>& update(const std::vector<Array2<Code>>& codes, const std::vector<LabelMask>& masks,
                                              std::vector<std::vector<std::int64_t>>& maxima) {
    const BorderExchange<int>& border = m_seams.border(masks.size());
    const auto stride = static_cast<int>(masks.size());
    m_labels.assign(masks.size(), {});
    std::vector<Components*> components;
    for (int m = 0; m < stride; ++m) {
      for (int r = 0; r < m_ranks.local_size(); ++r)
        label(m_ranks.patch(r), codes[r], masks[m], m_labels[m], stride, border.data(r) + m);
      components.push_back(&m_labels[m]);
    }
    Kokkos::fence("labels: components and border cells");
    m_seams.join(masks, components, maxima);
    return m_labels;
  }

private:
  void label(const Patch& p, const Array2<Code>& codes, const LabelMask& mask, DeviceMaskLabels& labels, int stride,
             int* border) {
    const device_labels::CodeTable table(shared_label("labels: codes"));
    for (int c = 0; c < 256; ++c) table(c) = flags_of(mask, c);
    labels.component.push_back(make_array<int>("component", p));
    const std::size_t cells = labels.component.back().size();
    if (m_parent.size() < cells)
      m_parent = Kokkos::View<int*, WorkMem>(Kokkos::view_alloc("labels: parents", Kokkos::WithoutInitializing), cells);
    const device_labels::PatchBlocks blocks{p, table, codes, labels.component.back(), m_parent};
    device_labels::find_runs(blocks);
    device_labels::join_runs(blocks);
    const Kokkos::View<Component*, WorkMem> fragments("labels: components", device_labels::number_roots(blocks));
    device_labels::collect(blocks, fragments);
    device_labels::look_at_border(blocks, stride, border);
    labels.fragments.emplace_back(fragments.size());
    Kokkos::deep_copy(Kokkos::View<Component*, Kokkos::HostSpace>(labels.fragments.back().data(), fragments.size()), fragments);
  }

  Ranks& m_ranks;
  LabelSeams m_seams;
  std::vector<DeviceMaskLabels> m_labels;
  Kokkos::View<int*, WorkMem> m_parent;
};

} // namespace nunatak
