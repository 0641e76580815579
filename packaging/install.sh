#!/usr/bin/env bash
# The steps of the container images (Dockerfile, nunatak.def), on Debian 13, as root:
#   install.sh build PREFIX    compilers and libraries to build with; nunatak from the source around this script into PREFIX
#   install.sh run PREFIX      in another image, to which PREFIX was copied: the libraries that its programs use, and mpiexec
set -euo pipefail
what=$1 prefix=$2
packages=$prefix/share/nunatak/packages # one a line, written by "build"
install() {
  apt-get update -q
  DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@"
}

case $what in
build)
  cd "$(dirname "$0")/.."
  install g++ cmake ninja-build pkg-config python3-pip libpetsc-real-dev libopenmpi-dev openmpi-bin libpnetcdf-dev libnetcdf-mpi-dev \
    libudunits2-dev nlohmann-json3-dev catch2
  scripts/setup.sh kernels # Kokkos
  cmake -G Ninja -S . -B build/image -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$PWD/build/deps" -DCMAKE_INSTALL_PREFIX="$prefix" \
    -DNUNATAK_TESTS=OFF -DNUNATAK_PERF=OFF -DNUNATAK_UNITY=ON
  cmake --build build/image --target programs
  cmake --install build/image --strip
  # libraries by the packages that have them, in the names of which Debian's releases differ
  ldd "$prefix"/bin/* | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u | while read -r library; do
    dpkg -S "$(readlink -f "$library")"
  done | sed 's/:.*//' | sort -u >"$packages"
  echo openmpi-bin >>"$packages"
  ;;
run)
  # shellcheck disable=SC2046
  install $(cat "$packages")
  rm -rf /var/lib/apt/lists/*
  ;;
*)
  echo "install.sh: expected build or run, found '$what'" >&2
  exit 2
  ;;
esac
