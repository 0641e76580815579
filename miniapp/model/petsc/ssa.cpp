// See ssa.hpp. SNES iterates; its callbacks return residual and matrix from kernels/ssa/loops.hpp.
#include "miniapp/model/petsc/ssa.hpp"

#include "common/error.hpp"
#include "common/text.hpp"
#include "kernels/ssa/assembly.hpp"
#include "kernels/ssa/newton.hpp"
#include "miniapp/model/petsc_error.hpp"

#include <petscsnes.h>
#if PETSC_VERSION_LT(3, 21, 0)
#define SNESLineSearchShellSetApply SNESLineSearchShellSetUserFunc // its name in earlier versions
#endif

#include <algorithm>
#include <cmath>
#include <regex>
#include <sstream>
#include <utility>
#include <vector>

namespace nunatak {

namespace {

/// The value of the option -ssa_<name>; "" if absent.
std::string given(const char* name) {
  char value[64] = "";
  PetscBool found = PETSC_FALSE;
  NUNATAK_PETSC(PetscOptionsGetString(nullptr, "ssa_", name, value, sizeof value, &found));
  return found == PETSC_TRUE ? value : "";
}

/// Sets PETSc's options that the user has not set.
void set_defaults(const std::vector<std::pair<const char*, const char*>>& defaults) {
  for (const auto& [name, value] : defaults) {
    PetscBool is_set = PETSC_FALSE;
    NUNATAK_PETSC(PetscOptionsHasName(nullptr, nullptr, name, &is_set));
    if (is_set == PETSC_FALSE) NUNATAK_PETSC(PetscOptionsSetValue(nullptr, name, value));
  }
}

/// Position of the pair of unknown n in the array of a global Vec.
std::ptrdiff_t place(const SsaPatch& p, int n) {
  const auto [j, i] = p.cell(n);
  return 2 * (static_cast<std::ptrdiff_t>(j - 1) * p.patch.xm + i - 1);
}

/// f(n, pair) reads the pair of each unknown of a Vec.
template <class F> PetscErrorCode read_pairs(const SsaPatch& p, Vec vec, const F& f) {
  const PetscScalar* values = nullptr;
  PetscCall(VecGetArrayRead(vec, &values));
  for (int n = 0; n < p.unknowns(); ++n) f(n, values + place(p, n));
  PetscCall(VecRestoreArrayRead(vec, &values));
  return 0;
}

/// f(n, pair) sets the pair of each unknown of a Vec; other cells become 0.
template <class F> PetscErrorCode write_pairs(const SsaPatch& p, Vec vec, const F& f) {
  PetscScalar* values = nullptr;
  PetscCall(VecZeroEntries(vec));
  PetscCall(VecGetArray(vec, &values));
  for (int n = 0; n < p.unknowns(); ++n) f(n, values + place(p, n));
  PetscCall(VecRestoreArray(vec, &values));
  return 0;
}

/// PETSc's multigrid halves the number of intervals per level. Throws Error if it cannot.
void require_levels(const std::string& levels, const Decomposition& d) {
  const int ratio = 1 << (whole_number(levels, 1, 30, "option -ssa_pc_mg_levels") - 1);
  const auto check = [&](const char* axis, int points, bool periodic) {
    const int extra = periodic ? 0 : 1;
    if ((points - extra) % ratio == 0) return;
    const int fitting = ((points - extra) / ratio + 1) * ratio + extra;
    throw Error("options -ssa_pc_type mg and -ssa_pc_mg_levels " + levels +
                ": expected a number of points along " + axis + " that is " +
                (periodic ? "" : "1 plus ") + "a multiple of " + std::to_string(ratio) +
                ", found " + std::to_string(points) + "; fewer levels, or -grid_M" + axis + " " +
                std::to_string(fitting) + ", will do");
  };
  check("x", d.Mx, d.periodic_x);
  check("y", d.My, d.periodic_y);
}

class SsaSnes final : public SsaSolver {
public:
  SsaSnes(MpiRanks& ranks, double dx, double dy, const SsaOptions& options, bool pism, Dmda* grid)
      : m_ranks(ranks), m_dx(dx), m_dy(dy), m_options(options), m_pism(pism),
        m_assembly(ranks, dx, dy, options.glen(), options.till(), options.till_subgrid) {
    if (!given("-snes_grid_sequence").empty()) {
      throw Error(
          "option -ssa_snes_grid_sequence: the SSA is solved at the points of the fields it "
          "is given, on one grid; expected -da_refine, which refines the grid of the whole "
          "model, or -grid_dx");
    }
    const Decomposition& d = ranks.decomposition();
    const std::string levels = given("-pc_mg_levels");
    if (m_pc_type == PCMG && !levels.empty()) require_levels(levels, d);
    if (grid == nullptr) {
      m_own_grid = std::make_unique<Dmda>(
          ranks.comm(), DmdaShape{d.Mx, d.My, d.px, d.py, d.periodic_x, d.periodic_y});
      grid = m_own_grid.get();
    }
    if ((m_pism || !m_pc_type.empty()) && options.preconditioner != SsaOptions{}.preconditioner)
      throw Error("options -ssa_preconditioner and -ssa_pc_type: expected one of them, found '" +
                  options.preconditioner + "' and '" + m_pc_type + "'");
    // SNES attaches its callbacks to it
    NUNATAK_PETSC(DMClone(m_pism ? grid->wide(2) : grid->dm(2), &m_dm));
    if (m_pism) {
      NUNATAK_PETSC(DMSetMatType(m_dm, MATBAIJ));
      NUNATAK_PETSC(DMCreateLocalVector(m_dm, &m_local));
    }
  }

