# Deflate::Deflate: libdeflate, for fast checksums. Hint: LIBDEFLATE_DIR.
find_path(LIBDEFLATE_INCLUDE_DIR libdeflate.h HINTS ENV LIBDEFLATE_DIR PATH_SUFFIXES include)
find_library(LIBDEFLATE_LIBRARY NAMES deflate HINTS ENV LIBDEFLATE_DIR PATH_SUFFIXES lib lib64)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Deflate REQUIRED_VARS LIBDEFLATE_LIBRARY LIBDEFLATE_INCLUDE_DIR)
mark_as_advanced(LIBDEFLATE_INCLUDE_DIR LIBDEFLATE_LIBRARY)
if(Deflate_FOUND AND NOT TARGET Deflate::Deflate)
  add_library(Deflate::Deflate UNKNOWN IMPORTED)
  set_target_properties(Deflate::Deflate PROPERTIES IMPORTED_LOCATION "${LIBDEFLATE_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${LIBDEFLATE_INCLUDE_DIR}")
endif()
