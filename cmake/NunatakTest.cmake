# nunatak_test(<name> SOURCES <files> [PROGRAM <target>] [LIBRARIES <targets>] [RANKS <n>...] [LABELS <labels>] [TIMEOUT <s>])
# One Catch2 executable and one CTest entry per number of ranks. Without RANKS it runs without mpiexec. Tests with the same PROGRAM
# share an executable (what their files instantiate is compiled once with NUNATAK_UNITY): each runs the test cases of its files.
# Test cases run in the order of declaration: Catch2's random order would let ranks wait for each other forever.
include(NunatakCatch2)
set(NUNATAK_MPIEXEC_FLAGS "" CACHE STRING "Flags for mpiexec in the tests, before the number of ranks")

# where tests find data: a header, since nvcc_wrapper loses the quotes of a definition
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/shared_data.hpp CONTENT [[#pragma once
#define NUNATAK_SHARED_DATA "@NUNATAK_SHARED_DATA@"
]] @ONLY)

add_custom_target(sanitized_tests)
# by the first label of a test: its precompiled headers
set(precompiled_for_kernels kernels_tests)
set(precompiled_for_io io_tests)
set(precompiled_for_model model_tests)
set(precompiled_for_regression model_tests)
# -O1: half to two thirds of the time to compile, and the same bits; verification computes for longer than it compiles
set(optimised_little "^(kernels|io|tools|model|regression)$")

# nunatak_mpi_command(<variable> <ranks> <command>...): the words that run a command on that many ranks
function(nunatak_mpi_command variable ranks)
  separate_arguments(flags UNIX_COMMAND "${NUNATAK_MPIEXEC_FLAGS}")
  set(${variable} ${MPIEXEC_EXECUTABLE} ${flags} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${ARGN} PARENT_SCOPE)
endfunction()

# nunatak_test_environment(<test> <ranks>): what every test runs under; `ctest -j N` starts tests of N ranks in all
# (OMPI_... and PRTE_...: Open MPI 4 and 5 may run as root, and more ranks than there are cores, of which those that wait must give
# theirs away, and inside one machine `ob1` is what it takes anyway, after 0.2 s; other MPI libraries do not read them.)
function(nunatak_test_environment test ranks)
  set_tests_properties(${test} PROPERTIES
    SKIP_RETURN_CODE 4
    ENVIRONMENT "OMP_NUM_THREADS=1;OMP_PROC_BIND=false;OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_rmaps_base_oversubscribe=1;PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe;OMPI_MCA_mpi_yield_when_idle=1;OMPI_MCA_pml=ob1;OMPI_MCA_odls_base_sigkill_timeout=1;ASAN_OPTIONS=detect_leaks=0"
    PROCESSORS ${ranks})
endfunction()

# nunatak_example(<name> <variable>...): the blocks of code of an example in CONTRIBUTING.md, one after the other
function(nunatak_example name)
  set(contributing ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${contributing})
  file(READ ${contributing} text)
  string(FIND "${text}" "<!-- example: ${name} -->" begin)
  string(SUBSTRING "${text}" ${begin} -1 text)
  foreach(block IN LISTS ARGN)
    string(FIND "${text}" "```cpp\n" begin)
    math(EXPR begin "${begin} + 7")
    string(SUBSTRING "${text}" ${begin} -1 text)
    string(FIND "${text}" "```" end)
    string(SUBSTRING "${text}" 0 ${end} code_of_block)
    set(${block} "${code_of_block}" PARENT_SCOPE)
    math(EXPR end "${end} + 3")
    string(SUBSTRING "${text}" ${end} -1 text)
  endforeach()
endfunction()