  ~SsaSnes() override {
    destroy();
    VecDestroy(&m_local);
    DMDestroy(&m_dm);
  }

  SsaReport solve(const std::vector<SsaInput>& inputs, const std::vector<Array2<double>>& us,
                  const std::vector<Array2<double>>& vs) override {
    const double start = MPI_Wtime();
    const std::int64_t collectives = m_ranks.traffic().collectives;
    const double petsc_reductions = petsc_allreduce_ct;
    m_report = {};
    m_u = us.at(0);
    m_v = vs.at(0);
    m_assembly.set_input(inputs);
    ssa::impose(patch(), m_u, m_v);
    m_report.unknown_cells = m_assembly.unknowns();
    m_report.excluded_cells = m_assembly.excluded();
    m_report.reason = "no unknowns";
    if (m_report.unknown_cells > 0) {
      if (m_snes == nullptr || (m_M != nullptr && m_assembly.unknowns_changed())) create();
      Kokkos::resize(Kokkos::WithoutInitializing, m_list,
                     2 * static_cast<std::size_t>(patch().unknowns()));
      Kokkos::fence("ssa: load and first guess");
      NUNATAK_PETSC(write_pairs(patch(), m_r, [this](int n, double* pair) {
        std::copy_n(patch().load.data() + 2 * n, 2, pair);
      }));
      NUNATAK_PETSC(VecNorm(m_r, NORM_2, &m_report.load_norm));
      NUNATAK_PETSC(write_pairs(patch(), m_x, [this](int n, double* pair) {
        const auto [j, i] = patch().cell(n);
        pair[0] = m_u(j, i);
        pair[1] = m_v(j, i);
      }));
      iterate(start);
    }
    m_report.reductions = static_cast<int>(m_ranks.traffic().collectives - collectives) +
                          static_cast<int>(petsc_allreduce_ct - petsc_reductions);
    m_report.seconds_total = MPI_Wtime() - start;
    m_report.seconds_linear = m_report.seconds_total - m_report.seconds_setup -
                              m_report.seconds_residual - m_report.seconds_jacobian;
    return m_report;
  }

