#!/usr/bin/env bash
# Verification: set up, build (release), run the programs of tests/verification, and print their tables (Markdown):
#   scripts/verify.sh            all of them
#   scripts/verify.sh ssa        those with "ssa" in their name
# Environment: RANKS (default 1; up to 4). BUILD: a build folder that is configured already, in place of build/release.
# What the tables mean: docs/explanation/verification.md. The exit status is not 0 if an error exceeds its bound.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build/release}
if [ -z "${BUILD:-}" ]; then
  scripts/setup.sh >&2
  . scripts/environment.sh
  cmake -G Ninja --preset release >build/release-configure.log 2>&1 || { cat build/release-configure.log >&2; exit 1; }
fi
log=$build/verification.log
. scripts/environment.sh
cmake --build "$build" --target verification >"$log" 2>&1 || { tail -n 60 "$log" >&2; exit 1; }

select="^verification\.[a-z_0-9]*${1:-}[a-z_0-9]*(\.np${RANKS:-1})?\$"
if ctest --test-dir "$build" -R "$select" --no-tests=error -V 2>&1 | tee "$log" |
  sed -u -nE 's/^[0-9]+: (\|.*)/\1/p; s/^[0-9]+: (### .*)/\n\1\n/p'; then
  echo "verify: every error is within its bound ($log)" >&2
else
  sed -nE 's/^[0-9]+: //p' "$log" | grep -A 12 'FAILED:' >&2 || true
  sed -n '/tests passed, /,$p; /No tests were found/p' "$log" >&2
  echo "verify: see $log" >&2
  exit 1
fi
