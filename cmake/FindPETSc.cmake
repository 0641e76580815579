# PETSc::PETSc, from pkg-config (PETSc.pc): set PETSC_DIR and PETSC_ARCH, or PKG_CONFIG_PATH. A version that is asked for is the
# oldest allowed: every newer one will do.
find_package(PkgConfig REQUIRED)
if(DEFINED ENV{PETSC_DIR})
  set(ENV{PKG_CONFIG_PATH} "$ENV{PETSC_DIR}/$ENV{PETSC_ARCH}/lib/pkgconfig:$ENV{PETSC_DIR}/lib/pkgconfig:$ENV{PKG_CONFIG_PATH}")
endif()
pkg_check_modules(PETSC QUIET IMPORTED_TARGET GLOBAL PETSc)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(PETSc REQUIRED_VARS PETSC_LINK_LIBRARIES VERSION_VAR PETSC_VERSION
  REASON_FAILURE_MESSAGE "no PETSc.pc: set PETSC_DIR and PETSC_ARCH, or PKG_CONFIG_PATH")
if(PETSc_FOUND AND NOT TARGET PETSc::PETSc)
  add_library(PETSc::PETSc INTERFACE IMPORTED)
  # -DNDEBUG and the like of PETSc's own build must not leak into ours: only include folders and libraries
  target_include_directories(PETSc::PETSc SYSTEM INTERFACE ${PETSC_INCLUDE_DIRS})
  target_link_libraries(PETSc::PETSc INTERFACE ${PETSC_LINK_LIBRARIES})
endif()
