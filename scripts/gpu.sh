#!/usr/bin/env bash
# The kernels on a GPU of NVIDIA, on a machine that has nothing but nvcc, CMake, a C++ compiler and make or Ninja (docs/explanation/performance.md):
#   scripts/gpu.sh bundle [BUNDLE]    where packages can be downloaded: one archive of the sources of Kokkos, Catch2 and JSON
#   scripts/gpu.sh compile [BUNDLE]   builds with it; needs no GPU (NUNATAK_CUDA_ARCH, default 9.0, says for which)
#   scripts/gpu.sh run [BUNDLE]       builds what is missing and runs bits, then steps on the GPU and on all cores of the host
#   scripts/gpu.sh tests [BUNDLE]     the same for the tests of the kernels, some of them under compute-sanitizer
#   scripts/gpu.sh [BUNDLE]           run and tests
# BUNDLE: build/gpu-bundle.tar. Writes build/gpu/run.json, tests.json and logs. The exit status is 0 if all of it went well.
# Where a command has a limit of time: repeat it, what was built stays. Arrays are in memory of the device (NUNATAK_DEVICE_MEMORY),
# except for the tests, which read them on the host (a few MB of managed memory).
set -euo pipefail
export LC_ALL=C
what=all
case "${1:-}" in bundle | compile | run | tests) what=$1; shift ;; -h | --help) sed -n '2,11s/^# //p' "$0"; exit 0 ;; -*) echo "gpu: expected bundle, compile, run, tests or --help, found $1" >&2; exit 2 ;; esac
if [ "$what" = all ]; then
  "$0" run "$@" && status=0 || status=$?
  "$0" tests "$@" || status=$?
  exit $status
fi
bundle=${1:-}
[ -z "$bundle" ] || bundle=$(cd "$(dirname "$bundle")" && pwd)/$(basename "$bundle")
cd "$(dirname "$0")/.."
tree=$PWD
bundle=${bundle:-$tree/build/gpu-bundle.tar}
say() { printf '\033[1m[gpu]\033[0m %s\n' "$*"; }
die() { echo "gpu: $*" >&2; exit 1; }

# --- the archive ---------------------------------------------------------------------------------------------------------
# Catch2: the folder NUNATAK_CATCH2_SOURCE, else the source package of the distribution or its backports, else GitHub's.
catch2_source() { # catch2_source <folder>
  local into=$1 lists=$1.apt archive=$1.tar.gz
  if [ -n "${NUNATAK_CATCH2_SOURCE:-}" ]; then cp -r "$NUNATAK_CATCH2_SOURCE" "$into"; return; fi
  if command -v apt-get >/dev/null; then
    mkdir -p "$lists/lists/partial"
    . /etc/os-release
    local mirror apt=(-o "Dir::Etc::SourceList=$lists/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$lists/lists"
      -o "Dir::Cache=$lists" -o APT::Sandbox::User=root)
    mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Created-By: Packages' | awk -v c="$VERSION_CODENAME" '$2 == c && !n++ {print $1}')
    printf "deb-src [signed-by=/usr/share/keyrings/$ID-archive-keyring.gpg] $mirror %s main universe\n" "$VERSION_CODENAME" "$VERSION_CODENAME-backports" >"$lists/sources.list"
    (cd "$lists" && apt-get "${apt[@]}" update -q && apt-get "${apt[@]}" source --download-only -q catch2) >"$into.log" 2>&1 || true
    cp "$lists"/catch2_3*.orig.tar.* "$archive" 2>/dev/null || true
  fi
  [ -e "$archive" ] || curl -fsSL -o "$archive" https://github.com/catchorg/Catch2/archive/refs/tags/v3.7.1.tar.gz ||
    die "no source of Catch2 3 from the distribution or GitHub: give its folder as NUNATAK_CATCH2_SOURCE"
  mkdir -p "$into"
  tar -xf "$archive" -C "$into" --strip-components=1
}

