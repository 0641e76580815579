# NetCDF::NetCDFPar: NetCDF-C with parallel NetCDF-4 (netcdf_par.h). Hint: NETCDF_DIR.
# Debian and Ubuntu keep it beside the serial one, in <libdir>/netcdf/mpi, with the library named netcdf_mpi.
set(netcdf_par_suffixes "")
if(CMAKE_LIBRARY_ARCHITECTURE)
  list(APPEND netcdf_par_suffixes "lib/${CMAKE_LIBRARY_ARCHITECTURE}/netcdf/mpi")
endif()
find_path(NETCDF_PAR_INCLUDE_DIR netcdf_par.h HINTS ENV NETCDF_DIR
  PATHS /usr PATH_SUFFIXES "lib/${CMAKE_LIBRARY_ARCHITECTURE}/netcdf/mpi/include" include NO_DEFAULT_PATH)
find_path(NETCDF_PAR_INCLUDE_DIR netcdf_par.h)
find_library(NETCDF_PAR_LIBRARY NAMES netcdf_mpi netcdf HINTS ENV NETCDF_DIR PATH_SUFFIXES ${netcdf_par_suffixes} lib lib64)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(NetCDFPar REQUIRED_VARS NETCDF_PAR_LIBRARY NETCDF_PAR_INCLUDE_DIR)
mark_as_advanced(NETCDF_PAR_INCLUDE_DIR NETCDF_PAR_LIBRARY)
if(NetCDFPar_FOUND AND NOT TARGET NetCDF::NetCDFPar)
  add_library(NetCDF::NetCDFPar UNKNOWN IMPORTED)
  set_target_properties(NetCDF::NetCDFPar PROPERTIES IMPORTED_LOCATION "${NETCDF_PAR_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${NETCDF_PAR_INCLUDE_DIR}")
endif()
