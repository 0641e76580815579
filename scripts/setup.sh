#!/usr/bin/env bash
# Installs what nunatak needs on Debian 12 or 13 (docs/reference/platforms.md says what was tried). Idempotent.
#   scripts/setup.sh            as root or with sudo: packages of the distribution; Kokkos and a Python environment below build/deps
#   scripts/setup.sh cluster    also FUSE 3 and Slurm, for the emulated cluster (docs/howto/emulated-cluster.md)
#   scripts/setup.sh tests      all this, and doxygen and Chromium, which open the manual in scripts/test.sh
#   scripts/setup.sh kernels    without root, below build/deps: Kokkos, Catch2 and nlohmann-json, for the course and the preset kernels
# On a supercomputer use modules, EasyBuild or Spack instead (README.md).
set -euo pipefail
export LC_ALL=C # messages of apt and dpkg are parsed below
cd "$(dirname "$0")/.."
deps=$PWD/build/deps
mkdir -p "$deps"
say() { printf '\033[1m[setup]\033[0m %s\n' "$*"; }
root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

# --- Kokkos 4.7, Serial and OpenMP ------------------------------------------------------------------------------------
# Debian 12 has no usable package. The unmodified source of Kokkos 4.7.0 is part of a source distribution on PyPI, which most
# firewalls let through; NUNATAK_KOKKOS_SOURCE names another copy. Arguments: the pip command.
build_kokkos() {
  [ ! -e "$deps/lib/cmake/Kokkos/KokkosConfig.cmake" ] || return 0
  say "building Kokkos 4.7 into build/deps (a minute)"
  local source_dir=${NUNATAK_KOKKOS_SOURCE:-$deps/kokkos-source} generator=()
  if [ ! -e "$source_dir/CMakeLists.txt" ]; then
    rm -rf "$deps/download" "$source_dir"
    "$@" download -q --disable-pip-version-check --no-deps --no-binary pygenten -d "$deps/download" pygenten==0.1.5 || return 1
    mkdir -p "$source_dir"
    tar -xzf "$deps"/download/pygenten-0.1.5.tar.gz -C "$source_dir" --strip-components=3 pygenten-0.1.5/tpls/kokkos
    rm -rf "$deps/download"
  fi
  if command -v ninja >/dev/null; then generator=(-G Ninja); fi
  . scripts/environment.sh # ccache
  cmake "${generator[@]}" -S "$source_dir" -B "$deps/kokkos-build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_STANDARD=17 -DCMAKE_INSTALL_PREFIX="$deps" \
    -DCMAKE_INSTALL_LIBDIR=lib -DKokkos_ENABLE_SERIAL=ON -DKokkos_ENABLE_OPENMP=ON -DCMAKE_UNITY_BUILD=ON >"$deps/kokkos.log" 2>&1 &&
    cmake --build "$deps/kokkos-build" --target install -j "$(env -u OMP_NUM_THREADS nproc)" >>"$deps/kokkos.log" 2>&1 ||
    { tail -n 20 "$deps/kokkos.log" >&2; echo "setup: Kokkos did not build (log: build/deps/kokkos.log)" >&2; exit 1; }
  rm -rf "$deps/kokkos-build"
}

