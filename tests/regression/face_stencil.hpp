// Membrane stresses of the SSA by finite differences on cell faces: the other common
// discretisation, kept as a judge of everything in nunatak's SSA that is not its elements (load,
// drag, fronts, material laws). Used by test_ssa_faces.cpp, on one rank.
//
// After Bueler and Brown (2009, J. Geophys. Res. 114, F03008) and, at the margin, Winkelmann et al.
// (2011, The Cryosphere 5, 715): velocities at cell centres; on the face between two icy cells the
// stresses
//
//   normal      nu H (4 d_n w_n + 2 d_t w_t)        w_n, w_t: velocity across the face and along
//   it, tangential  nu H (d_t w_n + d_n w_t)            d_n, d_t: their differences across the face
//   and along it
//
//       2 --- 4       d_n: one difference, Q - P
//       |     |       d_t: the mean of four, 2 - P, P - 3, 4 - Q, Q - 5. Where 2..5 is no ice its
//       difference drops out: in the P  |  Q            stresses it counts as 0, in the viscosity
//       the mean is of those that are there. |     |       H and B on the face: means of P and Q 3
//       --- 5
//
// A face towards a cell without ice carries no membrane stress; the load holds its pressure. The
// operator is not symmetric.
#pragma once

#include "kernels/ice/geometry.hpp"
#include "kernels/ssa/rheology.hpp"
#include "kernels/ssa/unknowns.hpp"

#include <petscmat.h>

#include <vector>

namespace nunatak {

class FaceStencil {
public:
  /// `unknown`: number of the unknown cell, fixed_cell where the velocity is 0, no_cell where there
  /// is no ice. Ghosts: no_cell.
  enum : int { fixed_cell = -1, no_cell = -2 };

  FaceStencil(const Patch& p, double spacing, const SsaInput& input, const Array2<int>& unknown)
      : m_spacing(spacing) {
    for (int j = 1; j <= p.ym; ++j) {
      for (int i = 1; i <= p.xm; ++i) {
        for (const int axis : {0, 1}) {
          const int J = j + axis, I = i + 1 - axis;
          if (unknown(j, i) == no_cell || unknown(J, I) == no_cell ||
              (unknown(j, i) < 0 && unknown(J, I) < 0))
            continue;
          const int tj = 1 - axis, ti = axis; // along the face
          Face f{axis,
                 {unknown(j, i), unknown(J, I), unknown(j + tj, i + ti), unknown(j - tj, i - ti),
                  unknown(J + tj, I + ti), unknown(J - tj, I - ti)}};
          f.normal[0] = -1.0 / spacing, f.normal[1] = 1.0 / spacing;
          int known = 0;
          for (int k = 2; k < 6; ++k) {
            if (f.cell[k] == no_cell) continue;
            const double sign = k % 2 == 0 ? 1.0 : -1.0;
            f.along[k] += sign / spacing, f.along[k / 2 - 1] -= sign / spacing;
            ++known;
          }
          f.stress_weight = 0.25, f.viscosity_weight = known > 0 ? 1.0 / known : 0.0;
          f.BH = 0.5 * (input.hardness(j, i) + input.hardness(J, I)) * 0.5 *
                 (input.H(j, i) + input.H(J, I));
          m_faces.push_back(f);
        }
      }
    }
  }

  /// Add the operator, with the viscosity of the velocities w (pairs of unknowns, m s-1), to
  /// `matrix` (force on a cell, N).
  void add(const GlenLaw& law, const std::vector<double>& w, Mat matrix) const {
    for (const Face& f : m_faces) {
      const int n = f.axis, t = 1 - f.axis;          // components across the face and along it
      double nn = 0.0, nt = 0.0, tn = 0.0, tt = 0.0; // d_n w_n, d_n w_t, d_t w_n, d_t w_t
      for (int k = 0; k < 6; ++k) {
        if (f.cell[k] < 0) continue;
        const double w_n = w[2 * f.cell[k] + n], w_t = w[2 * f.cell[k] + t],
                     along = f.viscosity_weight * f.along[k];
        nn += f.normal[k] * w_n, nt += f.normal[k] * w_t, tn += along * w_n, tt += along * w_t;
      }
      const double e2 = nn * nn + tt * tt + nn * tt + 0.25 * (tn + nt) * (tn + nt);
      const double nuH = 0.5 * f.BH * law.viscosity(e2);
      for (const int side : {0, 1}) {
        if (f.cell[side] < 0) continue;
        const double scale = (side == 0 ? -1.0 : 1.0) * nuH *
                             m_spacing; // what the cell on the left gains the other loses
        for (int k = 0; k < 6; ++k) {
          if (f.cell[k] < 0) continue;
          const double normal = scale * f.normal[k], along = scale * f.stress_weight * f.along[k];
          const PetscInt row[2] = {2 * f.cell[side] + n, 2 * f.cell[side] + t},
                         column[2] = {2 * f.cell[k] + n, 2 * f.cell[k] + t};
          const double block[4] = {4.0 * normal, 2.0 * along, along, normal};
          MatSetValues(matrix, 2, row, 2, column, block, ADD_VALUES);
        }
      }
    }
  }

private:
  struct Face {
    int axis;    ///< 0: between neighbours in x, 1: in y
    int cell[6]; ///< P, Q, 2..5
    double normal[6] = {}, along[6] = {};
    double stress_weight = 0.0, viscosity_weight = 0.0, BH = 0.0;
  };
  double m_spacing;
  std::vector<Face> m_faces;
};

} // namespace nunatak
