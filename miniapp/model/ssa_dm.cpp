#include "miniapp/model/ssa_dm.hpp"

#include "miniapp/base/error.hpp"
#include "miniapp/model/petsc_error.hpp"

#include <algorithm>
#include <string>

namespace nunatak {

SsaDm::SsaDm(MpiRanks& ranks, Dmda* grid)
    : m_patch(ranks.patch()), m_decomposition(ranks.decomposition()) {
  const Decomposition& d = m_decomposition;
  if (grid == nullptr) {
    m_own = std::make_unique<Dmda>(ranks.comm(),
                                   DmdaShape{d.Mx, d.My, d.px, d.py, d.periodic_x, d.periodic_y});
    grid = m_own.get();
  }
  DM dm = nullptr;
  NUNATAK_PETSC(DMClone(grid->dm(2), &dm));
  m_dm.reset(dm);
}

Mat SsaDm::create_matrix() const {
  Mat matrix = nullptr;
  NUNATAK_PETSC(DMCreateMatrix(m_dm.get(), &matrix));
  NUNATAK_PETSC(MatSetOption(matrix, MAT_SPD, PETSC_TRUE));
  return matrix;
}

void SsaDm::assemble(const SsaPatch& patch, const Rows<double>& rows, Mat matrix) const {
  const int stride = m_patch.xm + 2;
  const double identity[4] = {1.0, 0.0, 0.0, 1.0};
  for (int j = 1; j <= m_patch.ym; ++j) {
    for (int i = 1; i <= m_patch.xm; ++i) {
      const PetscInt cell = j * stride + i;
      if (patch.unknown(j, i) == 0) {
        NUNATAK_PETSC(
            MatSetValuesBlockedLocal(matrix, 1, &cell, 1, &cell, identity, INSERT_VALUES));
        continue;
      }
      const double* blocks = rows.data() + 36 * static_cast<std::ptrdiff_t>(cell);
      PetscInt columns[9];
      double values[36]; // two rows of 18
      for (int slot = 0; slot < 9; ++slot) {
        columns[slot] = cell + (slot / 3 - 1) * stride + slot % 3 - 1;
        for (int m = 0; m < 4; ++m) values[18 * (m / 2) + 2 * slot + m % 2] = blocks[4 * slot + m];
      }
      NUNATAK_PETSC(MatSetValuesBlockedLocal(matrix, 1, &cell, 9, columns, values, INSERT_VALUES));
    }
  }
  NUNATAK_PETSC(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
  NUNATAK_PETSC(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
}

void SsaDm::gather(const SsaPatch& patch, const double* all, double* unknowns) const {
  for (int n = 0; n < patch.unknowns(); ++n) {
    const auto [j, i] = patch.cell(n);
    const double* from = all + 2 * (static_cast<std::ptrdiff_t>(j - 1) * m_patch.xm + i - 1);
    unknowns[2 * n] = from[0], unknowns[2 * n + 1] = from[1];
  }
}

void SsaDm::scatter(const SsaPatch& patch, const double* unknowns, double* all) const {
  std::fill(all, all + 2 * m_patch.cells(), 0.0);
  for (int n = 0; n < patch.unknowns(); ++n) {
    const auto [j, i] = patch.cell(n);
    double* to = all + 2 * (static_cast<std::ptrdiff_t>(j - 1) * m_patch.xm + i - 1);
    to[0] = unknowns[2 * n], to[1] = unknowns[2 * n + 1];
  }
}

void SsaDm::require_levels(int levels) const {
  const int ratio = 1 << (levels - 1);
  const auto check = [&](const char* axis, int points, bool periodic) {
    const int extra = periodic ? 0 : 1;
    if ((points - extra) % ratio == 0) return;
    const int fitting = ((points - extra) / ratio + 1) * ratio + extra;
    throw Error("options -ssa_pc_type mg and -ssa_pc_mg_levels " + std::to_string(levels) +
                ": expected a number of points along " + axis + " that is " +
                (periodic ? "" : "1 plus ") + "a multiple of " + std::to_string(ratio) +
                ", found " + std::to_string(points) + "; fewer levels, or -grid_M" + axis + " " +
                std::to_string(fitting) + ", will do");
  };
  check("x", m_decomposition.Mx, m_decomposition.periodic_x);
  check("y", m_decomposition.My, m_decomposition.periodic_y);
}

} // namespace nunatak
