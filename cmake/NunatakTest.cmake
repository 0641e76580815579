# nunatak_test(<name> SOURCES <files> [LIBRARIES <targets>] [RANKS <n>...] [LABELS <labels>] [TIMEOUT <s>])
# One Catch2 executable and one CTest entry per number of ranks. Without RANKS it runs without mpiexec.
# Test cases run in the order of declaration: Catch2's random order would let ranks wait for each other for ever.
find_package(Catch2 3 REQUIRED)
set(NUNATAK_MPIEXEC_FLAGS "--oversubscribe" CACHE STRING "Flags for mpiexec in the tests (Open MPI: --oversubscribe)")

# nunatak_mpi_command(<variable> <ranks> <command>...): the words that run a command on that many ranks
function(nunatak_mpi_command variable ranks)
  separate_arguments(flags UNIX_COMMAND "${NUNATAK_MPIEXEC_FLAGS}")
  set(${variable} ${MPIEXEC_EXECUTABLE} ${flags} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${ARGN} PARENT_SCOPE)
endfunction()

# nunatak_test_environment(<test> <ranks>): what every test runs under
function(nunatak_test_environment test ranks)
  set_tests_properties(${test} PROPERTIES
    SKIP_RETURN_CODE 4
    ENVIRONMENT "OMP_NUM_THREADS=1;OMP_PROC_BIND=false;OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_rmaps_base_oversubscribe=1;ASAN_OPTIONS=detect_leaks=0"
    PROCESSORS ${ranks})
endfunction()

function(nunatak_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LIBRARIES;RANKS;LABELS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  add_executable(test_${name} ${arg_SOURCES})
  nunatak_target(test_${name})
  target_link_libraries(test_${name} PRIVATE ${arg_LIBRARIES} Catch2::Catch2)
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(test_${name} PRIVATE NUNATAK_SHARED_DATA="${NUNATAK_SHARED_DATA}")
  if(arg_RANKS)
    foreach(ranks IN LISTS arg_RANKS)
      nunatak_mpi_command(command ${ranks} $<TARGET_FILE:test_${name}> --order decl)
      add_test(NAME ${name}.np${ranks} COMMAND ${command})
      nunatak_test_environment(${name}.np${ranks} ${ranks})
      set_tests_properties(${name}.np${ranks} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}")
    endforeach()
  else()
    add_test(NAME ${name} COMMAND test_${name} --order decl)
    nunatak_test_environment(${name} 1)
    set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}")
  endif()
endfunction()
