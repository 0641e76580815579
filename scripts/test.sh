#!/usr/bin/env bash
# Set up, build and test everything: the kernels alone, the kernels and single-rank tests under the sanitizers, and the whole program;
# warnings are errors. Arguments go to ctest ("scripts/test.sh -R pico"). The five slowest steps are printed at the end.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/environment.sh
cores=$(env -u OMP_NUM_THREADS nproc) # nproc alone would answer 1
steps=$(mktemp)
trap 'rm -f "$steps"; kill $(jobs -p) 2>/dev/null || true' EXIT
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
run_tests() { # run_tests <preset> <ranks at a time> <arguments of ctest>...
  local log=build/$1-test.log status=0
  ctest --preset "$1" -j "$2" --no-tests=error "${@:3}" 2>&1 | tee "$log" || status=1
  sed -nE "s/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) .* ([0-9]+)\.[0-9]+ sec.*/\2 $1: test \1/p" "$log" >>"$steps"
  return $status
}

prepare() { # prepare <preset> [option of cmake --build ...]
  say "preset $1: configure and build"
  configure "$1"
  timed "$1: build" build "$@"
}
# The tests of the program mostly wait: for mpiexec, for slow disks, for time-outs. The other presets want cores, and get those that are
# left (a lower priority), once the program is built.
beside() {
  local status=0
  renice -n 5 $BASHPID >/dev/null
  prepare asan --target sanitized_tests
  prepare kernels
  run_tests asan $cores -L sanitized "$@" || status=1
  run_tests kernels $cores "$@" || status=1
  return $status
}

timed "setup" scripts/setup.sh cluster
prepare ci
status=0
beside "$@" >build/beside.log 2>&1 &
run_tests ci $((3 * cores)) "$@" || status=1
say "the presets asan and kernels:"
wait $! || status=1
cat build/beside.log
say "$SECONDS seconds; the slowest steps:"
sort -rn "$steps" | sed -n '1,5{s/ / s  /;s/^/  /;p}'
exit $status
