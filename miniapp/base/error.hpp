// Errors of the model, and how they cross ranks and PETSc.
//
// An Error is thrown on every rank at once (bad options, bad input found by a reduction, a failed solve): main() prints it once,
// on rank 0, and ends with status 1. Anything else may have happened on one rank only: main() prints it there and aborts the run,
// so that nobody waits for ever.
#pragma once

#include <petscsys.h>

#include <stdexcept>
#include <string>

namespace nunatak {

class Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Turn a PETSc error code into an exception (PETSc itself is told not to print or abort, see Session).
inline void petsc_check(PetscErrorCode code, const char* call) {
  if (code == 0) return;
  const char* text = nullptr;
  PetscErrorMessage(code, &text, nullptr);
  throw std::runtime_error(std::string(call) + ": PETSc error " + std::to_string(code) +
                           (text != nullptr ? std::string(": ") + text : ""));
}

} // namespace nunatak

/// Every call of PETSc goes through this.
#define NUNATAK_PETSC(call) ::nunatak::petsc_check(call, #call)