# --- packages of Debian's backports: options of apt-get that select only them, with separate lists -------------------------
# The mirror is the one that apt uses for this release.
see_backports() { # see_backports [root]: the array `backports`
  . /etc/os-release
  local mirror lists=$deps/apt-backports
  mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Created-By: Packages' | awk -v c="$VERSION_CODENAME" '$2 == c && !n++ {print $1}')
  [ -n "$mirror" ] || { echo "setup: no mirror for $VERSION_CODENAME in apt's configuration; install Catch2 >= 3 by hand" >&2; return 1; }
  mkdir -p "$lists/partial"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $VERSION_CODENAME-backports main" >"$deps/backports.list"
  backports=(-o "Dir::Etc::SourceList=$deps/backports.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$lists" -o APT::Sandbox::User=root)
  [ -n "${1:-}" ] || backports+=(-o "Dir::Cache=$deps/apt-cache")
  ${1:-} apt-get "${backports[@]}" update -q >>"$deps/apt.log" 2>&1 || { tail -n 5 "$deps/apt.log" >&2; return 1; }
}
has_catch2() { # version 3, in any of these folders
  [ -n "$(find "$@" -name Catch2ConfigVersion.cmake -exec grep -q 'PACKAGE_VERSION "3' {} \; -print 2>/dev/null || true)" ]
}

# --- the kernels alone, without root; CMake downloads from GitHub what is not found here ------------------------------------
unpack() { # unpack <package> [option of apt-get ...]: a package of the distribution into build/deps, not installed
  local package=$1 status=0
  shift
  command -v apt-get >/dev/null || return 1
  rm -rf "$deps/download"
  mkdir -p "$deps/download"
  (cd "$deps/download" && apt-get "$@" download -q "$package" && dpkg -x "$package"_*.deb . && cp -r usr/* "$deps") >>"$deps/apt.log" 2>&1 || status=1
  rm -rf "$deps/download"
  return $status
}
if [ "${1:-}" = kernels ]; then
  python=$(command -v "$deps/python/bin/python" python3 || true)
  pip=("${python%%$'\n'*}" -m pip)
  if ! "${pip[@]}" --version >/dev/null 2>&1 && unpack python3-pip-whl; then # Debian without python3-pip: the wheel can be run
    pip=(env PYTHONPATH="$(echo "$deps"/share/python-wheels/pip-*.whl)" "${pip[@]}")
  fi
  build_kokkos "${pip[@]}" || say "no source of Kokkos from PyPI: CMake will download it from GitHub, or give its folder as NUNATAK_KOKKOS_SOURCE"
  [ -n "$(find /usr "$deps" -path '*/nlohmann/json.hpp' -print -quit 2>/dev/null)" ] || unpack nlohmann-json3-dev ||
    say "no package nlohmann-json3-dev: CMake will download its source from GitHub"
  has_catch2 /usr "$deps" || unpack libcatch2-dev || { see_backports && unpack libcatch2-dev "${backports[@]}"; } ||
    say "no package libcatch2-dev: CMake will download its source from GitHub"
  say "ready"
  exit
fi

# --- distribution packages -------------------------------------------------------------------------------------------
packages=(g++ cmake ninja-build ccache git pkg-config python3-venv python3-pip
  libpetsc-real-dev libopenmpi-dev openmpi-bin libpnetcdf-dev pnetcdf-bin libnetcdf-mpi-dev
  libudunits2-dev nlohmann-json3-dev netcdf-bin cdo nco gdal-bin valgrind)
if [[ ${1:-} == @(cluster|tests) ]]; then packages+=(iproute2 libfuse3-dev fuse3 slurm-wlm e2fsprogs); fi
if [ "${1:-}" = tests ]; then packages+=(doxygen chromium); fi
missing() { for p in "$@"; do [[ $(dpkg-query -W -f='${Status}' "$p" 2>/dev/null || true) == *'ok installed'* ]] || echo "$p"; done; }
install() { root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" >"$deps/apt.log" 2>&1 ||
  { tail -n 20 "$deps/apt.log" >&2; echo "setup: apt-get install failed for: $*" >&2; exit 1; }; }
command -v apt-get >/dev/null || { echo "setup: expected Debian or Ubuntu (apt-get); elsewhere see README.md, 'Install'" >&2; exit 1; }
need=$(missing "${packages[@]}")
if [ -n "$need" ]; then
  say "installing" $need
  root apt-get update -q >"$deps/apt.log" 2>&1 || { tail -n 5 "$deps/apt.log" >&2; exit 1; }
  install $need
fi

# --- Catch2 v3: in the distribution, or (Debian 12) in its backports -----------------------------------------------------
# (No pipe ends in "grep -q" or another command that stops reading early: its writer would die of SIGPIPE, and with pipefail the script.)
if ! has_catch2 /usr/lib /usr/share /usr/local; then
  say "installing Catch2 v3"
  [ -n "$(apt-cache policy catch2 2>/dev/null)" ] || root apt-get update -q >"$deps/apt.log" 2>&1
  if [[ $(apt-cache policy catch2) == *'Candidate: 3'* ]]; then
    install catch2
  else
    see_backports root
    root env DEBIAN_FRONTEND=noninteractive apt-get "${backports[@]}" install -y -q --no-install-recommends catch2 >"$deps/apt.log" 2>&1 ||
      { tail -n 5 "$deps/apt.log" >&2; exit 1; }
  fi
fi

# --- Python: plots, and a build back end to fetch the source of Kokkos ------------------------------------------------
venv=$deps/python
stamp=$venv/requirements.txt
if ! cmp -s scripts/requirements.txt "$stamp"; then
  say "creating the Python environment build/deps/python"
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" install -q --disable-pip-version-check -r scripts/requirements.txt
  cp scripts/requirements.txt "$stamp"
fi

# --- for one test: NetCDF of Fortran, not installed, since libnetcdff-dev brings another NetCDF-C ----------------------------
if command -v gfortran >/dev/null && ! [ -e /usr/include/netcdf.mod ] && ! [ -e "$deps/include/netcdf.mod" ]; then
  { unpack libnetcdff-dev && unpack libnetcdff7; } || say "no netcdf-fortran: its harness is not tested"
fi

build_kokkos "$venv/bin/pip"
say "ready"
