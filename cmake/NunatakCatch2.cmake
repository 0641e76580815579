# Catch2: an installed one (find_package), else its source downloaded. Before 3.7.1 the exit status was the number of failures, and four
# would have been a skipped test.
find_package(Catch2 3.7.1 QUIET CONFIG)
if(NOT Catch2_FOUND)
  message(STATUS "Catch2 is built from source")
  include(FetchContent)
  if(POLICY CMP0135)
    cmake_policy(SET CMP0135 NEW)
  endif()
  FetchContent_Declare(Catch2 URL https://github.com/catchorg/Catch2/archive/refs/tags/v3.7.1.tar.gz)
  FetchContent_MakeAvailable(Catch2)
endif()
