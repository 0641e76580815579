# nunatak_install_manuals(<program>...): man pages and bash completions, written at `cmake --install` by the programs themselves
# (scripts/manual_pages.py). Where they cannot run, as on a login node without MPI, the installation goes on without them.
find_package(Python3 COMPONENTS Interpreter QUIET)
function(nunatak_install_manuals)
  if(NOT Python3_FOUND)
    return()
  endif()
  list(TRANSFORM ARGN REPLACE "(.+)" "\"$<TARGET_FILE:\\1>\"" OUTPUT_VARIABLE programs)
  list(JOIN programs " " programs)
  install(CODE "execute_process(RESULT_VARIABLE status COMMAND \"${Python3_EXECUTABLE}\" \"${PROJECT_SOURCE_DIR}/scripts/manual_pages.py\"
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATAROOTDIR}\" ${programs})
  if(NOT status EQUAL 0)
    message(WARNING \"no man pages and completions: \${status}\")
  endif()")
endfunction()
