// Connected components of several masks at once (see labels/labels.hpp), labelled on the execution
// space: the labelling for a GPU.
//
//   row j + 1   . [4 4 4|7]       1. A thread takes 64 cells of a row; the cells of a run have its
//   first cell as parent. row j       [0 0] . [3]       2. A run is joined to the run that goes on
//   to its left and to those below it, by atomic
//               ^ a thread's end     compare-and-swap on the larger of two roots. A parent is never
//               larger than its child: a
//                                    root is the smallest cell of its component, whatever the order
//                                    of the threads.
//                                 3. Roots are numbered in raster order (a scan).
//                                 4. Cells find their root; areas and flags are added up: integers,
//                                 the same in any order.
//                                 5. The host gets the fragments of border cells; patches are
//                                 joined by labels/seams.hpp.
//
// A loop takes all masks of a batch. The answer is that of labels/labels.hpp on any decomposition.
// The host sees border cells and components, not the arrays, and waits once for all masks and
// patches. Union-find with atomics: Jaiganesh & Burtscher (2018), HPDC '18, 92-104, section 3; on
// grids: Playne & Hawick (2018), IEEE Trans. Parallel Distrib. Syst. 29(6), 1217-1230.
#pragma once

#include "kernels/grid/list.hpp"
#include "kernels/labels/device/union_find.hpp"
#include "kernels/labels/labels.hpp"

#include <algorithm>

namespace nunatak {

/// Components of one mask.
struct DeviceMaskLabels : Components {
  std::vector<Array2<int>> component; ///< [local](j, i): local number of the component of an owned
                                      ///< cell, -1: not in the mask
};

/// What loops know of the component of a cell: all of it after join(), what its patch has of it
/// before.
struct ComponentOfCell {
  Array2<int> component;
  Shared<const Component*> found;
  /// No cells and no flags where there is none.
  KOKKOS_INLINE_FUNCTION Component operator()(int j, int i) const {
    const int c = component(j, i);
    return c < 0 ? Component{-1, 0} : found(c);
  }
};

/// A batch of masks.
class DeviceLabels {
public:
  /// At most 3 masks. The decomposition must not be periodic. `ranks` must outlive this object.
  DeviceLabels(Ranks& ranks, const std::vector<LabelMask>& masks)
      : m_ranks(ranks), m_masks(masks), m_seams(ranks), m_labels(masks.size()),
        m_found(masks.size()) {
    if (masks.size() > device_labels::most_masks)
      throw std::invalid_argument("labels: expected at most 3 masks, found " +
                                  std::to_string(masks.size()));
    const auto locals = static_cast<std::size_t>(ranks.local_size());
    std::int64_t cells = 0; // of the largest patch, with ghosts
    for (std::size_t r = 0; r < locals; ++r)
      cells = std::max(cells, static_cast<std::int64_t>(patch(r).ym + 2) * (patch(r).xm + 2));
    for (std::size_t m = 0; m < masks.size(); ++m) {
      m_tables.emplace_back();
      for (int c = 0; c < 256; ++c) m_tables[m].push_back(flags_of(masks[m], c));
      m_parents.emplace_back(Kokkos::view_alloc("labels: parents", Kokkos::WithoutInitializing),
                             cells);
      m_counts.push_back(make_shared<int*>("labels: how many", locals));
      m_labels[m].fragments.resize(locals);
      for (std::size_t r = 0; r < locals; ++r) {
        m_labels[m].component.push_back(make_array<int>("component", patch(r)));
        m_found[m].emplace_back(
            Kokkos::view_alloc(shared_label("labels: components"), Kokkos::WithoutInitializing),
            patch(r).cells() / 2 + 1); // those of a chequerboard
      }
    }
  }

  /// Label the masks over the codes of the owned cells of each local rank. The answer and `maxima`:
  /// see Labels::update. Communicates what labels/labels.hpp does.
  const std::vector<DeviceMaskLabels>& update(const std::vector<Array2<Code>>& codes,
                                              std::vector<std::vector<std::int64_t>>& maxima) {
    find(codes);
    Kokkos::fence("labels: components and border cells");
    return join(maxima);
  }

  /// The same in two halves. The first finds the components of each patch, and does not wait for
  /// its loops; the second, of the host, wants them done.
  void find(const std::vector<Array2<Code>>& codes) {
    const BorderExchange<int>& border = m_seams.border(m_masks.size());
    for (std::size_t r = 0; r < codes.size(); ++r) {
      device_labels::PatchMasks all;
      for (std::size_t m = 0; m < m_masks.size(); ++m) {
        all.masks[m] = {{m_parents[m]},           patch(r),      m_tables[m].data(), codes[r],
                        m_labels[m].component[r], m_found[m][r], &m_counts[m](r)};
      }
      all.count = static_cast<int>(m_masks.size());
      device_labels::find_runs(all);
      device_labels::join_runs(all);
      device_labels::number_roots(all);
      device_labels::collect(all);
      if (m_ranks.decomposition().size() > 1)
        device_labels::look_at_border(all, border.data(static_cast<int>(r)));
    }
  }
  const std::vector<DeviceMaskLabels>& join(std::vector<std::vector<std::int64_t>>& maxima) {
    std::vector<Components*> components;
    for (std::size_t m = 0; m < m_masks.size(); ++m) {
      for (std::size_t r = 0; r < m_found[m].size(); ++r)
        m_labels[m].fragments[r].assign(m_found[m][r].data(),
                                        m_found[m][r].data() + m_counts[m](r));
      components.push_back(&m_labels[m]);
    }
    m_seams.join(m_masks, components, maxima);
    for (std::size_t m = 0; m < m_masks.size() && m_ranks.decomposition().size() > 1; ++m) {
      for (std::size_t r = 0; r < m_found[m].size(); ++r)
        std::copy(m_labels[m].fragments[r].begin(), m_labels[m].fragments[r].end(),
                  m_found[m][r].data());
    }
    return m_labels;
  }

  /// For loops: how many components a patch has, and what they know of them. They do not wait for
  /// join() on one rank.
  const int* how_many(int mask, std::size_t local) const {
    return &m_counts[static_cast<std::size_t>(mask)](local);
  }
  ComponentOfCell of_cell(int mask, std::size_t local) const {
    const auto m = static_cast<std::size_t>(mask);
    return {m_labels[m].component[local], m_found[m][local]};
  }

private:
  Patch patch(std::size_t r) const { return m_ranks.patch(static_cast<int>(r)); }

  Ranks& m_ranks;
  std::vector<LabelMask> m_masks;
  LabelSeams m_seams;
  std::vector<DeviceMaskLabels> m_labels;               // [mask]
  std::vector<List<std::int64_t>> m_tables;             // [mask]: of each code
  std::vector<Shared<int*>> m_counts;                   // [mask](local): components of the patch
  std::vector<std::vector<Shared<Component*>>> m_found; // [mask][local]: these components
  std::vector<Kokkos::View<int*, WorkMem>>
      m_parents; // [mask]: of any patch, since loops run one after the other
};

} // namespace nunatak
