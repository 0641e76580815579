// Connected components (4-connected) of several masks at once, the same on every decomposition.
//
// Input: one code (a byte) per cell, and per mask a rule that says which codes belong to it. Rows are cut into segments of
// equal code (segments.hpp); runs of segments of one mask are joined to those of the row below by union-find; patches are
// joined across their seams (label_merge.hpp). A batch of masks costs one ghost exchange and two collectives (one gather),
// which carries the edges across seams, once each, and the components they join; nothing else is sent, except the components
// of masks that ask for `all`.
//
// Why a union-find over runs and not "the label of the run above": a run may touch several runs above it, and all of them are
// then one component. Forgetting one splits the component, e.g. this one:      1 0 0 0 0 0 1
//                                                                              1 0 1 1 1 0 1
//                                                                              1 1 1 0 1 1 1
// Method: run-based two-pass labelling, He, Chao & Suzuki (2008), IEEE Trans. Image Process. 17(5).
#pragma once

#include "kernels/label_merge.hpp"
#include "kernels/ranks.hpp"
#include "kernels/segments.hpp"

namespace nunatak {

/// Flag of components that have a cell on the edge of the grid; the other bits belong to the masks.
constexpr std::int64_t touches_edge = 1;

struct LabelMask {
  bool (*contains)(Code code);                                        ///< is a cell of this code part of the mask?
  std::int64_t (*flags)(Code) = [](Code) { return std::int64_t{0}; }; ///< flags that a cell of this code gives to its component
  bool all = false; ///< gather all components on all ranks: `whole` is then complete, and numbers are consecutive
};

/// Components of one mask.
struct MaskLabels {
  /// component[local][segment]: local number of the component that a segment belongs to, -1 if it is not in the mask
  std::vector<std::vector<int>> component;
  /// parts[local][c]: the component of local number c: identity, area and flags of the whole component, on all ranks
  std::vector<std::vector<Component>> parts;
  /// number[local][c]: 1 + position in `whole`, in the order of identities (raster order of the first cell); 0 if not there
  std::vector<std::vector<int>> number;
  /// whole components, in the order of identities: all of them if LabelMask::all, else those across seams and the largest of
  /// each rank
  std::vector<Component> whole;

  /// The component with most cells (of several, the one of smallest identity); cells = 0 if the mask is empty.
  Component largest() const {
    Component best;
    for (const Component& c : whole) {
      if (c.cells > best.cells) best = c;
    }
    return best;
  }
};

class Labels {
public:
  /// The decomposition must not be periodic. `ranks` must outlive this object, which keeps its work space between calls.
  explicit Labels(Ranks& ranks) : m_ranks(ranks) {
    if (ranks.decomposition().periodic_x || ranks.decomposition().periodic_y) {
      throw std::invalid_argument("labels: expected a grid that is not periodic, found a periodic one");
    }
  }

  /// Label all masks over the segments of each local rank (their codes may have been changed since they were found).
  /// `maxima[local]`: numbers that travel along; replaced by their maxima over all ranks (equal sizes on all ranks).
  /// Communicates: one ghost exchange (8 bytes per mask and cell), one gather_all.
  const std::vector<MaskLabels>& update(const std::vector<Segments>& segments, const std::vector<LabelMask>& masks,
                                        std::vector<std::vector<std::int64_t>>& maxima) {
    const auto locals = static_cast<std::size_t>(m_ranks.local_size());
    m_labels.resize(masks.size());
    m_seam.resize(locals);
    std::vector<std::vector<std::int64_t>> outgoing(locals);
    for (std::size_t m = 0; m < masks.size(); ++m) {
      m_labels[m].component.resize(locals), m_labels[m].parts.resize(locals), m_labels[m].number.resize(locals);
      for (std::size_t r = 0; r < locals; ++r) label_patch(patch(r), segments[r], masks[m], m_labels[m], r);
    }
    exchange_identities(segments, masks.size());
    for (std::size_t r = 0; r < locals; ++r) {
      outgoing[r] = maxima[r];
      for (std::size_t m = 0; m < masks.size(); ++m) contribute(r, m, masks[m].all, segments[r], outgoing[r]);
    }
    receive(m_ranks.gather_all(outgoing), masks.size(), maxima);
    for (std::size_t m = 0; m < masks.size(); ++m) {
      m_labels[m].whole = m_merge[m].whole();
      for (std::size_t r = 0; r < locals; ++r) finish(m_merge[m], m_labels[m], r);
    }
    return m_labels;
  }

private:
  Patch patch(std::size_t local) const { return m_ranks.patch(static_cast<int>(local)); }

