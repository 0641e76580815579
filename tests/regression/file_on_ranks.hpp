// A file of Antarctica, cut into one patch per rank. Used by the tests of this folder.
#pragma once

#include "io/agree.hpp"
#include "io/reader.hpp"
#include "miniapp/base/mpi_ranks.hpp"
#include "tests/kernels/cells.hpp"

#include <memory>
#include <string>
#include <vector>

namespace nunatak {

struct FileOnRanks {
  explicit FileOnRanks(const std::string& file) : in(file, MPI_COMM_WORLD) {
    const int size = io::size_of(MPI_COMM_WORLD);
    ranks = std::make_unique<MpiRanks>(MPI_COMM_WORLD,
                                       Decomposition::make(static_cast<int>(in.length("x")),
                                                           static_cast<int>(in.length("y")), size));
    p = ranks->patch();
    const std::vector<double> x = in.read_all("x"), y = in.read_all("y");
    dx = (x.back() - x.front()) / static_cast<double>(x.size() - 1);
    dy = (y.back() - y.front()) / static_cast<double>(y.size() - 1);
  }

  std::vector<double> block(const std::string& name) const {
    const auto size = [](int n) { return static_cast<std::size_t>(n); };
    return in.read_block(name, {size(p.ys), size(p.xs)}, {size(p.ym), size(p.xm)});
  }
  template <class T = double> Array2<T> array(const std::string& name) const {
    const Array2<T> a = make_array<T>(name, p);
    const std::vector<double> values = block(name);
    auto value = values.begin();
    for (const auto& [j, i] : cells_of(p)) a(j, i) = static_cast<T>(*value++);
    return a;
  }

  io::Reader in;
  std::unique_ptr<MpiRanks> ranks;
  Patch p;
  double dx = 0.0, dy = 0.0;
};

} // namespace nunatak
