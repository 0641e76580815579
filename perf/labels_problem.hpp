// What bench_labels works on: its arguments, codes of cells from a file or a formula, and the masks that are labelled.
// Neighbour: bench_labels.cpp.
#pragma once

#include "kernels/cases/masks.hpp"
#include "kernels/labels/labels.hpp"
#include "kernels/pico/codes.hpp"
#include "miniapp/base/error.hpp"

#include <fstream>
#include <sstream>

namespace nunatak::bench {

constexpr const char* labels_usage =
    "bench_labels: times the labelling, checks it, prints JSON\n"
    "  -mask NAME     full, checkerboard, percolation:P, or file:PATH (Mx My bytes, row 0 first; default percolation:0.593)\n"
    "  -M N, -Mx N, -My N   size of the grid (default 1000)\n"
    "  -masks SET     nonzero: one mask, cells with a code that is not 0 (default); pico: the five masks of PICO in two "
    "batches,\n"
    "                 codes as in kernels/pico/codes.hpp\n"
    "  -cell AREA     with -masks pico: area of a cell in km2 (default 1)\n"
    "  -virtual LIST  P1xQ1,P2xQ2,...: on virtual ranks, one process; counts messages and times the merge\n"
    "  -repeat N      repetitions that count (default 5)\n"
    "  -check WHICH   fill: compare every cell with a flood fill (default); none\n"
    "  -save PATH     one rank: write the labels there (Mx My 32-bit integers)\n";

struct LabelArguments {
  std::string mask = "percolation:0.593", masks = "nonzero", virtual_ranks, save, check = "fill";
  int Mx = 1000, My = 1000, repeat = 5;
  double cell_area = 1.0; // km2
};

inline LabelArguments read_label_arguments(int argc, char** argv) {
  LabelArguments a;
  for (int n = 1; n < argc; n += 2) {
    const std::string name = argv[n];
    if (n + 1 == argc) throw Error("option " + name + ": expected a value, found none");
    const std::string value = argv[n + 1];
    const auto number = [&] {
      std::istringstream in(value);
      int i = 0;
      if (!(in >> i) || !in.eof() || i < 1)
        throw Error("option " + name + ": expected a number of 1 or more, found '" + value + "'");
      return i;
    };
    if (name == "-mask")
      a.mask = value;
    else if (name == "-M")
      a.Mx = a.My = number();
    else if (name == "-Mx")
      a.Mx = number();
    else if (name == "-My")
      a.My = number();
    else if (name == "-masks")
      a.masks = value;
    else if (name == "-cell")
      a.cell_area = std::stod(value);
    else if (name == "-virtual")
      a.virtual_ranks = value;
    else if (name == "-repeat")
      a.repeat = number();
    else if (name == "-check")
      a.check = value;
    else if (name == "-save")
      a.save = value;
    else
      throw Error("unknown argument '" + name + "' (-help tells which there are)");
  }
  if (a.masks != "nonzero" && a.masks != "pico") throw Error("option -masks: expected nonzero or pico, found '" + a.masks + "'");
  if (a.check != "fill" && a.check != "none") throw Error("option -check: expected fill or none, found '" + a.check + "'");
  return a;
}

/// Codes of the whole grid, row by row.
inline std::vector<Code> read_codes(const LabelArguments& a) {
  std::vector<Code> codes(static_cast<std::size_t>(a.Mx) * static_cast<std::size_t>(a.My));
  const auto set = [&](auto&& f) {
    for (int j = 0; j < a.My; ++j) {
      for (int i = 0; i < a.Mx; ++i) codes[static_cast<std::size_t>(j) * a.Mx + i] = f(j, i) ? 1 : 0;
    }
  };
  if (a.mask == "full") {
    set([](int, int) { return true; });
  } else if (a.mask == "checkerboard") {
    set([](int j, int i) { return masks::checkerboard(j, i); });
  } else if (a.mask.rfind("percolation:", 0) == 0) {
    const double p = std::stod(a.mask.substr(12));
    set([=](int j, int i) { return masks::percolation(p, 1, j, i); });
  } else if (a.mask.rfind("file:", 0) == 0) {
    std::ifstream in(a.mask.substr(5), std::ios::binary);
    in.read(reinterpret_cast<char*>(codes.data()), static_cast<std::streamsize>(codes.size()));
    if (!in || in.peek() != std::ifstream::traits_type::eof())
      throw Error("option -mask: expected a file of " + std::to_string(codes.size()) + " bytes, found '" + a.mask.substr(5) +
                  "'");
  } else {
    throw Error("option -mask: expected full, checkerboard, percolation:P or file:PATH, found '" + a.mask + "'");
  }
  return codes;
}

inline std::vector<Array2<Code>> cut(const Ranks& ranks, const std::vector<Code>& codes) {
  std::vector<Array2<Code>> local;
  for (int r = 0; r < ranks.local_size(); ++r) {
    const Patch p = ranks.patch(r);
    local.push_back(make_array<Code>("codes", p));
    for (int j = 1; j <= p.ym; ++j) {
      const auto row = codes.begin() + p.cell(j, 1);
      std::copy(row, row + p.xm, &local.back()(j, 1));
    }
  }
  return local;
}

/// The batches of masks of kernels/pico/geometry.hpp; or all codes but 0, and all components numbered.
inline std::vector<std::vector<LabelMask>> batches(const std::string& set) {
  using namespace pico;
  const auto none = [](Code) { return std::int64_t{0}; };
  if (set == "nonzero") return {{{[](Code c) { return c != 0; }, none, false, [](const Component&) { return true; }}}};
  return {
      {{[](Code c) { return ice_rise(c); }}, {[](Code c) { return (c & is_ocean) != 0; }}, {[](Code c) {
         return (c & (is_floating | is_ocean)) != 0;
       }}},
      {{[](Code c) { return (c & is_floating) != 0 || ice_rise(c); }, [](Code c) { return std::int64_t{2} * shelf_ice(c); },
        false, [](const Component& c) { return (c.flags & 2) != 0; }},
       {[](Code c) { return (c & is_shallow) != 0 || continent(c); }, [](Code c) { return std::int64_t{4} * continent(c); }}}};
}

/// What PICO makes of its first batch: the continent and the lakes, in the codes of segments.
inline void classify(std::vector<Segments>& segments, const std::vector<MaskLabels>& labels, double cell_area) {
  using namespace pico;
  for (std::size_t r = 0; r < segments.size(); ++r) {
    for (std::size_t n = 0; n < segments[r].list.size(); ++n) {
      Code& c = segments[r].list[n].code;
      const auto part = [&](std::size_t m) { return labels[m].parts[r][static_cast<std::size_t>(labels[m].component[r][n])]; };
      if (ice_rise(c) && static_cast<double>(part(0).cells) * cell_area > 1e5) c |= is_continent;
      if (c & (is_floating | is_ocean) && !(part(2).flags & touches_edge)) c |= is_lake;
    }
  }
}

/// The judge: numbers of components by a flood fill of the whole grid, without any of the code that is timed.
inline std::vector<int> flood_fill(const std::vector<Code>& codes, int Mx, int My) {
  std::vector<int> number(codes.size()); // -1: in the mask, without a number yet
  for (std::size_t n = 0; n < codes.size(); ++n) number[n] = codes[n] != 0 ? -1 : 0;
  const auto cells = static_cast<std::int64_t>(codes.size());
  std::vector<std::int64_t> stack;
  int components = 0;
  const auto take = [&](std::int64_t cell) {
    if (number[static_cast<std::size_t>(cell)] != -1) return;
    number[static_cast<std::size_t>(cell)] = components;
    stack.push_back(cell);
  };
  for (std::int64_t first = 0; first < cells; ++first) {
    if (number[static_cast<std::size_t>(first)] != -1) continue;
    components += 1;
    take(first);
    while (!stack.empty()) {
      const std::int64_t cell = stack.back(), i = cell % Mx, j = cell / Mx;
      stack.pop_back();
      if (i > 0) take(cell - 1);
      if (i + 1 < Mx) take(cell + 1);
      if (j > 0) take(cell - Mx);
      if (j + 1 < My) take(cell + Mx);
    }
  }
  return number;
}

} // namespace nunatak::bench
