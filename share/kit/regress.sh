#!/bin/sh
# Runs ./harness (harness.cpp with your solver) on 1, 4, 9 and 16 ranks, cut evenly and raggedly, and judges the answers.
#   MPIEXEC="srun -n" ./regress.sh cases
# A table for each; report_N.json, report_N-ragged.json (junit.py report_*.json > junit.xml). The status is that of the first judgement that is not 0.
set -e
cases=${1:-cases}
mkdir -p answers
for n in 1 4 9 16; do
  for cut in "" -ragged; do
    rm -f answers/*.nc
    ${MPIEXEC:-mpiexec -n} $n ./harness $cut answers "$cases"/*.nc
    echo "$n ranks $cut"
    nunatak-distance -check answers -report report_$n$cut.json $CHECK
  done
done
