#!/usr/bin/env bash
# nunatak on a fresh Debian 13 in a folder of its own: scripts/demo.sh, then scripts/test.sh, in a clone of HEAD.
#   tests/portability/debian13.sh            a temporary folder, removed at the end
#   tests/portability/debian13.sh FOLDER     this one, kept; a second call goes on with it
# By hand or weekly: 10 GB of disk, an hour on two cores. Environment: that of root.sh, and TESTS (arguments of scripts/test.sh, as
# "-R ^io"; "none": the demo only). Last result: docs/reference/platforms.md.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/root.sh"
root=${1:-$base/root}
make_root "$root"
clone_into "$root" /nunatak

say "scripts/demo.sh"
inside "$root" 'cd /nunatak; scripts/demo.sh && test -s build/demo/result.png'
status=0
if [ "${TESTS:-}" != none ]; then
  say "scripts/test.sh ${TESTS:-}"
  inside "$root" "cd /nunatak; scripts/test.sh ${TESTS:-}" || status=1
fi
say "versions"
# shellcheck disable=SC2016
inside "$root" 'cd /nunatak; g++ -dumpfullversion; cmake --version | sed -n 1p
  dpkg-query -W -f "\${Package} \${Version}\n" libopenmpi-dev libpetsc-real-dev libnetcdf-mpi-dev libpnetcdf-dev libhdf5-openmpi-dev catch2
  sed -n "s/^set(PACKAGE_VERSION \(.*\))/Kokkos \1/p" build/deps/lib/cmake/Kokkos/KokkosConfigVersion.cmake; date -u +%F'
[ "$status" = 0 ] || { say "failed"; exit 1; }
say "passed"
