// Physical constants, SI. One year is 31556926 s.
#pragma once

namespace nunatak {

constexpr double seconds_per_year = 31556926.0;

constexpr double rho_ice = 910.0;             ///< kg m-3
constexpr double rho_water = 1028.0;          ///< sea water, kg m-3
constexpr double gravity = 9.81;              ///< m s-2
constexpr int glen_n = 3;                     ///< exponent of Glen's flow law
constexpr double ice_softness = 3.1689e-24;   ///< A, Pa-3 s-1; 1e-16 Pa-3 a-1 (Bueler et al. 2005)
constexpr double ice_k = 2.1;                 ///< thermal conductivity, W m-1 K-1
constexpr double ice_c = 2009.0;              ///< specific heat, J kg-1 K-1
constexpr double latent_heat = 3.34e5;        ///< of fusion, J kg-1
constexpr double T_melting = 273.15;          ///< at zero pressure, K
constexpr double clausius_clapeyron = 7.9e-8; ///< K Pa-1

} // namespace nunatak
