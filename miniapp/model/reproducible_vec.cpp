// See reproducible_vec.hpp. VecSetOperation names few operations, so that their table is written
// directly; of what is private to PETSc only the table is used: its functions are hidden from
// version 3.22 on.
#include "miniapp/model/reproducible_vec.hpp"

#include "kernels/grid/reproducible_sum.hpp"
#include "miniapp/base/mpi_ranks.hpp"
#include "miniapp/model/petsc_error.hpp"

#include <petsc/private/vecimpl.h>

#include <cmath>
#include <vector>

namespace nunatak {

namespace {

constexpr const char* type_name = "reproducible";

// PETSc's arrays are memory of the host: where loops do not reach it, these run there.
using VecExec = std::conditional_t<loops_on_host, Exec, Kokkos::DefaultHostExecutionSpace>;

// What VECSTANDARD does on one rank, and on several.
_VecOps& standard_of(Vec x) {
  static _VecOps ops[2];
  PetscMPIInt ranks = 1;
  MPI_Comm_size(PetscObjectComm(reinterpret_cast<PetscObject>(x)), &ranks);
  return ops[ranks > 1 ? 1 : 0];
}

void take_over(Vec x);

// --- sums over all ranks
// ----------------------------------------------------------------------------------------------------

PetscErrorCode all_reduce(MPI_Comm comm, int n, ReproducibleSum* sums) {
  PetscMPIInt ranks = 1;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  if (ranks == 1) return 0;
  sum_over_ranks(comm, sums, n);
  petsc_allreduce_ct += 1.0;
  return 0;
}

// values[k] = x . ys[k], in one reduction
PetscErrorCode multiple_dot(Vec x, PetscInt n, const Vec ys[], PetscScalar* values) {
  std::vector<ReproducibleSum> sums(static_cast<std::size_t>(n));
  const PetscScalar *px = nullptr, *py = nullptr;
  PetscInt size = 0;
  PetscCall(VecGetLocalSize(x, &size));
  PetscCall(VecGetArrayRead(x, &px));
  for (PetscInt k = 0; k < n; ++k) {
    PetscCall(VecGetArrayRead(ys[k], &py));
    sums[static_cast<std::size_t>(k)] = sum_reproducibly<VecExec>(
        "vec: dot product", size, KOKKOS_LAMBDA(std::int64_t i) { return px[i] * py[i]; });
    PetscCall(VecRestoreArrayRead(ys[k], &py));
  }
  PetscCall(VecRestoreArrayRead(x, &px));
  PetscCall(all_reduce(PetscObjectComm(reinterpret_cast<PetscObject>(x)), static_cast<int>(n),
                       sums.data()));
  for (PetscInt k = 0; k < n; ++k) values[k] = sums[static_cast<std::size_t>(k)].value();
  return 0;
}

PetscErrorCode dot(Vec x, Vec y, PetscScalar* value) { return multiple_dot(x, 1, &y, value); }

PetscErrorCode norm(Vec x, NormType type, PetscReal* value) {
  if (type != NORM_2 && type != NORM_FROBENIUS) return standard_of(x).norm(x, type, value);
  PetscCall(multiple_dot(x, 1, &x, value));
  *value = std::sqrt(*value);
  return 0;
}

// --- loops over the elements
// ------------------------------------------------------------------------------------------------

// out(n) = f(x(n), y(n), out(n)); x and y may be the same
template <class F> PetscErrorCode for_each(const char* label, Vec out, Vec x, Vec y, const F& f) {
  const PetscScalar *px = nullptr, *py = nullptr;
  PetscScalar* po = nullptr;
  PetscInt size = 0;
  PetscCall(VecGetLocalSize(out, &size));
  PetscCall(VecGetArrayRead(x, &px));
  PetscCall(VecGetArrayRead(y, &py));
  PetscCall(VecGetArray(out, &po));
  Kokkos::parallel_for(
      label, Kokkos::RangePolicy<VecExec>(0, size),
      KOKKOS_LAMBDA(PetscInt n) { po[n] = f(px[n], py[n], po[n]); });
  Kokkos::fence(label);
  PetscCall(VecRestoreArray(out, &po));
  PetscCall(VecRestoreArrayRead(y, &py));
  PetscCall(VecRestoreArrayRead(x, &px));
  return 0;
}

PetscErrorCode axpy(Vec y, PetscScalar a, Vec x) {
  return for_each(
      "vec: axpy", y, x, x, KOKKOS_LAMBDA(double xn, double, double yn) { return yn + a * xn; });
}
PetscErrorCode axpby(Vec y, PetscScalar a, PetscScalar b, Vec x) {
  return for_each(
      "vec: axpby", y, x, x, KOKKOS_LAMBDA(double xn, double, double yn) {
        return b == 0.0 ? a * xn : a * xn + b * yn;
      }); // y may hold anything then
}
PetscErrorCode aypx(Vec y, PetscScalar a, Vec x) {
  return for_each(
      "vec: aypx", y, x, x,
      KOKKOS_LAMBDA(double xn, double, double yn) { return a == 0.0 ? xn : xn + a * yn; });
}
PetscErrorCode waxpy(Vec w, PetscScalar a, Vec x, Vec y) {
  return for_each(
      "vec: waxpy", w, x, y, KOKKOS_LAMBDA(double xn, double yn, double) { return yn + a * xn; });
}
PetscErrorCode maxpy(Vec y, PetscInt n, const PetscScalar* a, Vec* x) {
  for (PetscInt k = 0; k < n; ++k) PetscCall(axpy(y, a[k], x[k]));
  return 0;
}

// --- the type
// ---------------------------------------------------------------------------------------------------------------

PetscErrorCode duplicate(Vec x, Vec* y) {
  PetscCall(standard_of(x).duplicate(x, y));
  take_over(*y);
  return 0;
}

PetscErrorCode duplicate_several(Vec x, PetscInt n, Vec** copies) {
  PetscCall(PetscMalloc1(static_cast<std::size_t>(n), copies));
  for (PetscInt k = 0; k < n; ++k) PetscCall(VecDuplicate(x, *copies + k));
  return 0;
}
PetscErrorCode destroy_several(PetscInt n, Vec vecs[]) {
  for (PetscInt k = 0; k < n; ++k) PetscCall(VecDestroy(&vecs[k]));
  PetscCall(PetscFree(vecs));
  return 0;
}

void take_over(Vec x) {
  x->ops->dot = x->ops->tdot = dot;
  x->ops->mdot = x->ops->mtdot = multiple_dot;
  x->ops->norm = norm;
  x->ops->axpy = axpy;
  x->ops->axpby = axpby;
  x->ops->aypx = aypx;
  x->ops->waxpy = waxpy;
  x->ops->maxpy = maxpy;
  x->ops->dotnorm2 = nullptr;
  x->ops->duplicate = duplicate;
  x->ops->duplicatevecs = duplicate_several;
  x->ops->destroyvecs = destroy_several;
}

PetscErrorCode create(Vec x) {
  // a Vec that was of another type before still has its name: VecSetType would leave it as it is
  PetscCall(PetscObjectChangeTypeName(reinterpret_cast<PetscObject>(x), nullptr));
  PetscCall(VecSetType(x, VECSTANDARD));
  standard_of(x) = *x->ops;
  take_over(x);
  return 0;
}

} // namespace

VecType reproducible_vec() {
  static bool registered = false;
  if (!registered) NUNATAK_PETSC(VecRegister(type_name, create));
  registered = true;
  return type_name;
}

} // namespace nunatak
