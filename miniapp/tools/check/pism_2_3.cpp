#include "miniapp/tools/check/pism_2_3.hpp"

#include <algorithm>

namespace nunatak::tools {

namespace {

/// entry[l] of each provisional label; component[n] of each segment is its provisional label, or
/// -1.
std::vector<int> provisional_labels(const Patch& p, const Segments& segments, const LabelMask& mask,
                                    LargeList<int>& component) {
  std::vector<int> entry;
  std::vector<int> above(static_cast<std::size_t>(p.xm) + 2, -1),
      here; // labels of the cells of two rows
  for (int j = 1; j <= p.ym; ++j, above = here) {
    here.assign(above.size(), -1);
    for (int n = segments.row[j], end, i0, i1 = 1; n < segments.row[j + 1]; n = end) {
      const auto inside = [&](int s) { return flags_of(mask, segments.list[s].code()) >= 0; };
      end = n + 1, i0 = i1, i1 = segments.end(n);
      if (!inside(n)) {
        component[n] = -1;
        continue;
      }
      while (end < segments.row[j + 1] && inside(end)) ++end; // the segments n..end are a run
      i1 = segments.end(end - 1);
      int label = -1;
      for (int i = i0; i < i1; ++i) {
        if (above[i] < 0 || above[i] == label) continue;
        if (label >= 0)
          entry[std::max(label, above[i])] =
              std::min(label, above[i]); // what it said before is lost
        label = above[i];
      }
      if (label < 0) {
        label = static_cast<int>(entry.size());
        entry.push_back(label);
      }
      std::fill(here.begin() + i0, here.begin() + i1, label);
      std::fill(component.begin() + n, component.begin() + end, label);
    }
  }
  return entry;
}

} // namespace

void label_as_pism_2_3(const Patch& p, const Segments& segments, const LabelMask& mask,
                       LargeList<int>& component, LargeList<Component>& fragments) {
  component.resize(segments.list.size());
  std::vector<int> entry = provisional_labels(p, segments, mask, component);
  for (int& e : entry) e = entry[e]; // entries are smaller than their labels: that one is final
  std::vector<int> number(entry.size(), -1);
  fragments.clear();
  for (int j = 1; j <= p.ym; ++j) {
    for (int n = segments.row[j], i0, i1 = 1; n < segments.row[j + 1]; ++n) {
      i0 = i1, i1 = segments.end(n);
      if (component[n] < 0) continue;
      int& c = number[entry[component[n]]];
      if (c < 0) {
        c = static_cast<int>(fragments.size());
        fragments.push_back({p.cell(j, i0), 0});
      }
      component[n] = c;
      Component& fragment = fragments[c];
      const bool edge = p.global_j(j) == 0 || p.global_j(j) == p.My - 1 || p.global_i(i0) == 0 ||
                        p.global_i(i1 - 1) == p.Mx - 1;
      fragment.add(i1 - i0, flags_of(mask, segments.list[n].code()) | (edge ? touches_edge : 0));
    }
  }
}

void saturate_distances(Ranks& ranks, const PicoOptions& options, pico::Shelves& shelves,
                        std::vector<PicoFields>& out) {
  const int most = 2 * std::max(ranks.decomposition().Mx, ranks.decomposition().My) + 1;
  std::vector<std::vector<std::int64_t>> largest; // distance to the grounding line, of each shelf
  for (std::size_t r = 0; r < out.size(); ++r) {
    int *d_gl = out[r].distance_gl.data(), *d_cf = out[r].distance_cf.data();
    for (const int c : out[r].written_domain)
      d_gl[c] = std::min(d_gl[c], most), d_cf[c] = std::min(d_cf[c], most);
    largest.emplace_back(static_cast<std::size_t>(shelves.table.shelves) + 1, 0);
    for (std::size_t n = 0; n < shelves.local[r].cell.size(); ++n) {
      std::int64_t& d = largest[r][shelves.local[r].shelf[n]];
      d = std::max<std::int64_t>(d, d_gl[shelves.local[r].cell[n]]);
    }
  }
  ranks.max(largest);
  shelves.d_max = static_cast<int>(*std::max_element(largest[0].begin(), largest[0].end()));
  for (std::size_t s = 1; s < shelves.boxes.size(); ++s)
    shelves.boxes[s] =
        pico::number_of_boxes(static_cast<int>(largest[0][s]), shelves.d_max, options.boxes);
  for (std::size_t r = 0; r < out.size(); ++r) {
    pico::LocalShelves& local = shelves.local[r];
    for (std::size_t n = 0; n < local.cell.size(); ++n) {
      const int c = local.cell[n];
      local.box[n] = pico::box_of(out[r].distance_gl.data()[c], out[r].distance_cf.data()[c],
                                  shelves.boxes[local.shelf[n]]);
      out[r].box_mask.data()[c] = local.box[n];
    }
  }
}

} // namespace nunatak::tools
