# Writes OUT, a C++ file with the commit of SOURCE ("" outside of a Git repository), if it changed.
get_filename_component(above ${SOURCE} DIRECTORY)
set(ENV{GIT_CEILING_DIRECTORIES} ${above}) # no commit of a repository around this one
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
file(CONFIGURE OUTPUT ${OUT} CONTENT [[// by cmake/commit.cmake
namespace nunatak {
extern const char* const commit;
const char* const commit = "@commit@";
} // namespace nunatak
]] @ONLY)
