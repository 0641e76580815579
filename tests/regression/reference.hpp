// The reference that test_ssa_reference.cpp and test_ssa_faces.cpp compare with.
#pragma once

#include <shared_data.hpp>

#include <string>

namespace nunatak {

inline const std::string reference_file =
    std::string(NUNATAK_SHARED_DATA) + "/reference/hybrid_antarctica_16km.nc";
constexpr double moving = 10.0; // m/a: slower ice is not compared

} // namespace nunatak
