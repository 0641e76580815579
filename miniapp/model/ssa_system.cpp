#include "miniapp/model/ssa_system.hpp"

#include "kernels/ssa/multiply.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/model/petsc_error.hpp"
#include "miniapp/model/reproducible_vec.hpp"

#include <utility>
#include <vector>

namespace nunatak {

namespace {

std::string given(const char* name) {
  char value[64] = "";
  PetscBool found = PETSC_FALSE;
  NUNATAK_PETSC(PetscOptionsGetString(nullptr, "ssa_", name, value, sizeof value, &found));
  return found == PETSC_TRUE ? value : "";
}

// Loops of their own functions: nvcc takes none in a private member. Lists are pairs per unknown,
// arrays pairs per cell.

template <class Real>
void list_to_array(const SsaPatch& p, const Kokkos::View<int*, Mem>& places, const double* list,
                   Real* array) {
  Kokkos::parallel_for(
      "ssa: list to array", Kokkos::RangePolicy<Exec>(0, p.unknowns()), KOKKOS_LAMBDA(int k) {
        Real* at = array + 2 * static_cast<std::ptrdiff_t>(places(k));
        at[0] = static_cast<Real>(list[2 * k]), at[1] = static_cast<Real>(list[2 * k + 1]);
      });
}

template <class Real>
void array_to_list(const SsaPatch& p, const Kokkos::View<int*, Mem>& places, const Real* array,
                   double* list) {
  Kokkos::parallel_for(
      "ssa: array to list", Kokkos::RangePolicy<Exec>(0, p.unknowns()), KOKKOS_LAMBDA(int k) {
        const Real* at = array + 2 * static_cast<std::ptrdiff_t>(places(k));
        list[2 * k] = at[0], list[2 * k + 1] = at[1];
      });
}

/// y = the rows times x, whose ghosts it needs.
void multiply_rows(const SsaPatch& p, const Rows<double>& rows, const Rows<double>& x, double* y) {
  const auto places = p.places;
  const int stride = p.patch.xm + 2;
  Kokkos::parallel_for(
      "ssa: matrix times vector", Kokkos::RangePolicy<Exec>(0, p.unknowns()), KOKKOS_LAMBDA(int k) {
        const auto c = static_cast<std::ptrdiff_t>(places(k));
        row_product(rows.data() + 36 * c, x.data() + 2 * c, stride, y[2 * k], y[2 * k + 1]);
      });
}

template <class Real>
void copy_rows(const SsaPatch& p, const Rows<double>& rows, const NinePoint<Real>& level) {
  const auto A = level.A;
  const auto places = p.places, cells = level.cells;
  Kokkos::parallel_for(
      "ssa: rows for the multigrid", Kokkos::RangePolicy<Exec>(0, p.unknowns()),
      KOKKOS_LAMBDA(int k) {
        const double* from = rows.data() + 36 * static_cast<std::ptrdiff_t>(places(k));
        Real* to = A.data() + 36 * static_cast<std::ptrdiff_t>(cells(k));
        for (int m = 0; m < 36; ++m) to[m] = static_cast<Real>(from[m]);
      });
}

} // namespace

SsaSystem::SsaSystem(MpiRanks& ranks, SsaAssembly& assembly, double dx, double dy,
                     const SsaOptions& options, const SsaSystemOptions& system)
    : m_ranks(ranks), m_assembly(assembly), m_dx(dx), m_dy(dy), m_options(options), m_given(system),
      m_pc_type(given("-pc_type")) {
  if (m_given.form == "auto")
    m_given.form = m_pc_type.empty() ? "stencil" : m_pc_type == PCMG ? "dm" : "aij";
  const auto refuse = [&](const char* why) {
    throw Error("options -ssa_operator " + m_given.form + " and -ssa_pc_type " + m_pc_type + ": " +
                why);
  };
  const bool assembled = m_given.form == "aij" || m_given.form == "dm";
  if (!m_pc_type.empty() && m_pc_type != PCNONE && !assembled)
    refuse("PETSc's preconditioners need -ssa_operator aij or dm");
  if (m_pc_type == PCMG && m_given.form != "dm")
    refuse("PETSc's geometric multigrid needs -ssa_operator dm");
  if (!given("-snes_grid_sequence").empty()) {
    throw Error("option -ssa_snes_grid_sequence: the SSA is solved at the points of the fields it "
                "is given, on one grid; expected "
                "-da_refine, which refines the grid of the whole model, or -grid_dx");
  }
  if (m_given.form == "dm") m_dm = std::make_unique<SsaDm>(ranks, m_given.grid);
}

SsaSystem::~SsaSystem() { destroy(); }

void SsaSystem::destroy() {
  MatDestroy(&m_matrix);
  m_single.reset();
  m_double.reset();
}

void SsaSystem::create() {
  destroy();
  const Patch p = m_ranks.patch();
  m_rows = Rows<double>(Kokkos::view_alloc("ssa_rows", Kokkos::WithoutInitializing), p.ym + 2,
                        p.xm + 2, 36);
  m_x = Rows<double>("ssa_x", p.ym + 2, p.xm + 2, 2);
  if (m_dm || !loops_on_host) {
    m_in = decltype(m_in)("ssa_in", 2 * static_cast<std::size_t>(patch().unknowns()));
    m_out = decltype(m_out)("ssa_out", m_in.size());
  }
  if (m_dm) {
    m_matrix = m_dm->create_matrix();
  } else if (m_given.form == "aij") {
    create_aij();
  } else {
    create_shell();
  }
  NUNATAK_PETSC(MatSetVecType(m_matrix, reproducible_vec()));
  if (!m_pc_type.empty()) return;
  const std::vector<Array2<int>> cells{patch().unknown};
  if (m_options.single_precision) {
    m_single = std::make_unique<Multigrid<float>>(m_ranks, m_dx, m_dy, cells, m_options.multigrid);
  } else {
    m_double = std::make_unique<Multigrid<double>>(m_ranks, m_dx, m_dy, cells, m_options.multigrid);
  }
}

// --- the matrix
// -----------------------------------------------------------------------------------------------------------

void SsaSystem::create_shell() {
  const int n = 2 * patch().unknowns();
  NUNATAK_PETSC(
      MatCreateShell(m_ranks.comm(), n, n, PETSC_DETERMINE, PETSC_DETERMINE, this, &m_matrix));
  NUNATAK_PETSC(MatShellSetOperation(m_matrix, MATOP_MULT, reinterpret_cast<void (*)()>(multiply)));
}

void SsaSystem::create_aij() {
  m_assembly.number_unknowns();
  const int n = patch().unknowns();
  NUNATAK_PETSC(MatCreate(m_ranks.comm(), &m_matrix));
  NUNATAK_PETSC(MatSetSizes(m_matrix, 2 * n, 2 * n, PETSC_DETERMINE, PETSC_DETERMINE));
  NUNATAK_PETSC(MatSetBlockSize(m_matrix, 2));
  NUNATAK_PETSC(MatSetType(m_matrix, MATAIJ));
  NUNATAK_PETSC(MatSetOptionsPrefix(m_matrix, "ssa_"));
  NUNATAK_PETSC(MatSetFromOptions(m_matrix));
  std::vector<PetscInt> rows, columns; // in the order of m_coo; negative ones are ignored
  rows.reserve(36 * static_cast<std::size_t>(n));
  columns.reserve(rows.capacity());
  for (int k = 0; k < n; ++k) {
    for (int slot = 0; slot < 9; ++slot) {
      const auto row = static_cast<PetscInt>(2 * (patch().first + k));
      const auto column = static_cast<PetscInt>(2 * patch().column(k, slot));
      for (int m = 0; m < 4; ++m) {
        rows.push_back(column < 0 ? -1 : row + m / 2);
        columns.push_back(column < 0 ? -1 : column + m % 2);
      }
    }
  }
  NUNATAK_PETSC(MatSetPreallocationCOO(m_matrix, static_cast<PetscCount>(rows.size()), rows.data(),
                                       columns.data()));
  NUNATAK_PETSC(MatSetOption(m_matrix, MAT_SPD, PETSC_TRUE));
  m_coo.resize(rows.size());
}

void SsaSystem::assemble(const Array2<double>& u, const Array2<double>& v, ssa::Linearisation how) {
  ssa::jacobian(patch(), u, v, how, m_rows);
  Kokkos::fence("ssa: rows for PETSc");
  if (m_dm) {
    m_dm->assemble(patch(), m_rows, m_matrix);
  } else if (m_given.form == "aij") {
    const auto places = patch().places;
    for (int n = 0; n < patch().unknowns(); ++n) {
      const double* row = m_rows.data() + 36 * static_cast<std::ptrdiff_t>(places(n));
      std::copy(row, row + 36, m_coo.begin() + 36 * static_cast<std::ptrdiff_t>(n));
    }
    NUNATAK_PETSC(MatSetValuesCOO(m_matrix, m_coo.data(), INSERT_VALUES));
  } else {
    if (m_given.form == "elements") ssa::keep_elements(m_assembly.patch(0));
    NUNATAK_PETSC(
        MatAssemblyBegin(m_matrix, MAT_FINAL_ASSEMBLY)); // tells PETSc that it has changed
    NUNATAK_PETSC(MatAssemblyEnd(m_matrix, MAT_FINAL_ASSEMBLY));
  }
}

const double* SsaSystem::unknowns_in(const double* vec) {
  if (!m_dm && loops_on_host) return vec;
  Kokkos::fence("ssa: before a list is filled");
  if (m_dm) {
    m_dm->gather(patch(), vec, m_in.data());
  } else {
    std::copy(vec, vec + m_in.size(), m_in.data());
  }
  return m_in.data();
}

void SsaSystem::set_vec(double* vec, const std::function<void(double*)>& f) {
  const bool in_place = !m_dm && loops_on_host;
  f(in_place ? vec : m_out.data());
  Kokkos::fence("ssa: a Vec of PETSc");
  if (m_dm) m_dm->scatter(patch(), m_out.data(), vec);
  if (!m_dm && !in_place) std::copy(m_out.data(), m_out.data() + m_out.size(), vec);
}

PetscErrorCode SsaSystem::multiply(Mat matrix, Vec x, Vec y) {
  SsaSystem* s = nullptr;
  PetscCall(MatShellGetContext(matrix, &s));
  const PetscScalar* px = nullptr;
  PetscScalar* py = nullptr;
  PetscCall(VecGetArrayRead(x, &px));
  PetscCall(VecGetArrayWrite(y, &py));
  list_to_array(s->patch(), s->patch().places, s->unknowns_in(px), s->m_x.data());
  s->m_ranks.update_ghosts({s->m_x});
  s->set_vec(py, [s](double* unknowns) {
    if (s->m_given.form == "elements") {
      ssa::multiply(s->patch(), s->m_x, unknowns);
    } else {
      multiply_rows(s->patch(), s->m_rows, s->m_x, unknowns);
    }
  });
  PetscCall(VecRestoreArrayWrite(y, &py));
  PetscCall(VecRestoreArrayRead(x, &px));
  return 0;
}

// --- the preconditioner
// ---------------------------------------------------------------------------------------------------

void SsaSystem::configure(KSP ksp) {
  PC pc = nullptr;
  NUNATAK_PETSC(KSPGetPC(ksp, &pc));
  if (!m_pc_type.empty()) return configure_petsc(pc, m_pc_type);
  NUNATAK_PETSC(PCSetType(pc, PCSHELL));
  NUNATAK_PETSC(PCShellSetContext(pc, this));
  NUNATAK_PETSC(PCShellSetName(pc, "multigrid of nunatak"));
  NUNATAK_PETSC(PCShellSetSetUp(pc, set_up));
  NUNATAK_PETSC(PCShellSetApply(pc, precondition));
}

PetscErrorCode SsaSystem::set_up(PC pc) {
  SsaSystem* s = nullptr;
  PetscCall(PCShellGetContext(pc, &s));
  if (s->m_single) s->fill(*s->m_single);
  if (s->m_double) s->fill(*s->m_double);
  return 0;
}

PetscErrorCode SsaSystem::precondition(PC pc, Vec b, Vec x) {
  SsaSystem* s = nullptr;
  PetscCall(PCShellGetContext(pc, &s));
  const PetscScalar* pb = nullptr;
  PetscScalar* px = nullptr;
  PetscCall(VecGetArrayRead(b, &pb));
  PetscCall(VecGetArrayWrite(x, &px));
  const double* b_unknowns = s->unknowns_in(pb);
  s->set_vec(px, [&](double* x_unknowns) {
    if (s->m_single) s->cycle(*s->m_single, b_unknowns, x_unknowns);
    if (s->m_double) s->cycle(*s->m_double, b_unknowns, x_unknowns);
  });
  PetscCall(VecRestoreArrayWrite(x, &px));
  PetscCall(VecRestoreArrayRead(b, &pb));
  return 0;
}

template <class Real> void SsaSystem::fill(Multigrid<Real>& multigrid) {
  copy_rows(patch(), m_rows, multigrid.finest(0));
  multigrid.set_operator();
}

template <class Real>
void SsaSystem::cycle(Multigrid<Real>& multigrid, const double* b, double* x) {
  const NinePoint<Real>& finest = multigrid.finest(0);
  list_to_array(patch(), finest.cells, b, finest.b.data());
  multigrid.cycle();
  array_to_list(patch(), finest.cells, finest.x.data(), x);
}

void SsaSystem::configure_petsc(PC pc, const std::string& type) {
  using Settings = std::vector<std::pair<const char*, const char*>>;
  const Settings boomer = {{"-ssa_pc_hypre_boomeramg_coarsen_type", "HMIS"},
                           {"-ssa_pc_hypre_boomeramg_interp_type", "ext+i"},
                           {"-ssa_pc_hypre_boomeramg_P_max", "4"},
                           {"-ssa_pc_hypre_boomeramg_agg_nl", "1"},
                           {"-ssa_pc_hypre_boomeramg_strong_threshold", "0.5"}};
  const Settings gamg = {{"-ssa_mg_levels_ksp_type", "richardson"},
                         {"-ssa_mg_levels_pc_type", "sor"},
                         {"-ssa_pc_gamg_reuse_interpolation", "false"}};
  const Settings mg = {{"-ssa_pc_mg_galerkin", "both"},
                       {"-ssa_mg_levels_ksp_type", "richardson"},
                       {"-ssa_mg_levels_pc_type", "sor"}};
  NUNATAK_PETSC(PCSetType(pc, type.c_str()));
  const std::string levels = given("-pc_mg_levels");
  if (type == PCMG && !levels.empty()) m_dm->require_levels(std::stoi(levels));
  const std::string hypre = given("-pc_hypre_type");
  const bool boomeramg = type == PCHYPRE && (hypre.empty() || hypre == "boomeramg");
  for (const auto& [name, value] : boomeramg        ? boomer
                                   : type == PCGAMG ? gamg
                                   : type == PCMG   ? mg
                                                    : Settings{}) {
    PetscBool is_set = PETSC_FALSE;
    NUNATAK_PETSC(PetscOptionsHasName(nullptr, nullptr, name, &is_set));
    if (is_set == PETSC_FALSE) NUNATAK_PETSC(PetscOptionsSetValue(nullptr, name, value));
  }
}

std::string SsaSystem::describe() const {
  if (!multigrid()) return "PETSc's " + m_pc_type;
  const std::string precision = m_single ? "single" : "double";
  return "multigrid in " + precision + " precision, V-cycle, Chebyshev smoothing of degree " +
         std::to_string(m_options.multigrid.smoothing) +
         ", levels (unknown cells): " + (m_single ? m_single->describe() : m_double->describe());
}

} // namespace nunatak
