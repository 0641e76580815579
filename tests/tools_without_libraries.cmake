# nunatak-distance, -labels, -step and bench_kernels as a compiler and Kokkos alone make them: virtual ranks, masks by formulas and
# pictures.
function(tool_test name program pattern)
  add_test(NAME tools.${name} COMMAND ${program} ${ARGN})
  nunatak_test_environment(tools.${name} 1)
  set_tests_properties(tools.${name} PROPERTIES LABELS tools TIMEOUT 120 PASS_REGULAR_EXPRESSION "${pattern}")
endfunction()

file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/picture.pbm "P1 5 3\n11111 10001 11101\n")
tool_test(distance nunatak-distance "all equal" -mask spiral -grid_Mx 61 -virtual_ranks 1,2x3,8x8 -compare -report distance.json)
tool_test(labels nunatak-labels "all equal" -mask percolation:0.593 -grid_Mx 101 -virtual_ranks 1,2x3,8x8 -compare -report labels.json)
tool_test(picture nunatak-labels "components: 1\n.*all equal" -i picture.pbm -domain 1 -virtual_ranks 1,2 -compare)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/picture.nc "no picture")
tool_test(step nunatak-step "fields [0-9a-f]+\n.*1024.*step" -grid_dx 100e3 -grid_Mz 6 -virtual_ranks 1,1024)
if(NUNATAK_PERF)
  tool_test(bench_kernels bench_kernels "share_of_triad" -grid_dx 100e3 -repeat 3)
endif()
tool_test(netcdf_refused nunatak-labels "mask 'picture.nc': expected a picture .* built without NetCDF" -i picture.nc)
tool_test(output_refused nunatak-labels "option -o: this program was built without NetCDF" -mask full -o labels.nc)
tool_test(help nunatak-step "built[ \n]without[ \n]UDUNITS" -help)
foreach(tool distance labels step) # the example that -help shows, with numbers alone
  tool_test(example_${tool} sh "all equal|256 .*step" -c "PATH=$<TARGET_FILE_DIR:nunatak-step>:$PATH && eval \"`nunatak-${tool} -help | sed -n 3p`\"")
endforeach()
tool_test(unit_refused nunatak-distance "option -grid_dx: expected a number in m, found the unit 'km'" -mask full -grid_dx 1km)