  /// Components within one patch.
  void label_patch(const Patch& p, const Segments& s, const LabelMask& mask, MaskLabels& labels, std::size_t r) {
    bool inside[256];
    std::int64_t flags[256];
    for (int c = 0; c < 256; ++c) {
      inside[c] = mask.contains(static_cast<Code>(c));
      flags[c] = inside[c] ? mask.flags(static_cast<Code>(c)) : 0;
    }
    std::vector<int>& run = labels.component[r]; // first the run of each segment, then its component
    run.assign(s.list.size(), -1);
    m_sets.reset(0);
    for (int j = 1; j <= p.ym; ++j) {
      const int begin = s.row[j], end = s.row[j + 1];
      int below = j > 1 ? s.row[j - 1] : begin; // first segment of the row below that may touch
      for (int n = begin; n < end; ++n) {
        const Segment& here = s.list[n];
        if (!inside[here.code]) continue;
        run[n] = n > begin && run[n - 1] >= 0 ? run[n - 1] : m_sets.add();
        for (; below < begin && s.list[below].i1 <= here.i0; ++below) {
        }
        for (int b = below; b < begin && s.list[b].i0 < here.i1; ++b) {
          if (run[b] >= 0) m_sets.join(run[n], run[b]);
        }
      }
    }
    std::vector<Component>& parts = labels.parts[r];
    parts.clear();
    m_component.assign(static_cast<std::size_t>(m_sets.size()), -1);
    for (int j = 1; j <= p.ym; ++j) {
      const bool edge_row = p.global_j(j) == 0 || p.global_j(j) == p.My - 1;
      for (int n = s.row[j]; n < s.row[j + 1]; ++n) {
        if (run[n] < 0) continue;
        const Segment& here = s.list[n];
        int& component = m_component[static_cast<std::size_t>(m_sets.root(run[n]))];
        if (component < 0) {
          component = static_cast<int>(parts.size());
          parts.push_back({p.cell(j, here.i0), 0, 0}); // raster order: the first cell met has the smallest index
        }
        run[n] = component;
        Component& part = parts[static_cast<std::size_t>(component)];
        part.cells += here.i1 - here.i0;
        part.flags |= flags[here.code];
        if (edge_row || p.global_i(here.i0) == 0 || p.global_i(here.i1 - 1) == p.Mx - 1) part.flags |= touches_edge;
      }
    }
  }

  /// Identities (plus one; 0 outside the mask) of the outermost owned cells go to the ghosts of the neighbours.
  void exchange_identities(const std::vector<Segments>& segments, std::size_t masks) {
    if (m_ranks.decomposition().size() == 1) return;
    std::vector<std::vector<Ghosted>> ghosted;
    for (std::size_t r = 0; r < m_seam.size(); ++r) {
      const Patch p = patch(r);
      Array3<std::int64_t>& seam = m_seam[r];
      if (seam.extent(2) != masks) seam = make_columns<std::int64_t>("seam identities", p, static_cast<int>(masks));
      for (std::size_t m = 0; m < masks; ++m) {
        const auto write = [&](int j, int i, int n) {
          const int c = m_labels[m].component[r][n];
          seam(j, i, m) = c < 0 ? 0 : m_labels[m].parts[r][static_cast<std::size_t>(c)].identity + 1;
        };
        const Segments& s = segments[r];
        for (int j = 1; j <= p.ym; ++j) {
          write(j, 1, s.row[j]);
          write(j, p.xm, s.row[j + 1] - 1);
          if (j > 1 && j < p.ym) continue;
          for (int n = s.row[j]; n < s.row[j + 1]; ++n) {
            for (int i = s.list[n].i0; i < s.list[n].i1; ++i) write(j, i, n);
          }
        }
      }
      ghosted.push_back({seam});
    }
    m_ranks.update_ghosts(ghosted);
  }

