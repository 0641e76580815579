#include "miniapp/tools/mask_source.hpp"

#include "io/reader.hpp"
#include "kernels/cases/masks.hpp"
#include "kernels/ice/geometry.hpp"
#include "miniapp/base/units.hpp"
#include "miniapp/base/words.hpp"
#include "miniapp/tools/netpbm.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>

namespace nunatak::tools {

namespace {

constexpr int most = std::numeric_limits<int>::max();

/// One of the formulas; `words` are its name and its numbers.
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
    return words.size() > n
               ? static_cast<std::uint64_t>(whole_number(words[n], 0, std::numeric_limits<std::int64_t>::max(), what))
               : std::uint64_t{1};
  };
  const auto share = [&](std::size_t n, double otherwise) {
    const double value = words.size() > n ? parse_quantity(words[n], "", what) : otherwise;
    if (!(value >= 0.0 && value <= 1.0)) throw Error(what + ": expected a number from 0 to 1, found '" + words[n] + "'");
    return value;
  };
  Mask mask{Mx, My, text, {}, false};
  if (name == "percolation") {
    numbers(1, 2);
    mask.value = [p = share(1, 0.0), s = seed(2)](int j, int i) { return masks::percolation(p, s, j, i) ? 1 : 0; };
    return mask;
  }
  if (name == "shelves") {
    numbers(0, 2);
    mask.value = masks::Shelves(Mx, My, seed(1), share(2, 0.5));
    mask.cell_types = true;
    return mask;
  }
  if (name == "serpentine") mask.value = [=](int j, int i) { return masks::serpentine(Mx, j, i) ? 1 : 0; };
  if (name == "spiral") mask.value = [=](int j, int i) { return masks::spiral(Mx, My, j, i) ? 1 : 0; };
  if (name == "comb") mask.value = [=](int j, int i) { return masks::comb(My, j, i) ? 1 : 0; };
  if (name == "checkerboard") mask.value = [=](int j, int i) { return masks::checkerboard(j, i) ? 1 : 0; };
  if (name == "empty") mask.value = [](int, int) { return 0; };
  if (name == "full") mask.value = [](int, int) { return 1; };
  if (!mask.value) {
    throw Error(
        "option -mask: expected percolation:P[:SEED], serpentine, spiral, comb, checkerboard, shelves[:SEED[:ROUGHNESS]], "
        "empty or full, found '" +
        text + "'");
  }
  numbers(0, 0);
  return mask;
}

Mask from_picture(const std::string& path, const std::string& bytes) {
  const auto picture = std::make_shared<const Picture>(parse_netpbm(bytes, path));
  return {
      picture->Mx, picture->My, path,
      [picture](int j, int i) {
        return static_cast<int>(
            picture->values[static_cast<std::size_t>(j) * static_cast<std::size_t>(picture->Mx) + static_cast<std::size_t>(i)]);
      },
      false};
}

/// The variables of a NetCDF file that masks are made of: the last two dimensions are y and x.
class Variables {
public:
  explicit Variables(const io::Reader& file) : m_file(file) {}
  int Mx = 0, My = 0;

  /// The same number of rows and columns as those before.
  void require(const std::string& variable) {
    if (!m_file.has(variable)) fail(variable, "expected such a variable, found " + list());
    const auto axes = m_file.dimensions(variable);
    if (axes.size() < 2 || axes.size() > 3 || (axes.size() == 3 && axes[0].name != "time" && !axes[0].unlimited)) {
      std::string found;
      for (const auto& axis : axes) found += (found.empty() ? "" : ", ") + axis.name;
      fail(variable, "expected the dimensions (y, x) or (time, y, x), found (" + found + ")");
    }
    const std::size_t rows = axes[axes.size() - 2].length, columns = axes.back().length;
    if (rows < 1 || columns < 1 || rows > most || columns > most || (axes.size() == 3 && axes[0].length == 0)) {
      fail(variable, "expected at least one cell, found " + std::to_string(columns) + " x " + std::to_string(rows) +
                         (axes.size() == 3 ? " cells and " + std::to_string(axes[0].length) + " records" : " cells"));
    }
    if (Mx != 0 && (Mx != static_cast<int>(columns) || My != static_cast<int>(rows))) {
      fail(variable, "expected " + std::to_string(Mx) + " x " + std::to_string(My) + " cells, found " + std::to_string(columns) +
                         " x " + std::to_string(rows));
    }
    Mx = static_cast<int>(columns), My = static_cast<int>(rows);
  }

  /// f(first cell, values) for slabs of rows of the last record: a file of any size needs little memory. T: double or integers.
  template <class T, class F> void for_each_slab(const std::string& variable, const F& f) const {
    const int step = std::max(1, (1 << 20) / Mx);
    const auto axes = m_file.dimensions(variable);
    for (int j = 0; j < My; j += step) {
      const auto rows = static_cast<std::size_t>(std::min(step, My - j)), columns = static_cast<std::size_t>(Mx);
      std::vector<std::size_t> start{static_cast<std::size_t>(j), 0}, count{rows, columns};
      if (axes.size() == 3) start.insert(start.begin(), axes[0].length - 1), count.insert(count.begin(), 1);
      const std::size_t first = static_cast<std::size_t>(j) * columns;
      if constexpr (std::is_same_v<T, double>) {
        f(first, m_file.read_block(variable, start, count));
      } else {
        f(first, m_file.read_block_int(variable, start, count));
      }
    }
  }