# JSON: the folder NUNATAK_JSON_HEADERS with nlohmann/, else the system's, else GitHub's. Headers only.
json_source() { # json_source <folder>
  local from
  mkdir -p "$1/include"
  for from in "${NUNATAK_JSON_HEADERS:-/usr/include}" build/deps/include; do
    if [ -e "$from/nlohmann/json.hpp" ]; then cp -r "$from/nlohmann" "$1/include/"; break; fi
  done
  [ -e "$1/include/nlohmann" ] || curl -fsSL https://github.com/nlohmann/json/releases/download/v3.11.3/json.tar.xz | tar -xJ -C "$1" --strip-components=1 json/include ||
    die "no headers of nlohmann/json: give the folder that has nlohmann/ as NUNATAK_JSON_HEADERS"
  cat >"$1/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.22)
project(json LANGUAGES NONE)
add_library(nlohmann_json INTERFACE)
add_library(nlohmann_json::nlohmann_json ALIAS nlohmann_json)
target_include_directories(nlohmann_json SYSTEM INTERFACE ${CMAKE_CURRENT_SOURCE_DIR}/include)
END
}

if [ "$what" = bundle ]; then
  kokkos=${NUNATAK_KOKKOS_SOURCE:-build/deps/kokkos-source}
  [ -e "$kokkos/CMakeLists.txt" ] || die "no source of Kokkos in $kokkos: run scripts/setup.sh first, or 'scripts/setup.sh kernels'"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  mkdir "$work/gpu-bundle"
  cp -r "$kokkos" "$work/gpu-bundle/kokkos"
  catch2_source "$work/catch2"
  cp -r "$work/catch2" "$work/gpu-bundle/catch2"
  json_source "$work/gpu-bundle/json"
  rm -rf "$work"/gpu-bundle/kokkos/{doc,*/unit_test*,*/perf_test} "$work"/gpu-bundle/catch2/{docs,examples,fuzzing,tests}
  mkdir -p "$(dirname "$bundle")"
  tar -cf "$bundle" -C "$work" gpu-bundle
  say "$bundle: $(($(wc -c <"$bundle") / 1000000)) MB"
  exit
fi

# --- the machine ---------------------------------------------------------------------------------------------------------
gpu="" driver="" capability=${NUNATAK_CUDA_ARCH:-9.0}
if [ "$what" != compile ]; then
  export CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES:-0} # the order of nvidia-smi; one card computes
  query=("--query-gpu=name,driver_version,compute_cap" "--format=csv,noheader")
  found=$(nvidia-smi -i "${CUDA_VISIBLE_DEVICES%%,*}" "${query[@]}" 2>&1) || found=$(nvidia-smi "${query[@]}" 2>&1) || # the second: parts of a card
    die "no GPU of NVIDIA here (nvidia-smi: ${found%%$'\n'*}). Without one: scripts/gpu.sh compile"
  IFS=, read -r gpu driver capability <<<"${found%%$'\n'*}"
  driver=${driver# } capability=${capability# }
fi
case $capability in
  7.0) arch=VOLTA70 ;; 7.5) arch=TURING75 ;; 8.0) arch=AMPERE80 ;; 8.6) arch=AMPERE86 ;; 8.7) arch=AMPERE87 ;; 8.9) arch=ADA89 ;;
  9.0) arch=HOPPER90 ;; 10.0) arch=BLACKWELL100 ;; 12.0) arch=BLACKWELL120 ;;
  *) die "compute capability '$capability': expected 7.0, 7.5, 8.0, 8.6, 8.7, 8.9, 9.0, 10.0 or 12.0 (what Kokkos 4.7 knows)" ;;
esac
command -v nvcc >/dev/null || PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin
for program in nvcc cmake "${CXX:-g++}"; do command -v "$program" >/dev/null || die "no $program on the PATH"; done
[ -e "$bundle" ] || die "no $bundle: make it by 'scripts/gpu.sh bundle' where packages can be downloaded, and copy it here"
if command -v ninja >/dev/null; then generator=Ninja go_on=(-k 0); else generator="Unix Makefiles" go_on=(-k); fi
cores=$(env -u OMP_NUM_THREADS nproc)

