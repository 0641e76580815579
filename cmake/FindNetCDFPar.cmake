# NetCDF::NetCDFPar: NetCDF-C with parallel NetCDF-4 (netcdf_par.h). Hint: NETCDF_DIR, or a prefix (CMAKE_PREFIX_PATH).
# Order: the hint; Debian's and Ubuntu's, which lies next to the serial one in <libdir>/netcdf/mpi with the library named netcdf_mpi; the
# system. The library is taken from the same place as the header: two installations may differ in what they were built with.
set(netcdf_par_debian "lib/${CMAKE_LIBRARY_ARCHITECTURE}/netcdf/mpi/include")
include(NunatakHints)
nunatak_hint(netcdf_hint NETCDF_DIR include/netcdf_par.h "${netcdf_par_debian}/netcdf_par.h")
find_path(NETCDF_PAR_INCLUDE_DIR netcdf_par.h PATHS "${netcdf_hint}" PATH_SUFFIXES include "${netcdf_par_debian}" NO_DEFAULT_PATH)
find_path(NETCDF_PAR_INCLUDE_DIR netcdf_par.h PATH_SUFFIXES include "${netcdf_par_debian}" NO_SYSTEM_ENVIRONMENT_PATH NO_CMAKE_SYSTEM_PATH)
find_path(NETCDF_PAR_INCLUDE_DIR netcdf_par.h PATHS /usr PATH_SUFFIXES "${netcdf_par_debian}" NO_DEFAULT_PATH)
find_path(NETCDF_PAR_INCLUDE_DIR netcdf_par.h)
if(NETCDF_PAR_INCLUDE_DIR MATCHES "/netcdf/mpi/include$")
  find_library(NETCDF_PAR_LIBRARY netcdf_mpi PATHS "${NETCDF_PAR_INCLUDE_DIR}/../../.." NO_DEFAULT_PATH)
elseif(NETCDF_PAR_INCLUDE_DIR)
  find_library(NETCDF_PAR_LIBRARY netcdf PATHS "${NETCDF_PAR_INCLUDE_DIR}/.."
    PATH_SUFFIXES "lib/${CMAKE_LIBRARY_ARCHITECTURE}" lib lib64 NO_DEFAULT_PATH)
  find_library(NETCDF_PAR_LIBRARY netcdf)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(NetCDFPar REQUIRED_VARS NETCDF_PAR_LIBRARY NETCDF_PAR_INCLUDE_DIR)
mark_as_advanced(NETCDF_PAR_INCLUDE_DIR NETCDF_PAR_LIBRARY)
if(NetCDFPar_FOUND AND NOT TARGET NetCDF::NetCDFPar)
  add_library(NetCDF::NetCDFPar UNKNOWN IMPORTED)
  set_target_properties(NetCDF::NetCDFPar PROPERTIES IMPORTED_LOCATION "${NETCDF_PAR_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${NETCDF_PAR_INCLUDE_DIR}")
endif()