  /// f(cell, value in m)
  template <class F> void for_each_metre(const std::string& variable, const F& f) const {
    const std::string what = "mask '" + m_file.path() + "', variable '" + variable + "'";
    const UnitConversion metres = unit_conversion(m_file.text(variable, "units").value_or("m"), "m", what);
    for_each_slab<double>(variable, [&](std::size_t first, const std::vector<double>& slab) {
      for (std::size_t n = 0; n < slab.size(); ++n) {
        if (!std::isfinite(slab[n])) fail(variable, "expected a number in cell " + std::to_string(first + n) + ", found none");
        f(first + n, metres(slab[n]));
      }
    });
  }

  [[noreturn]] void fail(const std::string& variable, const std::string& what) const {
    throw Error("mask '" + m_file.path() + "', variable '" + variable + "': " + what);
  }

private:
  std::string list() const {
    std::string found;
    for (const auto& name : m_file.variables()) found += (found.empty() ? "" : ", ") + name;
    return found.empty() ? "none" : found;
  }
  const io::Reader& m_file;
};

Mask from_netcdf(const std::string& path, std::string variable, MPI_Comm comm) {
  const io::Reader file(path, comm);
  Variables variables(file);
  const bool flotation = variable.empty() && !file.has("mask") && file.has("thk") && file.has("topg");
  if (variable.empty()) variable = "mask";
  if (flotation) {
    variables.require("thk");
    variables.require("topg");
  } else {
    variables.require(variable);
  }
  const std::size_t Mx = static_cast<std::size_t>(variables.Mx), cells = Mx * static_cast<std::size_t>(variables.My);
  const auto values = std::make_shared<std::vector<int>>(cells);
  if (flotation) {
    std::vector<double> H(cells); // m
    variables.for_each_metre("thk", [&](std::size_t n, double thickness) { H[n] = thickness; });
    variables.for_each_metre("topg", [&](std::size_t n, double b) { (*values)[n] = cell_type(b, H[n]); });
  } else {
    variables.for_each_slab<std::int64_t>(variable, [&](std::size_t first, const std::vector<std::int64_t>& slab) {
      for (std::size_t n = 0; n < slab.size(); ++n) {
        if (slab[n] < -most || slab[n] > most)
          variables.fail(variable, "expected 32-bit values, found " + std::to_string(slab[n]));
        (*values)[first + n] = static_cast<int>(slab[n]);
      }
    });
  }
  const std::string name = path + (flotation ? " thk, topg" : " " + variable);
  return {variables.Mx, variables.My, name,
          [values, Mx](int j, int i) { return (*values)[static_cast<std::size_t>(j) * Mx + static_cast<std::size_t>(i)]; },
          flotation || variable == "mask"};
}

Mask from_file(const MaskOptions& options, MPI_Comm comm) {
  std::string picture; // its bytes
  io::agree(comm, [&] {
    if (!std::filesystem::is_regular_file(options.file)) {
      throw Error("option -i: expected a file, found " +
                  std::string(std::filesystem::exists(options.file) ? "something else" : "none") + " of the name '" +
                  options.file + "'");
    }
    std::ifstream in(options.file, std::ios::binary);
    char start[2] = {0, 0};
    in.read(start, 2);
    if (!is_netpbm({start, 2})) return;
    in.seekg(0);
    picture.assign(std::istreambuf_iterator<char>(in), {});
  });
  if (picture.empty()) return from_netcdf(options.file, options.variable, comm);
  if (!options.variable.empty())
    throw Error("option -variable: expected a NetCDF file, found the picture '" + options.file + "'");
  return from_picture(options.file, picture);
}

} // namespace

void MaskOptions::add_to(OptionTable& table) {
  table.group("The mask: a file or a formula");
  table.add("i", &file, "", "NetCDF file, or picture (PBM, PGM)");
  table.add("variable", &variable, "", "variable of the NetCDF file (mask; or the cell types of thk and topg)");
  table.add("mask", &mask, "",
            "percolation:P[:SEED], serpentine, spiral, comb, checkerboard, shelves[:SEED[:ROUGHNESS]], empty, full");
  table.add("grid_Mx", &Mx, "", "columns of -mask", 1);
  table.add("grid_My", &My, "", "rows of -mask (0: as many as columns)", 0);
  table.add("refine", &refine, "", "each cell becomes so many in either direction", 1);
}

Mask read_mask(const MaskOptions& options, MPI_Comm comm) {
  if (options.file.empty() == options.mask.empty()) {
    throw Error(std::string("options -i and -mask: expected one of them, found ") + (options.file.empty() ? "none" : "both"));
  }
  Mask mask = options.file.empty() ? generated(options.mask, options.Mx, options.My == 0 ? options.Mx : options.My)
                                   : from_file(options, comm);
  const int n = options.refine;
  if (n > 1) {
    if (mask.Mx > most / n || mask.My > most / n) {
      throw Error("option -refine: expected at most " + std::to_string(most / std::max(mask.Mx, mask.My)) + " for " +
                  std::to_string(mask.Mx) + " x " + std::to_string(mask.My) + " cells, found " + std::to_string(n));
    }
    mask.Mx *= n, mask.My *= n;
    mask.value = [n, coarse = std::move(mask.value)](int j, int i) { return coarse(j / n, i / n); };
  }
  return mask;
}

} // namespace nunatak::tools
