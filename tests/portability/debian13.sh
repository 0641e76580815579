#!/usr/bin/env bash
# nunatak on a fresh Debian 13 in a folder of its own (debootstrap, chroot): scripts/demo.sh, then scripts/test.sh, in a clone of HEAD.
#   tests/portability/debian13.sh            a temporary folder, removed at the end
#   tests/portability/debian13.sh FOLDER     this one, kept; a second call goes on with it
# As root on Debian (or Ubuntu: debootstrap and debian-archive-keyring), by hand or weekly: 10 GB of disk, an hour on two cores.
# Environment: SUITE (default trixie), MIRROR (default: apt's own), LIMIT (of each step, default 3h), TESTS (arguments of scripts/test.sh,
# as "-R ^io"; "none": the demo only), KOKKOS_SOURCE (a copy, else from PyPI). Last result: docs/reference/platforms.md.
set -euo pipefail
suite=${SUITE:-trixie} limit=${LIMIT:-3h} keep=${1:-}
source=$(cd "$(dirname "$0")/../.." && pwd)
[ "$(id -u)" = 0 ] || { echo "debian13: expected root (debootstrap, chroot, mount)" >&2; exit 1; }
command -v debootstrap >/dev/null || { echo "debian13: expected debootstrap in the PATH" >&2; exit 1; }
[ -n "${NUNATAK_UNSHARED:-}" ] || NUNATAK_UNSHARED=1 exec unshare --mount "$0" "$@" # what is mounted below goes when this process does

base=$(mktemp -d)
root=${keep:-$base/root}
mkdir -p "$root"
root=$(cd "$root" && pwd)
cleanup() {
  umount "$root/proc" "$root/sys" "$root/dev/shm" "$root/dev/pts" 2>/dev/null || true
  rm -rf --one-file-system "$base"
}
trap cleanup EXIT
say() { printf '\033[1m[debian13]\033[0m %s\n' "$*"; }
inside() { # inside <words of bash>: in the chroot, in the source, bounded in time
  env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" \
    ${PIP_INDEX_URL:+PIP_INDEX_URL="$PIP_INDEX_URL"} OMPI_MCA_btl=^tcp \
    timeout --kill-after=1m "$limit" chroot "$root" bash -euo pipefail -c "cd /nunatak; $1" ||
    { status=$?; [ $status != 124 ] || echo "debian13: a step took longer than $limit (LIMIT)" >&2; return $status; }
}

if [ ! -e "$root/etc/debian_version" ]; then
  mirror=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | awk '/\/debian\/?$/ && !n++')}
  say "debootstrap $suite from ${mirror:=http://deb.debian.org/debian} into $root"
  timeout "$limit" debootstrap --variant=minbase --include=ca-certificates "$suite" "$root" "$mirror" >"$root.log" 2>&1 ||
    { tail -n 20 "$root.log" >&2; exit 1; }
  mv "$root.log" "$root/var/log/debootstrap.log"
fi
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mkdir -p "$root/dev/shm" "$root/dev/pts" "$root/nunatak"
mount -t tmpfs tmpfs "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
ln -sf pts/ptmx "$root/dev/ptmx"
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" # packages start no daemons (munge, slurm) here: they would outlive the root
chmod +x "$root/usr/sbin/policy-rc.d"
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/" # also those of this site
[ ! -e /etc/pip.conf ] || cp /etc/pip.conf "$root/etc/pip.conf"
git init -q "$root/nunatak"
git -C "$root/nunatak" fetch -q "$source" HEAD
git -C "$root/nunatak" reset -q --hard FETCH_HEAD
if [ -n "${KOKKOS_SOURCE:-}" ]; then
  mkdir -p "$root/nunatak/build/deps"
  cp -rn "$KOKKOS_SOURCE" "$root/nunatak/build/deps/kokkos-source"
fi

say "scripts/demo.sh"
inside 'scripts/demo.sh && test -s build/demo/result.png'
status=0
if [ "${TESTS:-}" != none ]; then
  say "scripts/test.sh ${TESTS:-}"
  inside "scripts/test.sh ${TESTS:-}" || status=1
fi
say "versions"
inside 'g++ -dumpfullversion; cmake --version | sed -n 1p; dpkg-query -W -f "\${Package} \${Version}\n" libopenmpi-dev libpetsc-real-dev libnetcdf-mpi-dev libpnetcdf-dev libhdf5-openmpi-dev catch2
  sed -n "s/^set(PACKAGE_VERSION \(.*\))/Kokkos \1/p" build/deps/lib/cmake/Kokkos/KokkosConfigVersion.cmake; git --version >/dev/null; date -u +%F'
[ "$status" = 0 ] || { say "failed"; exit 1; }
say "passed"