# --- steps, each with a limit of seconds, a row of the report and its output in the log ------------------------------------------
out=$tree/build/gpu
log=$out/$what.txt
mkdir -p "$out"
: >"$log"
rows=() tests=() times=() failed=0
quoted() { local s=${1//\\/\\\\}; printf '"%s"' "${s//\"/\\\"}"; }
row() { # row <name> <ok, failed, ...> <seconds>
  rows+=("    {\"name\": $(quoted "$1"), \"status\": \"$2\", \"seconds\": $3}")
  say "$1: $2 ($3 s)"
  [ "$2" = ok ] || failed=1
}
step() { # step <name> <limit> <command>...
  local name=$1 limit=$2 begin=$SECONDS status=0 word=ok
  shift 2
  printf '\n=== %s: %s\n' "$name" "$*" >>"$log"
  timeout "$limit" "$@" >>"$log" 2>&1 &
  running=$!
  wait "$running" || status=$?
  running=
  if [ "$status" = 124 ]; then word="over $limit s"; elif [ "$status" != 0 ]; then word="failed: $status"; fi
  row "$name" "$word" $((SECONDS - begin))
  [ "$status" = 0 ] || tail -n 15 "$log" >&2
  return "$status"
}
report() {
  local commit IFS=$'\n'
  commit=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
  {
    echo "{"
    echo "  \"what\": \"$what\", \"date\": \"$(date -u +%Y-%m-%dT%H:%MZ)\", \"seconds\": $SECONDS, \"cores\": $cores,"
    echo "  \"gpu\": $(quoted "$gpu"), \"driver\": $(quoted "$driver"), \"compute_capability\": \"$capability\","
    echo "  \"nvcc\": $(quoted "$(nvcc --version | sed -n 's/.*release \([^,]*\), V\(.*\)/\2/p')"), \"compiler\": $(quoted "$("${CXX:-g++}" --version | sed -n 1p)"),"
    echo "  \"commit\": $(quoted "$commit"), \"sources\": \"$(find CMakeLists.txt cmake kernels miniapp perf tests/kernels -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum | cut -c1-16)\","
    echo "  \"bits\": \"$bits\","
    echo "  \"steps\": ["
    printf '%s\n' "${rows[*]}" | sed '$!s/$/,/'
    echo "  ],"
    echo "  \"tests\": ["
    [ ${#tests[@]} = 0 ] || printf '%s\n' "${tests[*]}" | sed '$!s/$/,/'
    echo "  ],"
    echo "  \"times\": ["
    [ ${#times[@]} = 0 ] || { printf '%s,\n' "${times[@]}" | sed '$s/,$//'; }
    echo "  ]"
    echo "}"
  } >"$out/$what.json"
  say "$out/$what.json, $log"
}
bits="not run"
samplers=() running=
trap 'kill "${samplers[@]}" $running 2>/dev/null || true; report' EXIT
trap 'exit 143' TERM # at once: steps run in the background
trap 'exit 130' INT

# --- build: Catch2 by the host's compiler, the rest by Kokkos' wrapper of nvcc -----------------------------------------------
if ! [ "$out/unpacked" -nt "$bundle" ]; then # a newer bundle is unpacked anew
  rm -rf "$out/gpu-bundle" "$out/has_catch2"
  step "unpack" 600 tar -xf "$bundle" -C "$out" || exit 1
  touch "$out/unpacked"
fi
catch2() {
  cmake -G "$generator" -S "$out/gpu-bundle/catch2" -B "$out/catch2" -DCMAKE_INSTALL_PREFIX="$out/installed" -DCMAKE_INSTALL_LIBDIR=lib \
    -DCMAKE_CXX_STANDARD=17 -DCATCH_INSTALL_DOCS=OFF -DCATCH_INSTALL_EXTRAS=OFF &&
    cmake --build "$out/catch2" -j "$cores" --target install
}
configure() { # configure <folder> <flags>...: the kernels and the programs that need no more
  cmake -G "$generator" -S "$tree" -B "$@" -DCMAKE_BUILD_TYPE=Release -DNUNATAK_BUILD=kernels -DFETCHCONTENT_FULLY_DISCONNECTED=ON \
    -DFETCHCONTENT_SOURCE_DIR_KOKKOS="$out/gpu-bundle/kokkos" -DFETCHCONTENT_SOURCE_DIR_JSON="$out/gpu-bundle/json"
}
for_gpu() { # for_gpu <folder> <flags>...
  configure "$@" -DNUNATAK_BACKEND=Cuda -DKokkos_ARCH_$arch=ON -DCMAKE_CXX_COMPILER="$out/gpu-bundle/kokkos/bin/nvcc_wrapper" \
    -DCMAKE_PREFIX_PATH="$out/installed"
}
host() { # the same programs for all cores of the host, by its compiler, to be measured next to it
  configure "$out/host" -DNUNATAK_BACKEND=OpenMP -DNUNATAK_TESTS=OFF && cmake --build "$out/host" -j "$cores" --target bench_kernels nunatak-step
}
ptx() { # the machine code of the GPU as text: nothing may be fused (tests/house/test_cuda.py says more)
  cuobjdump -ptx "$1" >"$out/bits.ptx" && grep -q 'mul\.rn\.f64' "$out/bits.ptx" && ! grep -E '^[^/]*(fma|mad)\.[a-z.]*f(32|64)' "$out/bits.ptx"
}
export -f catch2 configure for_gpu host ptx
export generator out cores tree arch NVCC_APPEND_FLAGS="-arch=sm_${capability/./}" NVCC_WRAPPER_DEFAULT_COMPILER=${CXX:-g++}
if ! [ -e "$out/has_catch2" ]; then
  step "Catch2" 1800 bash -c catch2 || exit 1
  touch "$out/has_catch2"
fi
if [ "$what" != tests ]; then
  step "configure" 600 bash -c 'for_gpu "$@"' configure "$out/tree" -DNUNATAK_DEVICE_MEMORY=ON || exit 1
  step "build" 3600 cmake --build "$out/tree" -j "$cores" --target bits bench_kernels nunatak-step -- "${go_on[@]}" || true
  if command -v cuobjdump >/dev/null; then step "no fma" 60 bash -c 'ptx "$1"' ptx "$out/tree/tests/kernels/bits" || true; fi
  step "build for the host" 1800 bash -c host || true
fi
if [ "$what" != run ]; then
  step "configure the tests" 600 bash -c 'for_gpu "$@"' configure "$out/tests" || exit 1
  step "build the tests" 3600 cmake --build "$out/tests" -j "$cores" -- "${go_on[@]}" || true
fi
if [ "$what" = compile ]; then exit $failed; fi

# --- the tests --------------------------------------------------------------------------------------------------------
sanitize() { # sanitize <tool> <name> <command>...
  local tool=$1 name=$2
  shift 2
  if ! command -v compute-sanitizer >/dev/null; then row "$tool: $name" missing 0; return; fi
  step "$tool: $name" 120 compute-sanitizer --tool "$tool" --error-exitcode 9 "$@" || true
}
if [ "$what" = tests ]; then
  step "tests" 400 ctest --test-dir "$out/tests" --output-on-failure -j 4 || true
  while read -r name status seconds; do
    tests+=("    {\"name\": $(quoted "$name"), \"passed\": $([ "$status" = Passed ] && echo true || echo false), \"seconds\": $seconds}")
  done < <(sed -nE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) [ .]*\**(Passed|Failed|Timeout|Exception|Not Run|Skipped).* ([0-9.]+) sec.*/\1 \2 \3/p' "$log" | sed 's/Not Run/Missing/')
  sanitize memcheck bits "$out/tests/tests/kernels/bits" tests/kernels/bits.txt
  for tool in memcheck racecheck; do
    sanitize $tool labels "$out/tests/tests/kernels/test_kernels.labels" "a run that touches several runs below*"
    sanitize $tool distances "$out/tests/tests/kernels/test_kernels.distance" "rounds*"
  done
  exit $failed
fi

# --- run --------------------------------------------------------------------------------------------------------------
if step "bits" 120 "$out/tree/tests/kernels/bits" tests/kernels/bits.txt; then
  bits="those of tests/kernels/bits.txt"
else
  bits="others than those of tests/kernels/bits.txt: see the log"
  step "bits, each loop waited for" 120 env CUDA_LAUNCH_BLOCKING=1 "$out/tree/tests/kernels/bits" tests/kernels/bits.txt || true # a fence is missing?
fi
# Steps on the GPU and on all cores of the host: the same fields, and times. The power of the GPU is sampled by nvidia-smi, that of
# the processors by their counters of energy, if they are readable; it is the mean over the steps that count.
samples() { # samples: lines "date time, seconds, uJ of the processors so far" until it is ended
  local sockets
  sockets=$(grep -l '^package' /sys/class/powercap/intel-rapl:*/name | sed 's/name$/energy_uj/') || true
  while sleep 0.1; do echo "$(date '+%Y/%m/%d %H:%M:%S.%3N, %s.%3N'), $(xargs -r cat <<<"$sockets" | awk '{s += $1} END {print s}')"; done
}
watts() { # watts <gpu|host> <from> <until>: mean, or null
  if [ "$1" = gpu ]; then
    awk -F', ' -v a="$2" -v b="$3" '$1 >= a && $1 <= b && $2 ~ /^[0-9.]+$/ {s += $2; n++} END {print (n ? s / n : "null")}' "$out/power.gpu"
  else
    awk -F', ' -v a="$2" -v b="$3" '$1 >= a && $1 <= b && $3 > 0 {if (!n++) {t0 = $2; e0 = $3} t = $2; e = $3} END {print (n > 1 && e > e0 ? (e - e0) / (t - t0) / 1e6 : "null")}' "$out/power.host"
  fi
}
value() { sed -n "s/^  \"$1\": \"\(.*\)\",*\$/\1/p" "$2"; } # value <key> <file>: of a text at the top of a JSON file
add_times() { # add_times <gpu|host> <km>: what bench_kernels wrote, with its power, becomes a part of the report
  local file=$out/$1-$2km.json ms power
  ms=$(awk '/^  "step": / {found = 1} found && /"median_ms"/ {gsub(/[^0-9.e+-]/, "", $2); print $2; exit}' "$file")
  power=$(watts "$1" "$(value started "$file")" "$(value ended "$file")")
  times+=("    {\"where\": \"$1\", \"step_ms\": $ms, \"watts\": $power, \"joules_per_step\": $(awk -v p="$power" -v ms="$ms" 'BEGIN {print (p == "null" ? p : p * ms / 1e3)}'), \"result\":
$(cat "$file")}")
}
to_file() { local file=$1; shift; "$@" >"$file"; }
same_fields() { # same_fields <name> <file> <file>
  [ -s "$2" ] && [ -s "$3" ] || return 0 # what failed has said so
  if [ "$(value fields "$2")" = "$(value fields "$3")" ]; then row "$1: the bits of the host" ok 0; else row "$1: the bits of the host" failed 0; fi
}
export -f to_file
export OMP_PROC_BIND=spread OMP_PLACES=cores
nvidia-smi -i "${CUDA_VISIBLE_DEVICES%%,*}" --query-gpu=timestamp,power.draw --format=csv,noheader,nounits -lms 100 >"$out/power.gpu" 2>/dev/null &
samplers=($!)
samples >"$out/power.host" 2>/dev/null &
samplers+=($!)
for where in gpu host; do
  programs=$out/tree
  [ "$where" = gpu ] || programs=$out/host
  for km in 16 4; do
    step "nunatak-step, $where, $km km" 300 "$programs/miniapp/nunatak-step" -grid_dx ${km}e3 -steps 4 -report "$out/$where-steps-${km}km.json" || true
  done
  for km in 8 4 $([ "$where" = host ] || echo 2); do
    step "bench_kernels, $where, $km km" 300 bash -c 'to_file "$@"' to_file "$out/$where-${km}km.json" "$programs/perf/bench_kernels" -grid_dx ${km}e3 &&
      add_times $where $km || true
  done
done
kill "${samplers[@]}" 2>/dev/null || true
for km in 16 4; do same_fields "nunatak-step, $km km" "$out/gpu-steps-${km}km.json" "$out/host-steps-${km}km.json"; done
for km in 8 4; do same_fields "bench_kernels, $km km" "$out/gpu-${km}km.json" "$out/host-${km}km.json"; done

exit $failed
