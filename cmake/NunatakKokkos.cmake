# Kokkos: the source that FETCHCONTENT_SOURCE_DIR_KOKKOS names, else an installed one (find_package; not 5, which asks for C++20), else
# the source downloaded.
# A Kokkos for a GPU is built from source by the compiler of that GPU (preset cuda: nvcc_wrapper, which comes with the source).
string(TOUPPER "${NUNATAK_BACKEND}" nunatak_backend_upper)
if(NOT FETCHCONTENT_SOURCE_DIR_KOKKOS)
  find_package(Kokkos 4.3...<5 QUIET CONFIG)
endif()
if(NOT Kokkos_FOUND)
  message(STATUS "Kokkos is built from source: ${FETCHCONTENT_SOURCE_DIR_KOKKOS}")
  include(FetchContent)
  if(POLICY CMP0135)
    cmake_policy(SET CMP0135 NEW)
  endif()
  set(Kokkos_ENABLE_SERIAL ON CACHE BOOL "")
  set(Kokkos_ENABLE_${nunatak_backend_upper} ON CACHE BOOL "")
  FetchContent_Declare(kokkos
    URL https://github.com/kokkos/kokkos/releases/download/4.7.00/kokkos-4.7.00.tar.gz)
  FetchContent_MakeAvailable(kokkos)
  if(NUNATAK_BACKEND STREQUAL "Cuda")
    target_compile_options(kokkoscore PUBLIC -include ${CMAKE_CURRENT_LIST_DIR}/kokkos_cuda13.hpp)
  endif()
else()
  message(STATUS "Kokkos ${Kokkos_VERSION}: ${Kokkos_DIR} (${Kokkos_DEVICES})")
  if(NOT "${nunatak_backend_upper}" IN_LIST Kokkos_DEVICES)
    message(FATAL_ERROR "NUNATAK_BACKEND=${NUNATAK_BACKEND}, but this Kokkos was built for: ${Kokkos_DEVICES}")
  endif()
endif()

if(NUNATAK_BACKEND STREQUAL "Cuda")
  # no fused multiply-add on the GPU either (NunatakTargets.cmake says why); constexpr functions may be called there
  target_compile_options(nunatak_flags INTERFACE -fmad=false -expt-relaxed-constexpr)
endif()
