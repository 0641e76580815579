# shellcheck shell=bash
# Sourced by the scripts of this folder: fresh roots of Debian in folders, by debootstrap and chroot. As root on Debian (or Ubuntu:
# debootstrap and debian-archive-keyring). Environment: SUITE (default trixie), MIRROR (default: apt's own), LIMIT (of each step, default
# 3h), KOKKOS_SOURCE (a copy, else from PyPI).
suite=${SUITE:-trixie} limit=${LIMIT:-3h}
script=$(basename "$0" .sh)
source=$(cd "$(dirname "$0")/../.." && pwd)
[ "$(id -u)" = 0 ] || { echo "$script: expected root (debootstrap, chroot, mount)" >&2; exit 1; }
command -v debootstrap >/dev/null || { echo "$script: expected debootstrap in the PATH" >&2; exit 1; }
[ -n "${NUNATAK_UNSHARED:-}" ] || NUNATAK_UNSHARED=1 exec unshare --mount "$0" "$@" # what is mounted below goes when this process does

base=$(mktemp -d)
roots=()
cleanup() {
  for root in "${roots[@]}"; do umount "$root/proc" "$root/sys" "$root/dev/shm" "$root/dev/pts" 2>/dev/null || true; done
  rm -rf --one-file-system "$base"
}
trap cleanup EXIT
say() { printf '\033[1m[%s]\033[0m %s\n' "$script" "$*"; }

make_root() { # make_root <folder>: the root, if it is not there yet, and what programs expect of a machine
  local root=$1 mirror
  mkdir -p "$root"
  roots+=("$root")
  if [ ! -e "$root/etc/debian_version" ]; then
    # shellcheck disable=SC2016
    mirror=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | awk '/\/debian\/?$/ && !n++')}
    say "debootstrap $suite from ${mirror:=http://deb.debian.org/debian} into $root"
    timeout "$limit" debootstrap --variant=minbase --include=ca-certificates "$suite" "$root" "$mirror" >"$root.log" 2>&1 ||
      { tail -n 20 "$root.log" >&2; exit 1; }
    mv "$root.log" "$root/var/log/debootstrap.log"
  fi
  mount -t proc proc "$root/proc"
  mount -t sysfs -o ro sysfs "$root/sys"
  mkdir -p "$root/dev/shm" "$root/dev/pts"
  mount -t tmpfs tmpfs "$root/dev/shm"
  mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
  ln -sf pts/ptmx "$root/dev/ptmx"
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" # packages start no daemons (munge, slurm) here: they would outlive the root
  chmod +x "$root/usr/sbin/policy-rc.d"
  cp -L /etc/resolv.conf "$root/etc/resolv.conf"
  cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/" # also those of this site
  [ ! -e /etc/pip.conf ] || cp /etc/pip.conf "$root/etc/pip.conf"
}

clone_into() { # clone_into <root> <folder in it>: the source as of HEAD
  local to=$1$2
  git init -q "$to"
  git -C "$to" fetch -q "$source" HEAD
  git -C "$to" reset -q --hard FETCH_HEAD
  if [ -n "${KOKKOS_SOURCE:-}" ]; then
    mkdir -p "$to/build/deps"
    cp -rnT "$KOKKOS_SOURCE" "$to/build/deps/kokkos-source"
  fi
}

inside() { # inside <root> <commands>: run by bash in the chroot, bounded in time
  local status
  env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" \
    ${PIP_INDEX_URL:+PIP_INDEX_URL="$PIP_INDEX_URL"} \
    timeout --kill-after=1m "$limit" chroot "$1" bash -euo pipefail -c "$2" ||
    { status=$?; [ $status != 124 ] || echo "$script: a step took longer than $limit (LIMIT)" >&2; return $status; }
}
