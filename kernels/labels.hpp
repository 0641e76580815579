// Connected components (4-connected) of several masks at once, the same on every decomposition.
//
// Input: one code (a byte) per cell, and per mask a rule that says which codes belong to it. Rows are cut into segments of
// equal code (segments.hpp), segments of one mask are joined within each patch (label_patch.hpp), and patches are joined across
// their seams (label_merge.hpp). A component is known by its identity, the smallest global index of its cells (64 bits), and
// where a mask asks for it by a number: 1, 2, ... in raster order of the first cell, what a serial program would find.
//
// Communicates, for a batch of masks: one ghost exchange (4 bytes per mask and cell) and one gather (two collectives) of the
// components that touch a seam (two words each, and the largest of each rank), the edges between them (one word each), and of
// numbered masks the number of other components per row (one word each). Nothing else is sent, except all components of masks
// that ask for `all`. On one rank nothing touches a seam.
//
// Why a union-find over runs and not "the label of the run above": a run may touch several runs above it, and all of them are
// then one component. Forgetting one splits the component, e.g. this one:      1 0 0 0 0 0 1
//                                                                              1 0 1 1 1 0 1
//                                                                              1 1 1 0 1 1 1
#pragma once

#include "kernels/label_merge.hpp"
#include "kernels/ranks.hpp"

