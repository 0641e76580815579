// Connected components (4-connected) of several masks at once, the same on every decomposition.
//
// Input: one code (a byte) per cell, and for each mask the codes that belong to it. Rows are cut
// into segments of equal code (segments.hpp), segments of one mask are joined within each patch to
// fragments (fragments.hpp), and these are joined across subdomain boundaries (boundaries.hpp). A
// component is identified by the smallest global index of its cells (64 bits) and, if its mask asks
// for it, by a number: 1, 2, ... in raster order of the first cell, as in a serial program.
//
// Communicates, for a batch of masks: one message to each neighbour beyond a side (4 bytes per mask
// and border cell) and one gather (two collectives) of the fragments that touch a subdomain
// boundary, the numbered ones and the largest of each rank (16 bytes each), and the edges between
// them (8 bytes each). Nothing is sent on one rank.
//
// A union-find over runs is needed, not "the label of the run above": a run may touch several runs
// above it, which then belong to one component. A program that joins only the first of them splits
// this one, unless the merge across boundaries, which is complete, joins it:
//
//   1 0 0 0 0 0 1      patches of the 7 x 3 cells   1 x 1  2 x 1  1 x 2  3 x 1  2 x 2  1 x 3  7 x 3
//   1 0 1 1 1 0 1      components that it finds       3      3      1      2      1      1      1
//   1 1 1 0 1 1 1
//
// Equal results on two decompositions therefore prove nothing; tests compare with a flood fill
// (tests/kernels/test_labels.cpp).
#pragma once

#include "kernels/labels/boundaries.hpp"

namespace nunatak {

struct MaskLabels : Components {
  /// component[local][segment]: the fragment of a segment, -1 if it is not in the mask
  std::vector<LargeList<int>> component;

  /// The component of a segment, its number, and its flags (0 if the segment is not in the mask).
  const Component& at(std::size_t local, int segment) const {
    return fragments[local][component[local][segment]];
  }
  int number_of(std::size_t local, int segment) const {
    return number[local][component[local][segment]];
  }
  std::int64_t flags(std::size_t local, int segment) const {
    return component[local][segment] < 0 ? 0 : at(local, segment).flags();
  }
};

class Labels {
public:
  /// The decomposition must not be periodic. `ranks` must outlive this object, which keeps work
  /// space between calls. batch = false: messages and a gather for each mask.
  explicit Labels(Ranks& ranks, bool batch = true)
      : m_ranks(ranks), m_boundaries(ranks), m_batch(batch) {}

  /// Labels all masks over the segments of each local rank, with their current codes.
  /// `maxima[local]` (equal sizes) is replaced by maxima over all ranks.
  const std::vector<MaskLabels>& update(const std::vector<Segments>& segments,
                                        const std::vector<LabelMask>& masks,
                                        std::vector<std::vector<std::int64_t>>& maxima) {
    m_labels.resize(masks.size());
    std::vector<std::vector<std::int64_t>> nothing(maxima.size());
    if (m_batch) label(segments, masks, m_labels.data(), maxima);
    for (std::size_t m = 0; m < masks.size() && !m_batch; ++m)
      label(segments, {masks[m]}, &m_labels[m], m == 0 ? maxima : nothing);
    return m_labels;
  }

private:
  void label(const std::vector<Segments>& segments, const std::vector<LabelMask>& masks,
             MaskLabels* found, std::vector<std::vector<std::int64_t>>& maxima) {
    const auto locals = static_cast<std::size_t>(m_ranks.local_size());
    BorderExchange& border = m_boundaries.border(masks.size());
    std::vector<Components*> components;
    for (std::size_t m = 0; m < masks.size(); ++m) {
      MaskLabels& labels = found[m];
      labels.component.resize(locals);
      labels.fragments.resize(locals);
      components.push_back(&labels);
      for (const int r : m_ranks.locals()) {
        const Patch p = m_ranks.patch(r);
        m_patch.update(p, segments[r], masks[m], labels.component[r], labels.fragments[r]);
        m_ranks.work(r, segments[r].size(), Work::labels);
        fill_border(p, segments[r], labels.component[r], masks.size(), border.data(r).data() + m);
      }
    }
    m_boundaries.join(masks, components, maxima);
  }

  /// Components of the border cells (border_exchange.hpp), with stride `stride`.
  static void fill_border(const Patch& p, const Segments& s, const LargeList<int>& component,
                          std::size_t stride, int* out) {
    const auto put = [&](int c) {
      *out = c;
      out += stride;
    };
    for (int j = 1; j <= p.ym; ++j) put(component[s.row[j]]);
    for (int j = 1; j <= p.ym; ++j) put(component[s.row[j + 1] - 1]);
    for (const int j : {1, p.ym}) {
      for (int n = s.row[j], i = 1; n < s.row[j + 1]; ++n) {
        for (; i < s.end(n); ++i) put(component[n]);
      }
    }
  }

  Ranks& m_ranks;
  BoundaryLabels m_boundaries;
  PatchLabels m_patch;
  bool m_batch;
  std::vector<MaskLabels> m_labels;
};

/// Writes component numbers to the owned cells of an array: 0 outside the mask and for unnumbered
/// components. `local`: the local rank of `patch` and `segments`. No communication.
inline void write_numbers(const Patch& patch, const Segments& segments, const MaskLabels& labels,
                          std::size_t local, const SharedArray2<int>& numbers) {
  constexpr int block =
      4; // cells written at once: the next segment overwrites what exceeds this one
  const int *component = labels.component[local].data(), *number = labels.number[local].data();
  std::vector<int> line(static_cast<std::size_t>(patch.xm) + 1 + block);
  int* row = line.data();
  for (int j = 1; j <= patch.ym; ++j) {
    for (int n = segments.row[j], begin = 1; n < segments.row[j + 1]; ++n) {
      const int value = component[n] < 0 ? 0 : number[component[n]], end = segments.end(n);
      int i = begin;
      do {
        for (int k = 0; k < block; ++k) row[i + k] = value;
        i += block;
      } while (i < end);
      begin = end;
    }
    std::copy(row + 1, row + 1 + patch.xm, &numbers(j, 1));
  }
}

} // namespace nunatak
