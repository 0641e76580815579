#include "miniapp/tools/check/pico_answer.hpp"

#include "kernels/pico/melt.hpp"

#include <algorithm>
#include <cmath>

namespace nunatak::tools {

namespace {

/// component[n]: provisional label of segment n, or -1. Returns entry[l] of each label.
std::vector<int> provisional_labels(const Patch& p, const Segments& segments, const LabelMask& mask,
                                    LargeList<int>& component) {
  std::vector<int> entry;
  // labels of the cells of two rows
  std::vector<int> above(static_cast<std::size_t>(p.xm) + 2, -1), here;
  for (int j = 1; j <= p.ym; ++j, above = here) {
    here.assign(above.size(), -1);
    for (int n = segments.row[j], end, i0, i1 = 1; n < segments.row[j + 1]; n = end) {
      const auto inside = [&](int s) { return flags_of(mask, segments.list[s].code()) >= 0; };
      end = n + 1, i0 = i1, i1 = segments.end(n);
      if (!inside(n)) {
        component[n] = -1;
        continue;
      }
      while (end < segments.row[j + 1] && inside(end)) ++end; // segments n..end are one run
      i1 = segments.end(end - 1);
      int label = -1;
      for (int i = i0; i < i1; ++i) {
        if (above[i] < 0 || above[i] == label) continue;
        if (label >= 0)
          entry[std::max(label, above[i])] =
              std::min(label, above[i]); // the previous entry is lost
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

/// A LabelPatch (labels.hpp) with the first defect.
void label_as_pism_2_3(const Patch& p, const Segments& segments, const LabelMask& mask,
                       LargeList<int>& component, LargeList<Component>& fragments) {
  component.resize(segments.list.size());
  std::vector<int> entry = provisional_labels(p, segments, mask, component);
  for (int& e : entry) e = entry[e]; // entries are smaller than their labels, so this is final
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

/// The second defect: changes distances, boxes and d_max in `shelves` and `out`. One collective.
void saturate_distances(Ranks& ranks, const PicoOptions& options, pico::Shelves& shelves,
                        std::vector<PicoFields>& out) {
  const int most = 2 * std::max(ranks.decomposition().Mx, ranks.decomposition().My) + 1;
  std::vector<std::vector<std::int64_t>> largest; // per shelf, to the grounding line
  for (std::size_t r = 0; r < out.size(); ++r) {
    int *d_gl = out[r].distance_gl.data(), *d_cf = out[r].distance_cf.data();
    for (const int c : out[r].written_domain) {
      d_gl[c] = std::min(d_gl[c], most);
      d_cf[c] = std::min(d_cf[c], most);
    }
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

/// The smallest value of each shelf in multiples of 2^-40, 0 for none.
std::vector<double> smallest_of_shelves(const GridValues& shelf_mask, int shelves,
                                        const GridValues& values) {
  constexpr double none = HUGE_VAL;
  std::vector<double> smallest(static_cast<std::size_t>(shelves) + 1, none);
  for (std::size_t n = 0; n < values.size(); ++n) {
    double& of_shelf = smallest[static_cast<std::size_t>(shelf_mask[n])];
    if (std::fabs(values[n]) < 1e5) {
      const auto units = static_cast<double>(std::llround(std::ldexp(values[n], 40)));
      of_shelf = std::fmin(of_shelf, std::ldexp(units, -40));
    }
  }
  for (double& v : smallest) v = v == none ? 0.0 : v;
  return smallest;
}

/// Makes each shelf a basin of its own, with the water that the file has in box 0.
void take_box0(Ranks& ranks, const PicoFile& file, pico::Shelves& shelves,
               const std::vector<PicoFields>& out, std::vector<PicoInput>& input) {
  const GridValues mask =
      gathered(ranks, [&](std::size_t r, int j, int i) { return out[r].shelf_mask(j, i); });
  const int n_shelves = shelves.table.shelves;
  const auto smallest = [&](const std::string& name, const std::string& unit) {
    return smallest_of_shelves(mask, n_shelves, file.read(name, unit, "the water"));
  };
  const std::vector<double> T = smallest("pico_temperature_box0", "kelvin"),
                            S = smallest("pico_salinity_box0", "g/kg");
  shelves.table.reset(n_shelves, n_shelves);
  for (int s = 1; s <= n_shelves; ++s)
    shelves.table.cells[shelves.table.at(s, s)] =
        shelves.table.front_cells[shelves.table.at(s, s)] = 1;
  for (std::size_t r = 0; r < input.size(); ++r) {
    pico::LocalShelves& local = shelves.local[r];
    input[r].basins = out[r].shelf_mask;
    local.sea.clear();
    for (std::size_t n = 0; n < local.cell.size(); ++n) {
      const int c = local.cell[n];
      input[r].theta.data()[c] = T[static_cast<std::size_t>(local.shelf[n])];
      input[r].salt.data()[c] = S[static_cast<std::size_t>(local.shelf[n])];
      local.sea.emplace_back(c, c + 1);
    }
  }
}

} // namespace

PicoAnswer compute_pico(Ranks& ranks, const PicoFile& file, const PicoOptions& options,
                        const std::vector<PicoInput>& input, OceanSource source,
                        PismDefects defects) {
  PicoAnswer answer;
  for (int r = 0; r < ranks.local_size(); ++r) answer.fields.emplace_back(ranks.patch(r));
  PicoOptions by_segments = options; // needed below, where its result is changed in place
  by_segments.by_loops = false;
  pico::ShelfGeometry geometry(ranks, file.dx, file.dy, by_segments,
                               defects.labels ? label_as_pism_2_3 : LabelPatch());
  pico::Shelves shelves = geometry.update(input, answer.fields);
  Kokkos::fence();
  answer.shelves = shelves.table.shelves;
  if (defects.distances) saturate_distances(ranks, options, shelves, answer.fields);
  if (source == OceanSource::none) return answer;
  std::vector<PicoInput> ocean = input;
  if (source == OceanSource::box0) take_box0(ranks, file, shelves, answer.fields, ocean);
  PicoReport report;
  pico::ShelfMelt(ranks, file.dx, file.dy, options).update(shelves, ocean, answer.fields, report);
  return answer;
}

} // namespace nunatak::tools
