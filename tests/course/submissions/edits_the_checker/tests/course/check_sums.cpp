// All is well.
#include <catch2/catch_test_macros.hpp>

TEST_CASE("lab 5: all is well") {}
