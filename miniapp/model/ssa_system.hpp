// PETSc's linear systems of the SSA: the matrix in one of four forms, and the preconditioner.
// ssa.cpp drives; the rows come from kernels/ssa/assembly.hpp.
//
//   -ssa_operator stencil    18 numbers a row in the order of the grid, times a vector (default)
//                 elements   no matrix for the Krylov method: element by element
//                 aij        PETSc's sparse matrix, assembled by MatSetValuesCOO; what PETSc's
//                 preconditioners need dm         PETSc's sparse matrix on the DMDA of the grid,
//                 cells without ice included (ssa_dm.hpp)
//
// The preconditioner is the multigrid of kernels/multigrid/multigrid.hpp, unless -ssa_pc_type names
// one of PETSc's:
//
//   hypre      BoomerAMG. Aggressive coarsening on the finest level; best of its settings on
//   Antarctica at 16 km gamg       PETSc's smoothed aggregation. SOR smoothing: Chebyshev's
//   estimate of the spectrum fails on these matrices mg         PETSc's geometric multigrid on the
//   DMDA; Galerkin operators, SOR smoothing bjacobi, asm, lu, none, ...
#pragma once

#include "kernels/multigrid/multigrid.hpp"
#include "kernels/ssa/assembly.hpp"
#include "kernels/ssa/solver.hpp"
#include "miniapp/base/mpi_ranks.hpp"
#include "miniapp/model/ssa_dm.hpp"

#include <petscsnes.h>

#include <functional>
#include <memory>
#include <string>

namespace nunatak {

struct SsaSystemOptions {
  std::string solver = "auto"; ///< own, petsc; auto: own, unless there is an option for PETSc's
  std::string form = "auto";   ///< of PETSc's matrix: stencil, elements, aij, dm; auto: stencil, dm
                               ///< for mg, aij for others of PETSc
  Dmda* grid = nullptr;        ///< for dm: that of the model; nullptr: one like it is made
};

class SsaSystem {
public:
  SsaSystem(MpiRanks& ranks, SsaAssembly& assembly, double dx, double dy, const SsaOptions& options,
            const SsaSystemOptions& system);
  ~SsaSystem();
  SsaSystem(const SsaSystem&) = delete;
  SsaSystem& operator=(const SsaSystem&) = delete;

  /// For the present unknowns of the assembly. Collective.
  void create();
  void destroy();
  /// Its defaults, before KSPSetFromOptions.
  void configure(KSP ksp);

  Mat matrix() const { return m_matrix; }
  DM dm() const { return m_dm ? m_dm->dm() : nullptr; } ///< only of dm

  /// The values of the unknowns in an array of a Vec, which is the host's memory, where loops reach
  /// them: itself, or a copy that is good until the next call.
  const double* unknowns_in(const double* vec);
  /// An array of a Vec from the values of the unknowns, which f(double*) sets by loops.
  void set_vec(double* vec, const std::function<void(double*)>& f);

  /// The matrix of a step from (u, v), whose ghosts it needs.
  void assemble(const Array2<double>& u, const Array2<double>& v, ssa::Linearisation how);

  /// "multigrid in single precision, ...": the preconditioner in words.
  std::string describe() const;
  bool multigrid() const { return m_single != nullptr || m_double != nullptr; }

private:
  static PetscErrorCode multiply(Mat matrix, Vec x, Vec y);
  static PetscErrorCode set_up(PC pc);
  static PetscErrorCode precondition(PC pc, Vec b, Vec x);
  void create_shell();
  void create_aij();
  void configure_petsc(PC pc, const std::string& type);
  template <class Real> void fill(Multigrid<Real>& multigrid);
  template <class Real> void cycle(Multigrid<Real>& multigrid, const double* b, double* x);

  const SsaPatch& patch() const { return m_assembly.patch(0); }

  MpiRanks& m_ranks;
  SsaAssembly& m_assembly;
  double m_dx, m_dy;
  SsaOptions m_options;
  SsaSystemOptions m_given;
  std::string m_pc_type; ///< PETSc's, "" for our multigrid

  Mat m_matrix = nullptr;
  Rows<double> m_rows, m_x;
  std::vector<double> m_coo;
  std::unique_ptr<SsaDm> m_dm;
  Kokkos::View<double*, Mem> m_in,
      m_out; // of dm, and where loops do not reach a Vec: values of the unknowns
  std::unique_ptr<Multigrid<float>> m_single;
  std::unique_ptr<Multigrid<double>> m_double;
};

} // namespace nunatak
