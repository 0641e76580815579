#!/usr/bin/env bash
# Set up, build and test everything: the kernels alone, the kernels and single-rank tests under the sanitizers, and the whole program;
# warnings are errors. Arguments go to ctest ("scripts/test.sh -R pico"). The five slowest steps are printed at the end.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/environment.sh
steps=$(mktemp)
trap 'rm -f "$steps"' EXIT
say() { printf '\033[1m[test]\033[0m %s\n' "$*"; }
timed() { # timed <name of the step> <command>...
  local name=$1 begin=$SECONDS status=0
  shift
  "$@" || status=$?
  echo "$((SECONDS - begin)) $name" >>"$steps"
  return $status
}
configure() { cmake -G Ninja --preset "$1" >"build/$1-configure.log" 2>&1 || { cat "build/$1-configure.log"; exit 1; }; }
build() { cmake --build --preset "$@" >"build/$1-build.log" 2>&1 || { tail -n 60 "build/$1-build.log"; exit 1; }; }
run_tests() { # run_tests <preset> <arguments of ctest>...
  local log=build/$1-test.log status=0
  ctest --preset "$1" -j $((3 * $(nproc))) --no-tests=error "${@:2}" 2>&1 | tee "$log" || status=1
  sed -nE "s/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) .* ([0-9]+)\.[0-9]+ sec.*/\2 $1: test \1/p" "$log" >>"$steps"
  return $status
}

timed "setup" scripts/setup.sh cluster
for preset in kernels asan ci; do
  say "preset $preset: configure and build"
  configure "$preset"
  targets=()
  [ "$preset" = asan ] && targets=(--target sanitized_tests)
  timed "$preset: build" build "$preset" "${targets[@]}"
done
status=0
for preset in kernels asan ci; do
  say "preset $preset: test"
  select=()
  [ "$preset" = asan ] && select=(-L sanitized)
  run_tests "$preset" "${select[@]}" "$@" || status=1
done
say "$SECONDS seconds; the slowest steps:"
sort -rn "$steps" | sed -n '1,5{s/ / s  /;s/^/  /;p}'
exit $status
