# PnetCDF::PnetCDF. Hint: PNETCDF_DIR.
include(NunatakHints)
nunatak_hint(pnetcdf_hint PNETCDF_DIR include/pnetcdf.h)
find_path(PNETCDF_INCLUDE_DIR pnetcdf.h HINTS "${pnetcdf_hint}" PATH_SUFFIXES include)
find_library(PNETCDF_LIBRARY pnetcdf HINTS "${pnetcdf_hint}" PATH_SUFFIXES lib lib64)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(PnetCDF REQUIRED_VARS PNETCDF_LIBRARY PNETCDF_INCLUDE_DIR)
mark_as_advanced(PNETCDF_INCLUDE_DIR PNETCDF_LIBRARY)
if(PnetCDF_FOUND AND NOT TARGET PnetCDF::PnetCDF)
  add_library(PnetCDF::PnetCDF UNKNOWN IMPORTED)
  set_target_properties(PnetCDF::PnetCDF PROPERTIES IMPORTED_LOCATION "${PNETCDF_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${PNETCDF_INCLUDE_DIR}")
endif()