namespace nunatak {

/// Components of one mask.
struct MaskLabels {
  /// component[local][segment]: local number of the component that a segment belongs to, -1 if it is not in the mask
  std::vector<std::vector<int>> component;
  /// parts[local][c]: the component of local number c: identity, area and flags of the whole component, on all ranks
  std::vector<std::vector<Component>> parts;
  /// number[local][c]: its number, from 1 in the order of identities among those that are numbered; 0 if it is not.
  /// LabelMask::numbered says which are; all of them if LabelMask::all.
  std::vector<std::vector<int>> number;
  int numbered = 0; ///< how many are numbered, on all ranks together
  /// whole components, in the order of identities: all of them if LabelMask::all, else those that touch a seam and the largest
  /// of each rank
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
  const std::vector<MaskLabels>& update(const std::vector<Segments>& segments, const std::vector<LabelMask>& masks,
                                        std::vector<std::vector<std::int64_t>>& maxima) {
    const auto locals = static_cast<std::size_t>(m_ranks.local_size());
    m_labels.resize(masks.size()), m_place.resize(masks.size()), m_begin.resize(masks.size()), m_merge.resize(masks.size());
    m_seam.resize(locals);
    for (std::size_t m = 0; m < masks.size(); ++m) {
      MaskLabels& labels = m_labels[m];
      labels.component.resize(locals), labels.parts.resize(locals), labels.number.resize(locals), m_place[m].resize(locals),
          m_begin[m].resize(locals);
      for (std::size_t r = 0; r < locals; ++r) {
        m_patch_labels.update(patch(r), segments[r], masks[m], labels.component[r], labels.parts[r], m_begin[m][r]);
        choose_parts(r, segments[r], masks[m], m);
      }
    }
    exchange_places(segments, masks.size());
    std::vector<std::vector<std::int64_t>> outgoing = maxima;
    for (std::size_t r = 0; r < locals; ++r) {
      for (std::size_t m = 0; m < masks.size(); ++m) contribute(r, m, numbered(masks[m]) != nullptr, segments[r], outgoing[r]);
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

  /// m_place[m][r][c]: place of component c among the parts that rank r sends; else whether it is `counted` or not.
  void choose_parts(std::size_t r, const Segments& s, const LabelMask& mask, std::size_t m) {
    const Patch p = patch(r);
    const std::vector<int>& component = m_labels[m].component[r];
    const std::vector<Component>& parts = m_labels[m].parts[r];
    std::vector<int>& place = m_place[m][r];
    place.assign(parts.size(), mask.all ? 0 : not_counted);
    const auto choose = [&](int segment) {
      if (component[segment] >= 0) place[component[segment]] = 0;
    };
    const auto choose_row = [&](int j) {
      for (int n = s.row[j]; n < s.row[j + 1]; ++n) choose(n);
    };
    if (p.ys > 0) choose_row(1);
    if (p.ys + p.ym < p.My) choose_row(p.ym);
    for (int j = 1; j <= p.ym && p.xs > 0; ++j) choose(s.row[j]);
    for (int j = 1; j <= p.ym && p.xs + p.xm < p.Mx; ++j) choose(s.row[j + 1] - 1);
    std::size_t largest = 0; // the first of several
    for (std::size_t c = 0; c < parts.size(); ++c) {
      if (parts[c].cells > parts[largest].cells) largest = c;
      if (mask.numbered && place[c] < 0 && mask.numbered(parts[c])) place[c] = counted;
    }
    if (!parts.empty()) place[largest] = 0;
    int chosen = 0;
    for (int& of_part : place) {
      if (of_part >= 0) of_part = chosen++;
    }
  }

  /// The places (plus one; 0 outside the mask) of what is in the easternmost column and the northernmost row of a patch go to
  /// the ghosts of the neighbours there.
  void exchange_places(const std::vector<Segments>& segments, std::size_t masks) {
    if (m_ranks.decomposition().size() == 1) return;
    std::vector<std::vector<Ghosted>> ghosted;
    for (std::size_t r = 0; r < m_seam.size(); ++r) {
      const Patch p = patch(r);
      Array3<int>& seam = m_seam[r];
      if (seam.extent(2) != masks) seam = make_columns<int>("seam", p, static_cast<int>(masks));
      for (std::size_t m = 0; m < masks; ++m) {
        const auto place = [&](int segment) {
          const int c = m_labels[m].component[r][segment];
          return c < 0 ? 0 : m_place[m][r][c] + 1;
        };
        const Segments& s = segments[r];
        for (int j = 1; j <= p.ym; ++j) seam(j, p.xm, m) = place(s.row[j + 1] - 1);
        for (int n = s.row[p.ym]; n < s.row[p.ym + 1]; ++n) {
          for (int i = s.list[n].i0; i < s.list[n].i1; ++i) seam(p.ym, i, m) = place(n);
        }
      }
      ghosted.push_back({seam});
    }
    m_ranks.update_ghosts(ghosted);
  }

  /// What one rank tells the others about one mask.
  void contribute(std::size_t r, std::size_t m, bool with_rows, const Segments& segments, std::vector<std::int64_t>& out) {
    const Patch p = patch(r);
    const std::vector<Component>& parts = m_labels[m].parts[r];
    const std::vector<int>&component = m_labels[m].component[r], &place = m_place[m][r];
    m_sent = {};
    const auto look = [&](int segment, bool south, int j, int i) {
      const int c = component[segment];
      if (c < 0 || m_seam[r](j, i, m) == 0) return;
      const std::int64_t edge = SeamParts::edge(place[c], south, m_seam[r](j, i, m) - 1);
      if (m_sent.edges.empty() || m_sent.edges.back() != edge) m_sent.edges.push_back(edge); // one per run, not per cell
    };
    for (int j = 1; j <= p.ym && p.xs > 0; ++j) look(segments.row[j], false, j, 0);
    for (int n = segments.row[1]; n < segments.row[2] && p.ys > 0; ++n) {
      for (int i = segments.list[n].i0; i < segments.list[n].i1; ++i) look(n, true, 0, i);
    }
    std::sort(m_sent.edges.begin(), m_sent.edges.end());
    m_sent.edges.erase(std::unique(m_sent.edges.begin(), m_sent.edges.end()), m_sent.edges.end());

    for (int j = 1; j <= p.ym; ++j) {
      int in_row = 0; // counted, not sent
      for (int c = m_begin[m][r][j]; c < m_begin[m][r][j + 1]; ++c) {
        in_row += place[c] == counted;
        if (place[c] >= 0) m_sent.parts.push_back(parts[c]), m_sent.before.push_back(in_row);
      }
      if (in_row > 0) m_sent.rows.push_back(static_cast<std::int64_t>(p.global_j(j)) << 32 | in_row);
    }
    m_sent.pack(with_rows, out);
  }

  void receive(const std::vector<std::int64_t>& in, const std::vector<LabelMask>& masks,
               std::vector<std::vector<std::int64_t>>& maxima) {
    const Decomposition& d = m_ranks.decomposition();
    for (std::size_t m = 0; m < masks.size(); ++m) m_merge[m].start(d, numbered(masks[m]));
    std::vector<std::int64_t> maximum = maxima[0];
    m_west.resize(masks.size(), std::vector<std::vector<int>>(m_seam.size()));
    const std::int64_t* at = in.data();
    for (int rank = 0; rank < d.size(); ++rank) {
      for (std::int64_t& value : maximum) value = std::max(value, *at++);
      const auto local = static_cast<std::size_t>(rank - m_ranks.first());
      for (std::size_t m = 0; m < masks.size(); ++m)
        at = m_merge[m].add(at, d.patch(rank), local < m_seam.size() ? &m_west[m][local] : nullptr);
    }
    for (auto& values : maxima) values = maximum;
    for (std::size_t m = 0; m < masks.size(); ++m) {
      m_merge[m].merge();
      m_labels[m].whole = m_merge[m].whole();
      m_labels[m].numbered = m_merge[m].numbered();
      for (std::size_t r = 0; r < m_seam.size(); ++r) finish(r, m);
    }
  }

  /// The components of a patch become whole, and get their numbers.
  void finish(std::size_t r, std::size_t m) {
    const Patch p = patch(r);
    const SeamMerge& merge = m_merge[m];
    const std::vector<Component>& whole = merge.whole();
    const std::vector<int>&place = m_place[m][r], &begin = m_begin[m][r];
    std::vector<Component>& parts = m_labels[m].parts[r];
    std::vector<int>& number = m_labels[m].number[r];
    number.assign(parts.size(), 0);
    const auto earlier = [](const Component& a, std::int64_t identity) { return a.identity < identity; };
    auto next = whole.begin(); // the next whole component
    for (int j = 1; j <= p.ym; ++j) {
      if (begin[j] == begin[j + 1]) continue;
      int before = merge.counted_before(p.global_j(j), m_west[m][r], j); // others before this one
      next = std::lower_bound(next, whole.end(), parts[begin[j]].identity, earlier);
      const std::int64_t row_end = p.cell(j + 1, 1);
      for (int c = begin[j]; c < begin[j + 1]; ++c) {
        if (place[c] == counted) {
          while (next != whole.end() && next->identity < row_end && next->identity < parts[c].identity) ++next;
          number[c] = ++before + merge.numbered_before(static_cast<int>(next - whole.begin()));
        } else if (place[c] >= 0) {
          const int position = merge.position(m_ranks.first() + static_cast<int>(r), place[c]);
          parts[c] = whole[position];
          number[c] = merge.numbers()[position];
        }
      }
    }
  }

  enum Unsent { not_counted = -2, counted = -1 }; // in m_place

  Ranks& m_ranks;
  PatchLabels m_patch_labels;
  std::vector<MaskLabels> m_labels;
  std::vector<std::vector<std::vector<int>>> m_place; // [mask][local][component]
  std::vector<std::vector<std::vector<int>>> m_begin; // [mask][local][row]: components that begin there (label_patch.hpp)
  std::vector<std::vector<std::vector<int>>> m_west;  // [mask][local][row]: numbered others that begin in this row in the west
  std::vector<Array3<int>> m_seam; // (j, i, mask); only the easternmost column, the northernmost row and ghosts are used
  std::vector<SeamMerge> m_merge;
  SeamParts m_sent;
};

/// The numbers of the components as an array over the owned cells: 0 outside the mask and where a component has no number.
/// `local`: the local rank that `patch` and `segments` belong to. Ghosts are not written. Nothing is communicated.
inline void write_numbers(const Patch& patch, const Segments& segments, const MaskLabels& labels, std::size_t local,
                          const Array2<int>& numbers) {
  constexpr int block = 4; // a segment is written in blocks, which may run over its end: the next segment comes after
  const std::vector<int>&component = labels.component[local], &number = labels.number[local];
  std::vector<int> row(static_cast<std::size_t>(patch.xm) + 1 + block);
  for (int j = 1; j <= patch.ym; ++j) {
    for (int n = segments.row[j]; n < segments.row[j + 1]; ++n) {
      const int value = component[n] < 0 ? 0 : number[component[n]], end = segments.list[n].i1;
      for (int i = segments.list[n].i0; i < end; i += block) std::fill_n(&row[i], block, value);
    }
    std::copy(row.begin() + 1, row.begin() + 1 + patch.xm, &numbers(j, 1));
  }
}

} // namespace nunatak
