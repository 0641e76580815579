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
// The answer is that of labels/labels.hpp on any decomposition. The host sees border cells and components, not the arrays, and
// waits once for all masks and patches. Union-find with atomics: Jaiganesh & Burtscher (2018), HPDC '18, 92-104, section 3; on
// grids: Playne & Hawick (2018), IEEE Trans. Parallel Distrib. Syst. 29(6), 1217-1230.
#pragma once

#include "kernels/grid/list.hpp"
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
  /// The decomposition must not be periodic. `ranks` must outlive this object, which keeps its work space between calls.
  explicit DeviceLabels(Ranks& ranks) : m_ranks(ranks), m_seams(ranks) {
    std::size_t cells = 0;
    for (int r = 0; r < ranks.local_size(); ++r) {
      const Patch p = ranks.patch(r);
      cells = std::max(cells, static_cast<std::size_t>(p.ym + 2) * static_cast<std::size_t>(p.xm + 2));
    }
    m_parent = Kokkos::View<int*, WorkMem>(Kokkos::view_alloc("labels: parents", Kokkos::WithoutInitializing), cells);
  }

  /// Label all masks over the codes of the owned cells of each local rank: the first of the masks.size() or more that it returns.
  /// Masks and `maxima`: see Labels::update. Communicates what labels/labels.hpp does.
  const std::vector<DeviceMaskLabels>& update(const std::vector<Array2<Code>>& codes, const std::vector<LabelMask>& masks,
                                              std::vector<std::vector<std::int64_t>>& maxima) {
    find(codes, masks);
    return join(masks, maxima);
  }

  /// The same in two halves. The first finds the components of each patch, and has waited for all loops before it: once, and
  /// again if there were more components than ever.
  void find(const std::vector<Array2<Code>>& codes, const std::vector<LabelMask>& masks) {
    const std::size_t locals = codes.size();
    reserve(masks.size());
    const BorderExchange<int>& border = m_seams.border(masks.size());
    for (std::size_t m = 0; m < masks.size(); ++m) {
      for (int c = 0; c < 256; ++c) m_tables[m][static_cast<std::size_t>(c)] = flags_of(masks[m], c);
    }
    do {
      for (std::size_t m = 0; m < masks.size(); ++m) {
        for (std::size_t r = 0; r < locals; ++r) {
          const device_labels::PatchBlocks blocks{{m_parent},  m_ranks.patch(static_cast<int>(r)), m_tables[m].data(),
                                                  codes[r],    m_labels[m].component[r],           m_fragments[m * locals + r],
                                                  &count(m, r)};
          device_labels::find_runs(blocks);
          device_labels::join_runs(blocks);
          device_labels::number_roots(blocks);
          device_labels::collect(blocks);
          device_labels::look_at_border(blocks, static_cast<int>(masks.size()), border.data(static_cast<int>(r)) + m);
        }
      }
      Kokkos::fence("labels: components and border cells");
    } while (grow(masks.size()));
  }
  const std::vector<DeviceMaskLabels>& join(const std::vector<LabelMask>& masks, std::vector<std::vector<std::int64_t>>& maxima) {
    std::vector<Components*> components;
    for (std::size_t m = 0; m < masks.size(); ++m) {
      for (std::size_t r = 0; r < m_labels[m].fragments.size(); ++r) {
        const Component* found = m_fragments[m * m_labels[m].fragments.size() + r].data();
        m_labels[m].fragments[r].assign(found, found + count(m, r));
      }
      components.push_back(&m_labels[m]);
    }
    m_seams.join(masks, components, maxima);
    return m_labels;
  }

private:
  int& count(std::size_t m, std::size_t r) const { return m_counts[m](r); }

  /// Work space of so many masks.
  void reserve(std::size_t masks) {
    const auto locals = static_cast<std::size_t>(m_ranks.local_size());
    for (std::size_t m = m_labels.size(); m < masks; ++m) {
      m_labels.emplace_back().fragments.resize(locals);
      m_tables.emplace_back(256);
      m_counts.push_back(make_shared<int*>("labels: how many", locals));
      for (int r = 0; r < m_ranks.local_size(); ++r) {
        const Patch p = m_ranks.patch(r);
        m_labels[m].component.push_back(make_array<int>("component", p));
        m_fragments.push_back(make_shared<Component*>("labels: components", p.cells() / 16 + 16));
      }
    }
  }
  /// Was there not room for all components? Then there is now.
  bool grow(std::size_t masks) {
    bool grown = false;
    for (std::size_t m = 0; m < masks; ++m) {
      for (std::size_t r = 0; r < m_labels[m].fragments.size(); ++r) {
        Shared<Component*>& fragments = m_fragments[m * m_labels[m].fragments.size() + r];
        if (count(m, r) <= fragments.extent_int(0)) continue;
        fragments = make_shared<Component*>("labels: components", count(m, r) + count(m, r) / 2);
        grown = true;
      }
    }
    return grown;
  }

  Ranks& m_ranks;
  LabelSeams m_seams;
  std::vector<DeviceMaskLabels> m_labels;      // [mask]
  std::vector<List<std::int64_t>> m_tables;    // [mask]: of each code
  std::vector<Shared<int*>> m_counts;          // [mask](local): components of the patch
  std::vector<Shared<Component*>> m_fragments; // [mask locals + local]
  Kokkos::View<int*, WorkMem> m_parent;        // of the largest patch: loops run one after the other
};

} // namespace nunatak
