# nunatak_target(<target>): the flags that every target of this project is compiled with.
# Vector units are used only if asked for (CMAKE_CXX_FLAGS=-march=native): fused multiply-add would make the last bit of
# a result depend on the machine, and results are compared bit for bit. -ffp-contract=off states the same for all compilers.
add_library(nunatak_flags INTERFACE)
target_compile_options(nunatak_flags INTERFACE
  $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>:-Wall;-Wextra;-Wshadow;-ffp-contract=off>)
if(NUNATAK_WERROR)
  target_compile_options(nunatak_flags INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>:-Werror>)
endif()
if(NUNATAK_SANITIZE)
  # Checks of every pointer that the address sanitizer makes at every access are left out: they cost a third of the build.
  target_compile_options(nunatak_flags INTERFACE -fsanitize=address,undefined -fno-sanitize=null,alignment,object-size,vptr,pointer-overflow
    -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_link_options(nunatak_flags INTERFACE -fsanitize=address,undefined)
endif()

function(nunatak_target target)
  target_link_libraries(${target} PRIVATE nunatak_flags)
endfunction()