  void residual(int /*local*/, const Array2<double>& r_x,
                const Array2<double>& r_y) const override {
    Kokkos::deep_copy(r_x, 0.0);
    Kokkos::deep_copy(r_y, 0.0);
    Kokkos::fence("ssa: before the residual is set");
    if (m_r == nullptr) return;
    NUNATAK_PETSC(read_pairs(patch(), m_r, [&](int n, const double* pair) {
      const auto [j, i] = patch().cell(n);
      r_x(j, i) = pair[0];
      r_y(j, i) = pair[1];
    }));
  }
  std::string describe() const override {
    if (m_snes == nullptr) return "no unknowns";
    KSP ksp = nullptr;
    KSPType type = nullptr;
    PetscReal tolerance = 0.0;
    NUNATAK_PETSC(SNESGetKSP(m_snes, &ksp));
    NUNATAK_PETSC(KSPGetType(ksp, &type));
    NUNATAK_PETSC(KSPGetTolerances(ksp, &tolerance, nullptr, nullptr, nullptr));
    std::ostringstream text;
    PetscReal reduction = 0.0;
    NUNATAK_PETSC(SNESGetTolerances(m_snes, nullptr, &reduction, nullptr, nullptr, nullptr));
    text << m_report.unknown_cells << " cells with two unknowns, " << m_report.excluded_cells
         << " excluded; " << (m_pism ? "Newton" : "Picard to Newton, weighted by element")
         << ", until |residual| <= " << (m_pism ? reduction : m_options.tolerance)
         << (m_pism ? " |first residual|" : " |load|") << "; " << type << " until " << tolerance
         << "; ";
    text << (m_M == nullptr ? "PETSc's " + m_pc_type : m_M->describe() + "; double precision");
    return text.str();
  }

private:
  // One step solves a linear problem if the linear tolerance is tight enough.
  void create() {
    destroy();
    m_rows = Rows<double>("ssa_rows", m_ranks.patch(), 36);
    NUNATAK_PETSC(DMCreateMatrix(m_dm, &m_matrix));
    if (!m_pism) NUNATAK_PETSC(MatSetOption(m_matrix, MAT_SPD, PETSC_TRUE));
    NUNATAK_PETSC(MatCreateVecs(m_matrix, &m_x, &m_r));
    NUNATAK_PETSC(SNESCreate(m_ranks.comm(), &m_snes));
    NUNATAK_PETSC(SNESSetOptionsPrefix(m_snes, "ssa_"));
    NUNATAK_PETSC(SNESSetDM(m_snes, m_dm));
    NUNATAK_PETSC(SNESSetFunction(m_snes, m_r, set_residual, this));
    NUNATAK_PETSC(SNESSetJacobian(m_snes, m_matrix, m_matrix, set_jacobian, this));
    NUNATAK_PETSC(SNESSetType(m_snes, SNESNEWTONLS));
    KSP ksp = nullptr;
    PC pc = nullptr;
    NUNATAK_PETSC(SNESGetKSP(m_snes, &ksp));
    NUNATAK_PETSC(KSPGetPC(ksp, &pc));
    choose_preconditioner(pc);
    if (m_pism) { // everything else as PETSc has it, as in PISM's finite elements
      NUNATAK_PETSC(SNESSetTolerances(m_snes, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT,
                                      2 * m_options.max_steps, PETSC_DEFAULT));
      NUNATAK_PETSC(SNESSetConvergenceHistory(m_snes, nullptr, nullptr, PETSC_DECIDE, PETSC_TRUE));
      NUNATAK_PETSC(SNESSetFromOptions(m_snes));
      return;
    }
    SNESLineSearch search = nullptr;
    NUNATAK_PETSC(SNESGetLineSearch(m_snes, &search));
    NUNATAK_PETSC(SNESLineSearchSetType(search, SNESLINESEARCHSHELL));
    NUNATAK_PETSC(SNESLineSearchShellSetApply(search, slope_search, this));
    // a cycle of our multigrid is not symmetric
    NUNATAK_PETSC(KSPSetType(ksp, m_pc_type.empty() ? KSPFCG : KSPCG));
    NUNATAK_PETSC(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
    const bool linear = m_options.glen_n == 1.0 && m_options.till_q == 1.0;
    const double tolerance = // without local solves, half of the own solver's
        linear ? 0.1 * m_options.tolerance : 0.5 * m_options.linear_tolerance;
    NUNATAK_PETSC(KSPSetTolerances(ksp, tolerance, 0.0, PETSC_DEFAULT, 1000));
    NUNATAK_PETSC(SNESSetTolerances(m_snes, 0.0, 0.0, 0.0, m_options.max_steps, PETSC_MAX_INT));
    NUNATAK_PETSC(SNESSetFromOptions(m_snes));
  }

  void destroy() {
    SNESDestroy(&m_snes);
    VecDestroy(&m_x);
    VecDestroy(&m_r);
    MatDestroy(&m_matrix);
    m_M.reset();
  }

  // One of kernels/multigrid/, or that of -ssa_pc_type with defaults that the user may override.
  void choose_preconditioner(PC pc) {
    if (m_pc_type.empty()) {
      m_M = row_of(preconditioners<double>(), m_options.preconditioner, "preconditioner")
                .make(m_ranks, m_dx, m_dy, {patch().unknown}, m_options.multigrid);
      NUNATAK_PETSC(PCSetType(pc, PCSHELL));
      NUNATAK_PETSC(PCShellSetContext(pc, this));
      NUNATAK_PETSC(PCShellSetName(pc, (m_options.preconditioner + " of nunatak").c_str()));
      NUNATAK_PETSC(PCShellSetSetUp(pc, set_up_own));
      NUNATAK_PETSC(PCShellSetApply(pc, apply_own));
      return;
    }
    std::vector<std::pair<const char*, const char*>> defaults;
    const std::string hypre = given("-pc_hypre_type");
    if (m_pc_type == PCHYPRE && (hypre.empty() || hypre == "boomeramg")) {
      defaults = {{"-ssa_pc_hypre_boomeramg_coarsen_type", "HMIS"},
                  {"-ssa_pc_hypre_boomeramg_interp_type", "ext+i"},
                  {"-ssa_pc_hypre_boomeramg_P_max", "4"},
                  {"-ssa_pc_hypre_boomeramg_agg_nl", "1"},
                  {"-ssa_pc_hypre_boomeramg_strong_threshold", "0.5"}};
    } else if (m_pc_type == PCGAMG) {
      defaults = {{"-ssa_mg_levels_ksp_type", "richardson"},
                  {"-ssa_mg_levels_pc_type", "sor"},
                  {"-ssa_pc_gamg_reuse_interpolation", "false"}};
    } else if (m_pc_type == PCMG) {
      defaults = {{"-ssa_pc_mg_galerkin", "both"},
                  {"-ssa_mg_levels_ksp_type", "richardson"},
                  {"-ssa_mg_levels_pc_type", "sor"}};
    }
    NUNATAK_PETSC(PCSetType(pc, m_pc_type.c_str()));
    set_defaults(defaults);
  }

  void iterate(double start) {
    m_next = ssa::Linearisation::newton;
    if (!m_pism) {
      PetscReal speed = 0.0;
      NUNATAK_PETSC(VecNorm(m_x, NORM_INFINITY, &speed));
      m_next = speed == 0.0 ? ssa::Linearisation::at_rest : ssa::Linearisation::picard;
      NUNATAK_PETSC(SNESComputeFunction(m_snes, m_x, m_r));
      NUNATAK_PETSC(SNESSetInitialFunction(m_snes, m_r)); // SNESSolve will not recompute it
      NUNATAK_PETSC(VecNorm(m_r, NORM_2, &m_report.initial_residual));
      if (m_report.load_norm == 0.0)
        m_report.load_norm = m_report.initial_residual; // driven by prescribed velocities only
      if (given("-snes_atol").empty())                  // create() sets the other tolerances
        NUNATAK_PETSC(SNESSetTolerances(m_snes, m_options.tolerance * m_report.load_norm,
                                        PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT,
                                        PETSC_DEFAULT));
    }
    m_report.seconds_setup = MPI_Wtime() - start - m_report.seconds_residual;

    NUNATAK_PETSC(SNESSolve(m_snes, nullptr, m_x));
    PetscInt steps = 0, linear = 0;
    SNESConvergedReason why = SNES_CONVERGED_ITERATING;
    NUNATAK_PETSC(SNESGetIterationNumber(m_snes, &steps));
    NUNATAK_PETSC(SNESGetLinearSolveIterations(m_snes, &linear));
    NUNATAK_PETSC(VecNorm(m_r, NORM_2, &m_report.final_residual));
    NUNATAK_PETSC(SNESGetConvergedReason(m_snes, &why));
    m_report.steps = static_cast<int>(steps);
    m_report.linear_iterations = static_cast<int>(linear);
    m_report.reason = SNESConvergedReasons[why];
    if (m_pism) {
      PetscReal* history = nullptr;
      NUNATAK_PETSC(SNESGetConvergenceHistory(m_snes, &history, nullptr, nullptr));
      m_report.initial_residual = history[0];
    }
    set_velocity(m_x);
    if (why < 0) fail(why);
  }

  void set_velocity(Vec x) {
    Kokkos::fence("ssa: before the velocity is set");
    if (m_pism) return set_velocity_with_ghosts(x);
    NUNATAK_PETSC(read_pairs(patch(), x, [this](int n, const double* pair) {
      const auto [j, i] = patch().cell(n);
      m_u(j, i) = pair[0];
      m_v(j, i) = pair[1];
    }));
    m_ranks.update_ghosts({m_u, m_v});
  }

  /// The ghosts of both components together, as SNES has them on a DMDA.
  void set_velocity_with_ghosts(Vec x) {
    const PetscScalar* values = nullptr;
    NUNATAK_PETSC(DMGlobalToLocal(m_dm, x, INSERT_VALUES, m_local));
    NUNATAK_PETSC(VecGetArrayRead(m_local, &values));
    const Patch& p = patch().patch;
    for (int j = 0; j < p.ym + 2; ++j) {
      for (int i = 0; i < p.xm + 2; ++i) {
        const PetscScalar* const pair = values + 2 * local_cell(j, i);
        m_u(j, i) = pair[0];
        m_v(j, i) = pair[1];
      }
    }
    NUNATAK_PETSC(VecRestoreArrayRead(m_local, &values));
    for (const Array2<double>& a : {m_u, m_v})
      replicate_edges(m_ranks.decomposition(), p, reinterpret_cast<std::byte*>(a.data()),
                      sizeof(double));
  }

  /// Number of a cell, (j, i) with one ring of ghosts, in a local Vec.
  PetscInt local_cell(int j, int i) const {
    const int more = m_pism ? 1 : 0; // rings of ghosts there that fields do not have
    return (j + more) * (patch().patch.xm + 2 + 2 * more) + i + more;
  }
  /// No neighbours across an edge of the domain.
  bool is_inside(int j, int i) const {
    const Patch& p = patch().patch;
    const Decomposition& d = m_ranks.decomposition();
    const auto within = [](int n, int size, bool periodic) {
      return periodic || (n >= 0 && n < size);
    };
    return within(p.global_j(j), p.My, d.periodic_y) && within(p.global_i(i), p.Mx, d.periodic_x);
  }

  void assemble(Mat matrix) const {
    const Patch& p = patch().patch;
    const double identity[4] = {1.0, 0.0, 0.0, 1.0};
    NUNATAK_PETSC(MatZeroEntries(matrix)); // cells that are no unknowns any more
    for_each_owned(p, [&](int j, int i) {
      const PetscInt cell = local_cell(j, i);
      if (patch().unknown(j, i) == 0) {
        NUNATAK_PETSC(
            MatSetValuesBlockedLocal(matrix, 1, &cell, 1, &cell, identity, INSERT_VALUES));
        return;
      }
      PetscInt columns[9];
      double values[36]; // two rows of 18
      for (int slot = 0; slot < 9; ++slot) {
        const int row = j + slot / 3 - 1, column = i + slot % 3 - 1;
        columns[slot] = is_inside(row, column) ? local_cell(row, column) : -1; // -1: none
        for (int m = 0; m < 4; ++m)
          values[18 * (m / 2) + 2 * slot + m % 2] = m_rows(j, i, 4 * slot + m);
      }
      NUNATAK_PETSC(MatSetValuesBlockedLocal(matrix, 1, &cell, 9, columns, values, INSERT_VALUES));
    });
    NUNATAK_PETSC(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
    NUNATAK_PETSC(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
  }

  [[noreturn]] void fail(SNESConvergedReason why) const {
    std::string linear;
    if (why == SNES_DIVERGED_LINEAR_SOLVE) {
      KSP ksp = nullptr;
      KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
      SNESGetKSP(m_snes, &ksp);
      KSPGetConvergedReason(ksp, &reason);
      linear = std::string("; linear solver: ") + KSPConvergedReasons[reason];
    }
    throw SsaError(m_report, m_options.tolerance, linear);
  }

  static PetscErrorCode set_residual(SNES, Vec x, Vec r, void* self) {
    auto& s = *static_cast<SsaSnes*>(self);
    const double start = MPI_Wtime();
    s.set_velocity(x);
    ssa::residual(s.patch(), s.m_u, s.m_v, s.m_list.data());
    Kokkos::fence("ssa: residual for PETSc");
    PetscCall(write_pairs(
        s.patch(), r, [&](int n, double* pair) { std::copy_n(s.m_list.data() + 2 * n, 2, pair); }));
    s.m_report.seconds_residual += MPI_Wtime() - start;
    return 0;
  }

  static PetscErrorCode set_jacobian(SNES, Vec x, Mat, Mat matrix, void* self) {
    auto& s = *static_cast<SsaSnes*>(self);
    const double start = MPI_Wtime();
    s.set_velocity(x);
    ssa::jacobian(s.patch(), s.m_u, s.m_v, s.m_next, s.m_rows);
    Kokkos::fence("ssa: rows for PETSc");
    s.assemble(matrix);
    if (!s.m_pism) s.m_next = ssa::Linearisation::weighted;
    s.m_report.seconds_jacobian += MPI_Wtime() - start;
    return 0;
  }

  // The line search of kernels/ssa/solver.hpp.
  static PetscErrorCode slope_search(SNESLineSearch search, void* self) {
    auto& s = *static_cast<SsaSnes*>(self);
    Vec x = nullptr, f = nullptr, y = nullptr, w = nullptr, g = nullptr;
    SNES snes = nullptr;
    PetscReal xnorm = 0.0, fnorm = 0.0, step_tolerance = 0.0;
    PetscCall(SNESLineSearchGetVecs(search, &x, &f, &y, &w, &g));
    PetscCall(SNESLineSearchGetSNES(search, &snes));
    const Vec f_and_y[] = {f, y};
    PetscScalar of_y[2] = {}, slope = 0.0;
    PetscCall(VecMDot(y, 2, f_and_y, of_y)); // one reduction
    SlopeSearch slopes(-of_y[0]);
    double t = 1.0;
    do {
      t = slopes.t();
      PetscCall(VecWAXPY(w, -t, y, x));
      PetscCall(SNESComputeFunction(snes, w, g));
      PetscCall(VecDot(g, y, &slope));
    } while (!slopes.accept(-slope));
    if (t < 1.0) s.m_report.damped_steps += 1;
    PetscCall(VecCopy(w, x));
    PetscCall(VecCopy(g, f));
    PetscCall(SNESLineSearchSetLambda(search, t));
    PetscCall(SNESGetTolerances(snes, nullptr, nullptr, &step_tolerance, nullptr, nullptr));
    if (step_tolerance > 0.0) PetscCall(VecNorm(x, NORM_2, &xnorm)); // unused otherwise
    PetscCall(VecNorm(f, NORM_2, &fnorm));
    PetscCall(SNESLineSearchSetNorms(search, xnorm, fnorm, std::sqrt(of_y[1])));
    return 0;
  }

  static PetscErrorCode set_up_own(PC pc) {
    SsaSnes* s = nullptr;
    PetscCall(PCShellGetContext(pc, &s));
    const Rows<double> finest = s->m_M->finest(0).rows_of_owned();
    for (int n = 0; n < s->patch().unknowns(); ++n) { // PETSc may keep a preconditioner
      const auto [j, i] = s->patch().cell(n);
      for (int m = 0; m < 36; ++m) finest(j, i, m) = s->m_rows(j, i, m);
    }
    s->m_M->set_operator();
    return 0;
  }

  static PetscErrorCode apply_own(PC pc, Vec b, Vec x) {
    SsaSnes* s = nullptr;
    PetscCall(PCShellGetContext(pc, &s));
    const NinePoint<double>& finest = s->m_M->finest(0);
    Kokkos::fence("ssa: before the right-hand side is set");
    PetscCall(read_pairs(s->patch(), b, [&](int n, const double* pair) {
      for (int m = 0; m < 2; ++m) finest.b(finest.cells(n), m) = pair[m];
    }));
    s->m_M->apply(false);
    Kokkos::fence("ssa: a cycle for PETSc");
    PetscCall(write_pairs(s->patch(), x, [&](int n, double* pair) {
      for (int m = 0; m < 2; ++m) pair[m] = finest.x(finest.cells(n), m);
    }));
    return 0;
  }

  const SsaPatch& patch() const { return m_assembly.patch(0); }

  MpiRanks& m_ranks;
  double m_dx, m_dy;
  SsaOptions m_options;
  bool m_pism; ///< PISM's finite elements: see ssa.hpp
  SsaAssembly m_assembly;
  std::string m_pc_type = given("-pc_type"); // "": one of kernels/multigrid/
  std::unique_ptr<Dmda> m_own_grid;
  DM m_dm = nullptr;
  Vec m_local = nullptr; // with ghosts, if m_pism

  // other unknowns need new ones
  SNES m_snes = nullptr;
  Mat m_matrix = nullptr;
  Vec m_x = nullptr, m_r = nullptr;
  Rows<double> m_rows;
  Kokkos::View<double*, Mem> m_list; // residual: a pair per unknown
  std::unique_ptr<Preconditioner<double>> m_M;

  // per solve
  Array2<double> m_u, m_v;
  ssa::Linearisation m_next = ssa::Linearisation::picard;
  SsaReport m_report;
};

/// True if a PETSc option is given for the SSA.
bool asks_for_petsc() {
  char* all = nullptr;
  NUNATAK_PETSC(PetscOptionsGetAll(nullptr, &all));
  const std::string options = all == nullptr ? "" : all;
  PetscFree(all);
  return std::regex_search(options, std::regex("-ssa_(ksp|pc|snes|mg|mat|sub)_"));
}

} // namespace

std::unique_ptr<SsaSolver> make_ssa_solver(MpiRanks& ranks, double dx, double dy,
                                           const SsaOptions& options, const std::string& solver,
                                           Dmda* grid) {
  if (solver == "own" || (solver == "auto" && !asks_for_petsc()))
    return std::make_unique<SsaNewton>(ranks, dx, dy, options);
  if (device_memory)
    throw Error("option -ssa_solver: expected own, found " + solver +
                ": PETSc's vectors the host fills from arrays (NUNATAK_DEVICE_MEMORY)");
  if (solver == "pism") {
    set_defaults({{"-ssa_ksp_type", KSPGMRES}, {"-ssa_pc_type", PCBJACOBI}});
    if (given("-pc_type") == PCBJACOBI) set_defaults({{"-ssa_sub_pc_type", PCILU}});
  }
  return std::make_unique<SsaSnes>(ranks, dx, dy, options, solver == "pism", grid);
}

} // namespace nunatak
