#!/usr/bin/env bash
# Lay out all C++ files by .clang-format; with --check, only say which differ.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=-i
if [ "${1:-}" = --check ]; then mode="--dry-run --Werror"; fi
# shellcheck disable=SC2086
git ls-files '*.hpp' '*.cpp' | xargs clang-format $mode
