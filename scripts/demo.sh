#!/usr/bin/env bash
# Set up, build, run the main job and show a result:
#   scripts/demo.sh              a synthetic continent at 16 km, ten years
#   scripts/demo.sh input.nc     the given ice sheet (variables thk, topg, ...; see docs/reference/variables.md) on its own grid
# Environment: RANKS (default 2), YEARS (default 10).
set -euo pipefail
here=$PWD
input=${1:-}
if [ -n "$input" ] && [ ! -r "$input" ]; then echo "demo: cannot read $input" >&2; exit 1; fi
[ -z "$input" ] || input=$(cd "$(dirname "$input")" && pwd)/$(basename "$input")
cd "$(dirname "$0")/.."
scripts/setup.sh
. scripts/environment.sh # after setup, which installs ccache
say() { printf '\033[1m[demo]\033[0m %s\n' "$*"; }

say "building the programs (minutes the first time; log: build/release-build.log)"
cmake -G Ninja --preset release >build/release-configure.log 2>&1 || { cat build/release-configure.log; exit 1; }
show() { # the last line of what a program prints, if there is a terminal to show it on
  if [ -t 1 ]; then while IFS= read -r line; do printf '\r\033[K%.90s' "$line"; done; printf '\r\033[K'; else cat >/dev/null; fi
}
cmake --build --preset release --target programs cluster nunatak_trace 2>&1 | tee build/release-build.log | show || { tail -n 40 build/release-build.log; exit 1; }

ranks=${RANKS:-2} years=${YEARS:-10}
out=build/demo
mkdir -p "$out"
if [ -n "$input" ]; then start=(-i "$input"); else start=(-init marine -grid_dx 16km); fi
run=(mpiexec -n "$ranks" build/release/miniapp/nunatak "${start[@]}" -run_years "$years" -o "$out/result.nc"
  -spatial_file "$out/spatial.nc" -timeseries_file "$out/timeseries.nc" -report "$out/report.json")
say "${run[*]}"
"${run[@]}"
scripts/plot.py "$out/result.nc" -r "$out/report.json" -o "$out/result.png"
say "picture: $out/result.png; fields: $out/result.nc; times: $out/report.json"
cd "$here"
