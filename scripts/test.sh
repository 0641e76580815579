#!/usr/bin/env bash
# Set up, build and test everything: the kernels alone, kernels, io and tools on one rank under the sanitizers, and the whole program;
# warnings are errors. Arguments go to ctest ("scripts/test.sh -R pico"). The five slowest steps are printed at the end.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/environment.sh
cores=$(env -u OMP_NUM_THREADS nproc) # nproc alone would answer 1
steps=$(mktemp)
trap 'rm -f "$steps" "$steps.times"; kill $(jobs -p) 2>/dev/null || true' EXIT
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
run_tests() { # run_tests <name of the log> <preset> <ranks at a time> <arguments of ctest>...
  local log=build/$1-test.log status=0
  ctest --preset "$2" -j "$3" "${@:4}" 2>&1 | tee "$log" || status=1
  sed -nE "s/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) .* ([0-9]+)\.[0-9]+ sec.*/\2 $2: test \1/p" "$log" >>"$steps"
  return $status
}

prepare() { # prepare <preset> [option of cmake --build ...]
  say "preset $1: configure and build"
  configure "$1"
  timed "$1: build" build "$@"
}
# The tests of the program mostly wait: for mpiexec, for slow disks, for time-outs. The others want cores, and get those that are left (a
# lower priority), once the program is built. The course compiles its own programs, a few at a time, while the presets are built.
course() {
  renice -n 5 $BASHPID >/dev/null
  configure kernels
  run_tests course kernels $cores -L course --no-tests=ignore "$@"
}
presets() {
  local status=0
  renice -n 5 $BASHPID >/dev/null
  prepare asan --target sanitized_tests
  run_tests asan asan $cores -L sanitized --no-tests=$none "$@" || status=1
  prepare kernels
  run_tests kernels kernels $cores -LE course --no-tests=$none "$@" || status=1
  return $status
}

timed "setup" scripts/setup.sh tests
for log in build/{ci,asan,kernels,course}-test.log; do [ ! -e "$log" ] || mv "$log" "$log.before"; done
. scripts/environment.sh # again: setup has installed ccache
prepare ci
status=0
none=error # with arguments, a preset may have no test of that name
[ $# = 0 ] || none=ignore
course "$@" >build/course.log 2>&1 &
jobs=$!
presets "$@" >build/presets.log 2>&1 &
jobs="$jobs $!"
run_tests ci ci $((3 * cores)) --no-tests=$none "$@" || status=1
say "the presets asan and kernels, and the course:"
for job in $jobs; do wait "$job" || status=1; done
cat build/presets.log build/course.log
times >"$steps.times" # of this script, and of what it has waited for
used=$(awk -F '[ms ]+' 'NR == 2 {printf "%.0f", 60 * ($1 + $3) + $2 + $4}' "$steps.times")
say "$SECONDS seconds, $used of processor on $cores cores; the slowest steps:"
sort -rn "$steps" | sed -n '1,5{s/ / s  /;s/^/  /;p}'
if [ $# -gt 0 ] && [ $status = 0 ] && ! grep -q 'Test  *#' build/{ci,asan,kernels,course}-test.log; then
  echo "[test] error: no test in any preset by '$*'" >&2
  status=1
fi
exit $status