function(nunatak_test name)
  cmake_parse_arguments(arg "" "TIMEOUT;PROGRAM" "SOURCES;LIBRARIES;RANKS;LABELS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  list(GET arg_LABELS 0 folder)
  set(program test_${name})
  set(options --order decl)
  set(not_run "~[.]") # hidden test cases
  if(NUNATAK_SANITIZE)
    string(APPEND not_run "~[many]") # the same code as others on many more cells or ranks: a minute each, and no other access to memory
  endif()
  if(arg_PROGRAM)
    set(program ${arg_PROGRAM})
    list(TRANSFORM arg_SOURCES REPLACE "(.+)\\.cpp" "[#\\1]${not_run}" OUTPUT_VARIABLE tags) # Catch2's tag of a file
    list(JOIN tags "," tags)
    list(APPEND options --filenames-as-tags --warn UnmatchedTestSpec "${tags}")
  else()
    list(APPEND options "${not_run}")
  endif()
  if(TARGET ${program})
    target_sources(${program} PRIVATE ${arg_SOURCES})
  else()
    add_executable(${program} ${arg_SOURCES})
    nunatak_target(${program} ${precompiled_for_${folder}})
    if(folder MATCHES "${optimised_little}" AND NOT NUNATAK_ON_GPU)
      target_compile_options(${program} PRIVATE $<$<CONFIG:Release>:-O1>)
    endif()
    if(folder STREQUAL "io")
      nunatak_without_kokkos(${program})
    endif()
    target_link_libraries(${program} PRIVATE ${arg_LIBRARIES} Catch2::Catch2)
    target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests ${PROJECT_BINARY_DIR}/generated)
  endif()
  # what the asan preset builds and runs: kernels, io and tools on one rank, without the examples of CONTRIBUTING.md
  if(folder MATCHES "^(kernels|io|tools)$" AND NOT name MATCHES "contributing")
    add_dependencies(sanitized_tests ${program})
    set(sanitized sanitized)
  endif()
  if(arg_RANKS)
    foreach(ranks IN LISTS arg_RANKS)
      nunatak_mpi_command(command ${ranks} $<TARGET_FILE:${program}> ${options})
      add_test(NAME ${name}.np${ranks} COMMAND ${command})
      nunatak_test_environment(${name}.np${ranks} ${ranks})
      set_tests_properties(${name}.np${ranks} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}")
      if(ranks EQUAL 1 AND DEFINED sanitized)
        set_property(TEST ${name}.np1 APPEND PROPERTY LABELS sanitized)
      endif()
    endforeach()
  else()
    add_test(NAME ${name} COMMAND ${program} ${options})
    nunatak_test_environment(${name} 1)
    set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS};${sanitized}")
  endif()
endfunction()

find_program(NUNATAK_PYTHON python3 HINTS ${PROJECT_SOURCE_DIR}/build/deps/python/bin NO_DEFAULT_PATH
  DOC "Python with pytest, numpy, netCDF4 and xarray (scripts/requirements.txt)")
find_program(NUNATAK_PYTHON python3)

# nunatak_python_test(<name> <file> [SELECT <words>] [RANKS <n>] [TIMEOUT <s>] [LABELS <labels>]): a pytest file that runs the program,
# or those of its tests that `pytest -k <words>` selects. RANKS: cores that it keeps busy (1: it starts many small runs, and most of its
# time is their start). The longest begin first.
function(nunatak_python_test name file)
  cmake_parse_arguments(arg "" "TIMEOUT;COST;RANKS;SELECT" "LABELS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 900)
  endif()
  if(NOT arg_COST)
    set(arg_COST ${arg_TIMEOUT})
  endif()
  if(arg_SELECT)
    set(select -k ${arg_SELECT})
  endif()
  add_test(NAME ${name} COMMAND ${NUNATAK_PYTHON} -m pytest -q -rs -p no:cacheprovider --rootdir ${PROJECT_SOURCE_DIR}/tests
    ${CMAKE_CURRENT_SOURCE_DIR}/${file} ${select})
  if(NOT arg_RANKS)
    set(arg_RANKS 1)
  endif()
  nunatak_test_environment(${name} ${arg_RANKS})
  set_property(TEST ${name} PROPERTY SKIP_RETURN_CODE) # Catch2's; pytest's 4 is a file or a conftest that it cannot read
  separate_arguments(flags UNIX_COMMAND "${NUNATAK_MPIEXEC_FLAGS}")
  list(JOIN flags " " flags)
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "NUNATAK=$<TARGET_FILE_DIR:nunatak-distance>/nunatak"
    "NUNATAK_MPIEXEC=${MPIEXEC_EXECUTABLE} ${flags} ${MPIEXEC_NUMPROC_FLAG}" "NUNATAK_SHARED_DATA=${NUNATAK_SHARED_DATA}"
    "NUNATAK_SOURCE=${PROJECT_SOURCE_DIR}" "PYTHONDONTWRITEBYTECODE=1")
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} COST ${arg_COST} LABELS "${arg_LABELS}")
endfunction()
