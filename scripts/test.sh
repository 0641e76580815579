#!/usr/bin/env bash
# Set up, build and test everything: the program with warnings as errors, the kernels alone, and the kernels and single-rank tests
# under the sanitizers. Arguments go to ctest ("scripts/test.sh -R pico").
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/environment.sh
scripts/setup.sh
say() { printf '\033[1m[test]\033[0m %s\n' "$*"; }

for preset in ci kernels asan; do
  say "preset $preset: configure and build"
  cmake -G Ninja --preset "$preset" >"build/$preset-configure.log" 2>&1 || { cat "build/$preset-configure.log"; exit 1; }
  targets=()
  [ "$preset" = asan ] && targets=(--target sanitized_tests)
  cmake --build --preset "$preset" "${targets[@]}" >"build/$preset-build.log" 2>&1 || { tail -n 60 "build/$preset-build.log"; exit 1; }
done
status=0
for preset in kernels asan ci; do
  say "preset $preset: test"
  select=()
  [ "$preset" = asan ] && select=(-L sanitized)
  ctest --preset "$preset" -j "$(nproc)" "${select[@]}" --no-tests=error "$@" || status=1
done
exit $status
