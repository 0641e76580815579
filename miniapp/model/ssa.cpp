// See ssa.hpp. SNES drives; the callbacks below hand it the residual and the matrix of
// kernels/ssa/loops.hpp.
#include "miniapp/model/ssa.hpp"

#include "kernels/ssa/newton.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/model/petsc_error.hpp"

#include <petscsnes.h>
#if PETSC_VERSION_LT(3, 21, 0)
#define SNESLineSearchShellSetApply SNESLineSearchShellSetUserFunc // its name until then
#endif

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

namespace nunatak {

namespace {

/// SNES drives; its callbacks hand it the residual and the matrix of kernels/ssa/loops.hpp.
class SsaSnes final : public SsaSolver {
public:
  SsaSnes(MpiRanks& ranks, double dx, double dy, const SsaOptions& options,
          const SsaSystemOptions& system)
      : m_ranks(ranks), m_options(options),
        m_assembly(ranks, dx, dy, options.glen(), options.till(), options.till_subgrid),
        m_system(ranks, m_assembly, dx, dy, options, system) {}
  ~SsaSnes() override { destroy(); }

  SsaReport solve(const std::vector<SsaInput>& inputs, const std::vector<Array2<double>>& u,
                  const std::vector<Array2<double>>& v) override;
  void residual(int local, const Array2<double>& r_x, const Array2<double>& r_y) const override;
  std::string describe() const override;

private:
  void create();
  void destroy();
  void set_tolerance();
  void iterate(double start);
  void set_velocity(const double* x);
  [[noreturn]] void fail(SNESConvergedReason why) const;

  static PetscErrorCode set_residual(SNES, Vec x, Vec r, void* self);
  static PetscErrorCode set_jacobian(SNES, Vec x, Mat, Mat matrix, void* self);
  static PetscErrorCode slope_search(SNESLineSearch search, void* self);

