#include "miniapp/kit/mask_source.hpp"

#include "common/error.hpp"
#include "common/text.hpp"
#include "kernels/cases/masks.hpp"
#include "miniapp/base/units.hpp"
#include "miniapp/base/world.hpp"
#include "miniapp/kit/netcdf.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

namespace nunatak::kit {

namespace {

constexpr const char* formulas = "percolation:P[:SEED], serpentine, spiral, comb, checkerboard, "
                                 "shelves[:SEED[:ROUGHNESS]], empty or full";

/// A mask from a formula; `text` is its name and parameters.
Mask generated(const std::string& text, int Mx, int My) {
  const std::vector<std::string> words = split(text, ':');
  const std::string &name = words[0], what = "option -mask '" + text + "'";
  const auto numbers = [&](std::size_t least, std::size_t all) {
    if (words.size() < 1 + least || words.size() > 1 + all) {
      throw Error(what + ": expected " + std::to_string(least) + " to " + std::to_string(all) +
                  " numbers after the name, found " + std::to_string(words.size() - 1));
    }
  };
  const auto seed = [&](std::size_t n) {
    return words.size() > n ? static_cast<std::uint64_t>(whole_number(
                                  words[n], 0, std::numeric_limits<std::int64_t>::max(), what))
                            : std::uint64_t{1};
  };
  const auto fraction = [&](std::size_t n, double otherwise) {
    const double value = words.size() > n ? parse_quantity(words[n], "", what) : otherwise;
    if (!(value >= 0.0 && value <= 1.0))
      throw Error(what + ": expected a number from 0 to 1, found '" + words[n] + "'");
    return value;
  };
  Mask mask{Mx, My, text, {}, false};
  if (name == "percolation") {
    numbers(1, 2);
    mask.value = [p = fraction(1, 0.0), s = seed(2)](int j, int i) {
      return masks::percolation(p, s, j, i) ? 1 : 0;
    };
    return mask;
  }
  if (name == "shelves") {
    numbers(0, 2);
    mask.value = masks::Shelves(Mx, My, seed(1), fraction(2, 0.5));
    mask.cell_types = true;
    return mask;
  }
  using Formula = std::function<bool(int j, int i)>;
  const std::map<std::string, Formula> others = {
      {"serpentine", [=](int j, int i) { return masks::serpentine(Mx, j, i); }},
      {"spiral", [=](int j, int i) { return masks::spiral(Mx, My, j, i); }},
      {"comb", [=](int j, int i) { return masks::comb(My, j, i); }},
      {"checkerboard", [](int j, int i) { return masks::checkerboard(j, i); }},
      {"empty", [](int, int) { return false; }},
      {"full", [](int, int) { return true; }}};
  const auto found = others.find(name);
  if (found == others.end())
    throw Error(std::string("option -mask: expected ") + formulas + ", found '" + text + "'");
  numbers(0, 0);
  mask.value = [inside = found->second](int j, int i) { return inside(j, i) ? 1 : 0; };
  return mask;
}

bool is_picture(const std::string& text) {
  return text.size() > 1 && text[0] == 'P' && text[1] >= '1' && text[1] <= '6';
}

/// A plain portable bitmap, pbm(5) of Netpbm: "P1", width, height, a digit for each cell (1 is
/// black); white space between them, and comments from # to the end of the line.
Mask from_picture(const std::string& name, std::string text) {
  const auto fail = [&](const std::string& what) { throw Error("mask '" + name + "': " + what); };
  if (text[1] != '1')
    fail("expected a plain portable bitmap (P1), found P" + text.substr(1, 1) +
         " (pnmtoplainpnm makes one of a bitmap)");
  for (auto at = text.find('#'); at != text.npos; at = text.find('#', at)) {
    while (at < text.size() && text[at] != '\r' && text[at] != '\n') text[at++] = ' ';
  }
  std::istringstream in(text);
  in.ignore(2);
  int Mx = 0, My = 0;
  if (!(in >> Mx >> My) || Mx < 1 || My < 1)
    fail("expected P1, width and height, numbers from 1 to " + std::to_string(largest_int) +
         ", found something else");
  const std::int64_t cells = std::int64_t{Mx} * My;
  std::vector<int> values;
  for (char digit = 0; in >> digit;) {
    if (digit != '0' && digit != '1')
      fail("expected 0 or 1 for cell " + std::to_string(values.size()) + ", found something else");
    values.push_back(digit - '0');
  }
  if (static_cast<std::int64_t>(values.size()) != cells)
    fail("expected " + std::to_string(cells) + " digits for " + std::to_string(Mx) + " x " +
         std::to_string(My) + " cells, found " + std::to_string(values.size()));
  return {Mx, My, name, raster(Mx, std::move(values)), false};
}

Mask from_file(const MaskOptions& options) {
  std::string picture; // raw bytes
  World().agree([&] {
    if (!std::filesystem::is_regular_file(options.file)) {
      throw Error("option -i: expected a file, found " +
                  std::string(std::filesystem::exists(options.file) ? "something else" : "none") +
                  " of the name '" + options.file + "'");
    }
    std::ifstream in(options.file, std::ios::binary);
    char start[2] = {0, 0};
    in.read(start, 2);
    if (!is_picture({start, 2})) return;
    in.seekg(0);
    picture.assign(std::istreambuf_iterator<char>(in), {});
  });
  if (picture.empty()) return mask_from_netcdf(options.file, options.variable);
  if (!options.variable.empty())
    throw Error("option -variable: expected a NetCDF file, found the picture '" + options.file +
                "'");
  return from_picture(options.file, picture);
}

} // namespace

void MaskOptions::add_to(OptionTable& table) {
  table.section("The mask: a file or a formula");
  table.add(text("i", file, "NetCDF file, or picture (plain PBM)"));
  table.add(text("variable", variable,
                 "variable of the NetCDF file (mask; or the cell types of thk and topg)"));
  table.add(text("mask", mask, std::string("formula: ") + formulas));
  table.add(number("grid_Mx", Mx, "", "columns of -mask", 1));
  table.add(number("grid_My", My, "", "rows of -mask (0: as many as columns)", 0));
  table.add(number("refine", refine, "",
                   "cells along either side of a square that replace each cell", 1));
}

std::function<int(int j, int i)> raster(int Mx, std::vector<int> values) {
  const auto all = std::make_shared<const std::vector<int>>(std::move(values));
  return [all, Mx](int j, int i) {
    return (*all)[static_cast<std::size_t>(j) * static_cast<std::size_t>(Mx) +
                  static_cast<std::size_t>(i)];
  };
}

std::vector<int> Mask::values() const {
  std::vector<int> values;
  for (int j = 0; j < My; ++j) {
    for (int i = 0; i < Mx; ++i) values.push_back(value(j, i));
  }
  return values;
}

Mask read_mask(const MaskOptions& options) {
  if (options.file.empty() == options.mask.empty()) {
    throw Error(std::string("options -i and -mask: expected one of them, found ") +
                (options.file.empty() ? "none" : "both"));
  }
  Mask mask = !options.file.empty() ? from_file(options)
              : is_picture(options.mask)
                  ? from_picture("picture", options.mask)
                  : generated(options.mask, options.Mx, options.My == 0 ? options.Mx : options.My);
  const int n = options.refine;
  if (n > 1) {
    if (mask.Mx > largest_int / n || mask.My > largest_int / n) {
      throw Error("option -refine: expected at most " +
                  std::to_string(largest_int / std::max(mask.Mx, mask.My)) + " for " +
                  std::to_string(mask.Mx) + " x " + std::to_string(mask.My) + " cells, found " +
                  std::to_string(n));
    }
    mask.Mx *= n;
    mask.My *= n;
    mask.x.clear();
    mask.y.clear();
    mask.value = [n, coarse = std::move(mask.value)](int j, int i) { return coarse(j / n, i / n); };
  }
  return mask;
}

} // namespace nunatak::kit
