// PETSc error codes as exceptions. PETSc itself neither prints nor aborts (model/session.cpp).
#pragma once

#include <petscsys.h>

#include <stdexcept>
#include <string>

namespace nunatak {

/// Throws std::runtime_error, not Error: the call may have failed on this rank only.
inline void petsc_check(PetscErrorCode code, const char* call) {
  if (code == 0) return;
  const char* text = nullptr;
  PetscErrorMessage(code, &text, nullptr);
  throw std::runtime_error(std::string(call) + ": PETSc error " + std::to_string(code) +
                           (text != nullptr ? std::string(": ") + text : ""));
}

} // namespace nunatak

/// Wraps every PETSc call.
#define NUNATAK_PETSC(call) ::nunatak::petsc_check(call, #call)
