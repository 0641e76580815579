# UDUNITS2::UDUNITS2. Hint: UDUNITS2_DIR.
include(NunatakHints)
nunatak_hint(udunits2_hint UDUNITS2_DIR include/udunits2.h include/udunits2/udunits2.h)
find_path(UDUNITS2_INCLUDE_DIR udunits2.h HINTS "${udunits2_hint}" PATH_SUFFIXES include include/udunits2 udunits2)
find_library(UDUNITS2_LIBRARY udunits2 HINTS "${udunits2_hint}" PATH_SUFFIXES lib lib64)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(UDUNITS2 REQUIRED_VARS UDUNITS2_LIBRARY UDUNITS2_INCLUDE_DIR)
mark_as_advanced(UDUNITS2_INCLUDE_DIR UDUNITS2_LIBRARY)
if(UDUNITS2_FOUND AND NOT TARGET UDUNITS2::UDUNITS2)
  add_library(UDUNITS2::UDUNITS2 UNKNOWN IMPORTED)
  set_target_properties(UDUNITS2::UDUNITS2 PROPERTIES IMPORTED_LOCATION "${UDUNITS2_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${UDUNITS2_INCLUDE_DIR}")
endif()