  MpiRanks& m_ranks;
  SsaOptions m_options;
  SsaAssembly m_assembly;
  mutable SsaSystem m_system;
  Array2<double> m_u, m_v;
  ssa::Linearisation m_next = ssa::Linearisation::picard;
  SsaReport m_report;
  SNES m_snes = nullptr;
  Vec m_x = nullptr, m_r = nullptr;
};

// Once for a set of unknowns. A linear problem needs one step if its system is solved well enough.
void SsaSnes::create() {
  destroy();
  m_system.create();
  NUNATAK_PETSC(MatCreateVecs(m_system.matrix(), &m_x, &m_r));
  NUNATAK_PETSC(SNESCreate(m_ranks.comm(), &m_snes));
  NUNATAK_PETSC(SNESSetOptionsPrefix(m_snes, "ssa_"));
  if (m_system.dm() != nullptr) NUNATAK_PETSC(SNESSetDM(m_snes, m_system.dm()));
  NUNATAK_PETSC(SNESSetFunction(m_snes, m_r, set_residual, this));
  NUNATAK_PETSC(SNESSetJacobian(m_snes, m_system.matrix(), m_system.matrix(), set_jacobian, this));
  NUNATAK_PETSC(SNESSetType(m_snes, SNESNEWTONLS));
  SNESLineSearch search = nullptr;
  NUNATAK_PETSC(SNESGetLineSearch(m_snes, &search));
  NUNATAK_PETSC(SNESLineSearchSetType(search, SNESLINESEARCHSHELL));
  NUNATAK_PETSC(SNESLineSearchShellSetApply(search, slope_search, this));
  KSP ksp = nullptr;
  NUNATAK_PETSC(SNESGetKSP(m_snes, &ksp));
  NUNATAK_PETSC(KSPSetType(ksp, KSPCG));
  NUNATAK_PETSC(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  const bool linear = m_options.glen_n == 1.0 && m_options.till_q == 1.0;
  NUNATAK_PETSC(KSPSetTolerances(ksp,
                                 linear ? 0.1 * m_options.tolerance : m_options.linear_tolerance,
                                 0.0, PETSC_DEFAULT, 1000));
  m_system.configure(ksp);
  NUNATAK_PETSC(SNESSetTolerances(m_snes, 0.0, 0.0, 0.0, m_options.max_steps, PETSC_MAX_INT));
  NUNATAK_PETSC(SNESSetFromOptions(m_snes));
}

// The absolute one follows the load, unless the user has set it; the others are those of create().
void SsaSnes::set_tolerance() {
  PetscBool set = PETSC_FALSE;
  NUNATAK_PETSC(PetscOptionsHasName(nullptr, "ssa_", "-snes_atol", &set));
  if (set == PETSC_TRUE) return;
  PetscReal relative = 0.0, step = 0.0;
  PetscInt steps = 0, evaluations = 0;
  NUNATAK_PETSC(SNESGetTolerances(m_snes, nullptr, &relative, &step, &steps, &evaluations));
  NUNATAK_PETSC(SNESSetTolerances(m_snes, m_options.tolerance * m_report.load_norm, relative, step,
                                  steps, evaluations));
}

void SsaSnes::destroy() {
  SNESDestroy(&m_snes);
  VecDestroy(&m_x);
  VecDestroy(&m_r);
  m_system.destroy();
}

// (u, v) with ghosts from the array of a Vec.
void SsaSnes::set_velocity(const double* x) {
  ssa::unpack(m_assembly.patch(0), m_system.unknowns_in(x), m_u, m_v);
  m_ranks.update_ghosts({m_u, m_v});
}

PetscErrorCode SsaSnes::set_residual(SNES, Vec x, Vec r, void* self) {
  auto& s = *static_cast<SsaSnes*>(self);
  const double start = MPI_Wtime();
  const PetscScalar* px = nullptr;
  PetscScalar* pr = nullptr;
  PetscCall(VecGetArrayRead(x, &px));
  PetscCall(VecGetArrayWrite(r, &pr));
  s.set_velocity(px);
  s.m_system.set_vec(
      pr, [&](double* unknowns) { ssa::residual(s.m_assembly.patch(0), s.m_u, s.m_v, unknowns); });
  PetscCall(VecRestoreArrayWrite(r, &pr));
  PetscCall(VecRestoreArrayRead(x, &px));
  s.m_report.seconds_residual += MPI_Wtime() - start;
  return 0;
}

PetscErrorCode SsaSnes::set_jacobian(SNES, Vec x, Mat, Mat, void* self) {
  auto& s = *static_cast<SsaSnes*>(self);
  const double start = MPI_Wtime();
  const PetscScalar* px = nullptr;
  PetscCall(VecGetArrayRead(x, &px));
  s.set_velocity(px);
  PetscCall(VecRestoreArrayRead(x, &px));
  s.m_system.assemble(s.m_u, s.m_v, s.m_next);
  s.m_next = ssa::Linearisation::weighted;
  s.m_report.seconds_jacobian += MPI_Wtime() - start;
  return 0;
}

PetscErrorCode SsaSnes::slope_search(SNESLineSearch search, void* self) {
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
  if (step_tolerance > 0.0) PetscCall(VecNorm(x, NORM_2, &xnorm)); // else nobody asks for it
  PetscCall(VecNorm(f, NORM_2, &fnorm));
  PetscCall(SNESLineSearchSetNorms(search, xnorm, fnorm, std::sqrt(of_y[1])));
  return 0;
}

void SsaSnes::fail(SNESConvergedReason why) const {
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

SsaReport SsaSnes::solve(const std::vector<SsaInput>& inputs, const std::vector<Array2<double>>& us,
                         const std::vector<Array2<double>>& vs) {
  const double start = MPI_Wtime();
  const std::int64_t collectives = m_ranks.traffic_of_all().collectives;
  const double petsc_reductions = petsc_allreduce_ct;
  m_report = {};
  const Array2<double> u = us.at(0), v = vs.at(0);
  m_u = u, m_v = v;
  m_assembly.set_input(inputs);
  ssa::impose(m_assembly.patch(0), u, v);
  m_report.unknown_cells = m_assembly.unknowns();
  m_report.excluded_cells = m_assembly.excluded();
  m_report.reason = "no unknowns";
  if (m_report.unknown_cells > 0) {
    if (m_snes == nullptr || m_assembly.unknowns_changed()) create();
    PetscScalar* x = nullptr;
    NUNATAK_PETSC(VecGetArrayWrite(m_r, &x));
    const auto load = m_assembly.patch(0).load;
    Kokkos::fence("ssa: load");
    m_system.set_vec(x, [&](double* unknowns) {
      std::copy(load.data(), load.data() + 2 * m_assembly.patch(0).unknowns(), unknowns);
    });
    NUNATAK_PETSC(VecRestoreArrayWrite(m_r, &x));
    NUNATAK_PETSC(VecNorm(m_r, NORM_2, &m_report.load_norm));
    NUNATAK_PETSC(VecGetArrayWrite(m_x, &x));
    m_system.set_vec(x, [&](double* unknowns) { ssa::pack(m_assembly.patch(0), u, v, unknowns); });
    NUNATAK_PETSC(VecRestoreArrayWrite(m_x, &x));
    iterate(start);
  }
  m_report.reductions = static_cast<int>(m_ranks.traffic_of_all().collectives - collectives) +
                        static_cast<int>(petsc_allreduce_ct - petsc_reductions);
  m_report.seconds_total = MPI_Wtime() - start;
  m_report.seconds_linear = m_report.seconds_total - m_report.seconds_setup -
                            m_report.seconds_residual - m_report.seconds_jacobian;
  return m_report;
}

void SsaSnes::iterate(double start) {
  PetscReal speed = 0.0;
  NUNATAK_PETSC(VecNorm(m_x, NORM_INFINITY, &speed));
  m_next = speed == 0.0 ? ssa::Linearisation::at_rest : ssa::Linearisation::picard;
  NUNATAK_PETSC(SNESComputeFunction(m_snes, m_x, m_r));
  NUNATAK_PETSC(SNESSetInitialFunction(m_snes, m_r)); // not once more
  NUNATAK_PETSC(VecNorm(m_r, NORM_2, &m_report.initial_residual));
  if (m_report.load_norm == 0.0)
    m_report.load_norm = m_report.initial_residual; // driven by fixed values alone
  set_tolerance();
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

  const PetscScalar* solution = nullptr;
  NUNATAK_PETSC(VecGetArrayRead(m_x, &solution));
  set_velocity(solution);
  NUNATAK_PETSC(VecRestoreArrayRead(m_x, &solution));
  if (why < 0) fail(why);
}

void SsaSnes::residual(int, const Array2<double>& r_x, const Array2<double>& r_y) const {
  Kokkos::deep_copy(r_x, 0.0);
  Kokkos::deep_copy(r_y, 0.0);
  if (m_r == nullptr) return;
  const PetscScalar* r = nullptr;
  NUNATAK_PETSC(VecGetArrayRead(m_r, &r));
  ssa::unpack(m_assembly.patch(0), m_system.unknowns_in(r), r_x, r_y);
  NUNATAK_PETSC(VecRestoreArrayRead(m_r, &r));
}

std::string SsaSnes::describe() const {
  if (m_snes == nullptr) return "no unknowns";
  KSP ksp = nullptr;
  KSPType type = nullptr;
  PetscReal tolerance = 0.0;
  NUNATAK_PETSC(SNESGetKSP(m_snes, &ksp));
  NUNATAK_PETSC(KSPGetType(ksp, &type));
  NUNATAK_PETSC(KSPGetTolerances(ksp, &tolerance, nullptr, nullptr, nullptr));
  std::ostringstream text;
  text << m_report.unknown_cells << " cells with two unknowns, " << m_report.excluded_cells
       << " excluded; Picard to Newton, weighted by element, until |residual| <= "
       << m_options.tolerance << " |load|; " << type << " until " << tolerance << "; "
       << m_system.describe();
  return text.str();
}

/// Is there an option of PETSc's for the SSA, or one for how PETSc gets its matrix?
bool asks_for_petsc(const SsaSystemOptions& system) {
  if (system.form != "auto") return true;
  char* all = nullptr;
  NUNATAK_PETSC(PetscOptionsGetAll(nullptr, &all));
  const std::string options = all == nullptr ? "" : all;
  PetscFree(all);
  bool found = false;
  for (const char* begin :
       {"-ssa_ksp_", "-ssa_pc_", "-ssa_snes_", "-ssa_mg_", "-ssa_mat_", "-ssa_sub_"})
    found = found || options.find(begin) != std::string::npos;
  return found;
}

} // namespace

std::unique_ptr<SsaSolver> make_ssa_solver(MpiRanks& ranks, double dx, double dy,
                                           const SsaOptions& options,
                                           const SsaSystemOptions& system) {
  if (system.solver == "own" && system.form != "auto")
    throw Error("options -ssa_solver own and -ssa_operator " + system.form +
                ": the operator is for -ssa_solver petsc");
  if (system.solver == "own" || (system.solver == "auto" && !asks_for_petsc(system)))
    return std::make_unique<SsaNewton>(ranks, dx, dy, options);
  if (device_memory)
    throw Error("option -ssa_solver: expected own, found petsc, whose vectors the host fills from "
                "arrays (NUNATAK_DEVICE_MEMORY)");
  return std::make_unique<SsaSnes>(ranks, dx, dy, options, system);
}

} // namespace nunatak
