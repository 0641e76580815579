# nunatak_target(<target>): the flags that every target of this project is compiled with.
# -ffp-contract=off: fused multiply-add would make the last bit of a result depend on the machine, and results are compared bit for
# bit (docs/explanation/one-set-of-bits.md). With it wider registers are safe: CMAKE_CXX_FLAGS=-march=native.
# -fno-math-errno changes no bits: errno is never read.
# IntelLLVM has fast math by default; -fp-model=precise would allow fusing again. Other compilers than these get no flags, and a warning.
set(NUNATAK_KNOWN_COMPILERS GNU Clang AppleClang IntelLLVM CrayClang)
if(NOT CMAKE_CXX_COMPILER_ID IN_LIST NUNATAK_KNOWN_COMPILERS)
  message(WARNING "C++ compiler ${CMAKE_CXX_COMPILER_ID}: expected one of ${NUNATAK_KNOWN_COMPILERS}, whose options for exact arithmetic are "
                  "known. With CMAKE_CXX_FLAGS turn fused multiply-add and fast math off, or bits differ and sums may be wrong")
endif()
list(JOIN NUNATAK_KNOWN_COMPILERS "," known)
add_library(nunatak_flags INTERFACE)
target_compile_options(nunatak_flags INTERFACE
  $<$<COMPILE_LANG_AND_ID:CXX,IntelLLVM>:-fno-fast-math>
  $<$<COMPILE_LANG_AND_ID:CXX,${known}>:-Wall;-Wextra;-Wshadow;-ffp-contract=off;-fno-math-errno>
  $<$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang>:-Wno-pass-failed>) # a loop that is said to be independent need not be vectorised
if(NUNATAK_WERROR)
  target_compile_options(nunatak_flags INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>:-Werror>)
endif()
if(NUNATAK_PCH)
  target_compile_options(nunatak_flags INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>) # ccache asks for it
endif()
if(NUNATAK_SANITIZE)
  # Checks of every pointer that the address sanitizer makes at every access are left out: they cost a third of the build.
  target_compile_options(nunatak_flags INTERFACE -fsanitize=address,undefined -fno-sanitize=null,alignment,object-size,vptr,pointer-overflow
    -fno-sanitize-recover=undefined -fno-omit-frame-pointer
    -Wno-maybe-uninitialized) # GCC 12 finds it in its own <regex>, but only under the sanitizers
  target_link_options(nunatak_flags INTERFACE -fsanitize=address,undefined)
endif()

if(NUNATAK_FUZZ)
  target_compile_options(nunatak_flags INTERFACE -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=vptr -fno-sanitize-recover=undefined)
  target_link_options(nunatak_flags INTERFACE -fsanitize=address,undefined)
endif()

# nunatak_target(<target> [<precompiled>]): with NUNATAK_PCH, the large headers of the libraries are compiled once per kind of target:
#   kernels (Kokkos)   io (MPI, JSON)   tools (all of these)   model (and PETSc)   and the same followed by _tests (and Catch2)
function(nunatak_target target)
  target_link_libraries(${target} PRIVATE nunatak_flags)
  if(NUNATAK_PCH AND ARGN)
    if(NOT TARGET nunatak_pch_${ARGN})
      nunatak_precompile(${ARGN})
    endif()
    target_precompile_headers(${target} REUSE_FROM nunatak_pch_${ARGN})
  endif()
endfunction()

# nunatak_without_kokkos(<target>): nothing in it includes Kokkos, whose headers only nvcc may compile when it is built with CUDA: the
# wrapper of nvcc hands its files to the compiler of the host.
function(nunatak_without_kokkos target)
  if(NUNATAK_BACKEND STREQUAL "Cuda")
    target_compile_options(${target} PRIVATE --host-only)
  endif()
endfunction()

# nunatak_unity(<target>): with NUNATAK_UNITY, the files of a folder are compiled together
function(nunatak_unity target)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_filename_component(folder ${source} DIRECTORY)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP "${target}/${folder}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${NUNATAK_UNITY} UNITY_BUILD_MODE GROUP)
endfunction()

function(nunatak_precompile kind)
  set(headers <algorithm> <array> <cmath> <cstdint> <functional> <map> <memory> <optional> <sstream> <string> <vector>)
  set(libraries nunatak_flags)
  if(kind MATCHES "kernels|tools|model")
    list(APPEND headers <Kokkos_Core.hpp>)
    list(APPEND libraries nunatak::kernel_headers)
  endif()
  if(kind MATCHES "io|tools|model")
    find_package(nlohmann_json 3 REQUIRED)
    list(APPEND headers <mpi.h> <nlohmann/json.hpp>)
    list(APPEND libraries MPI::MPI_CXX nlohmann_json::nlohmann_json)
  endif()
  if(kind MATCHES "model")
    find_package(PETSc 3.18 REQUIRED)
    list(APPEND headers <petscsnes.h>)
    list(APPEND libraries PETSc::PETSc)
  endif()
  if(kind MATCHES "_tests")
    list(APPEND headers <catch2/catch_test_macros.hpp> <catch2/matchers/catch_matchers_string.hpp>)
    list(APPEND libraries Catch2::Catch2)
  endif()
  set(source ${CMAKE_BINARY_DIR}/pch_${kind}.cpp)
  file(WRITE ${source}.new "// only for its precompiled header\n")
  configure_file(${source}.new ${source} COPYONLY)
  add_library(nunatak_pch_${kind} OBJECT ${source})
  target_link_libraries(nunatak_pch_${kind} PRIVATE ${libraries})
  target_precompile_headers(nunatak_pch_${kind} PRIVATE ${headers})
  if(kind MATCHES "_tests$")
    target_compile_options(nunatak_pch_${kind} PRIVATE $<$<CONFIG:Release>:-O1>) # as the tests: g++ asks for the same level in both
  endif()
endfunction()