  /// What one rank tells the others about one mask: [edges, components, pairs..., (identity, cells, flags)...].
  void contribute(std::size_t r, std::size_t m, bool all, const Segments& segments, std::vector<std::int64_t>& out) {
    const Patch p = patch(r);
    const std::vector<Component>& parts = m_labels[m].parts[r];
    std::vector<SeamEdge> edges;
    std::vector<char> send(parts.size(), all ? 1 : 0);
    if (m_ranks.decomposition().size() > 1) {
      const auto look = [&](int j, int i, int n, int jg, int ig, bool mine) {
        const int c = m_labels[m].component[r][n];
        if (c < 0 || m_seam[r](jg, ig, m) == 0) return;
        send[static_cast<std::size_t>(c)] = 1;
        const SeamEdge edge{m_seam[r](j, i, m) - 1, m_seam[r](jg, ig, m) - 1};
        if (mine && (edges.empty() || !(edges.back() == edge))) edges.push_back(edge); // runs: one edge, not one per cell
      };
      const auto look_at_row = [&](int j, int jg, bool mine) {
        for (int n = segments.row[j]; n < segments.row[j + 1]; ++n) {
          for (int i = segments.list[n].i0; i < segments.list[n].i1; ++i) look(j, i, n, jg, i, mine);
        }
      };
      // each seam is sent by the patch east or north of it
      if (p.ys > 0) look_at_row(1, 0, true);
      if (p.ys + p.ym < p.My) look_at_row(p.ym, p.ym + 1, false);
      for (int j = 1; j <= p.ym && p.xs > 0; ++j) look(j, 1, segments.row[j], j, 0, true);
      for (int j = 1; j <= p.ym && p.xs + p.xm < p.Mx; ++j) look(j, p.xm, segments.row[j + 1] - 1, j, p.xm + 1, false);
    }
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    const auto larger = [](const Component& a, const Component& b) { return a.cells < b.cells; };
    const auto largest = std::max_element(parts.begin(), parts.end(), larger); // the first of several
    if (largest != parts.end()) send[static_cast<std::size_t>(largest - parts.begin())] = 1;

    out.push_back(static_cast<std::int64_t>(edges.size()));
    out.push_back(std::count(send.begin(), send.end(), 1));
    for (const SeamEdge& e : edges) out.insert(out.end(), {e.a, e.b});
    for (std::size_t c = 0; c < parts.size(); ++c) {
      if (send[c]) out.insert(out.end(), {parts[c].identity, parts[c].cells, parts[c].flags});
    }
  }

  void receive(const std::vector<std::int64_t>& in, std::size_t masks, std::vector<std::vector<std::int64_t>>& maxima) {
    m_merge.resize(masks);
    for (SeamMerge& merge : m_merge) merge.clear();
    std::vector<std::int64_t> maximum = maxima[0];
    for (auto at = in.begin(); at != in.end();) {
      for (std::int64_t& value : maximum) value = std::max(value, *at++);
      for (SeamMerge& merge : m_merge) {
        const std::int64_t edges = *at++, components = *at++;
        for (std::int64_t n = 0; n < edges; ++n, at += 2) merge.add(SeamEdge{at[0], at[1]});
        for (std::int64_t n = 0; n < components; ++n, at += 3) merge.add(Component{at[0], at[1], at[2]});
      }
    }
    for (auto& values : maxima) values = maximum;
    for (SeamMerge& merge : m_merge) merge.merge();
  }

  static void finish(const SeamMerge& merge, MaskLabels& labels, std::size_t r) {
    labels.number[r].assign(labels.parts[r].size(), 0);
    for (std::size_t c = 0; c < labels.parts[r].size(); ++c) {
      const int position = merge.position(labels.parts[r][c].identity);
      if (position < 0) continue; // wholly inside this patch
      labels.parts[r][c] = merge.whole()[static_cast<std::size_t>(position)];
      labels.number[r][c] = position + 1;
    }
  }

  Ranks& m_ranks;
  std::vector<MaskLabels> m_labels;
  std::vector<Array3<std::int64_t>> m_seam; // (j, i, mask); only the outermost owned cells and the ghosts are used
  std::vector<SeamMerge> m_merge;
  DisjointSets m_sets;          // of the runs of a patch
  std::vector<int> m_component; // of a root
};

} // namespace nunatak
