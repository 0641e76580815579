#!/usr/bin/env bash
# The steps of packaging/Dockerfile and nunatak.def without Docker or Apptainer, in two fresh roots: nunatak is built in one, and runs in
# the other, which has no compiler.
#   tests/portability/images.sh            temporary folders, removed at the end
#   tests/portability/images.sh FOLDER     FOLDER/build and FOLDER/run, kept; a second call goes on with them
# Environment: that of root.sh. 3 GB of disk; the time of a build from scratch.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/root.sh"
build=${1:-$base}/build run=${1:-$base}/run
make_root "$build"
make_root "$run"
clone_into "$build" /src

say "packaging/install.sh build"
inside "$build" '/src/packaging/install.sh build /opt/nunatak'
rm -rf "$run/opt/nunatak"
cp -r "$build/opt/nunatak" "$run/opt/nunatak"
cp "$source/packaging/install.sh" "$run/tmp/install.sh"
say "packaging/install.sh run"
inside "$run" '/tmp/install.sh run /opt/nunatak && rm /tmp/install.sh'
say "a run in the image of the programs alone"
# shellcheck disable=SC2016
inside "$run" 'export PATH=/opt/nunatak/bin:$PATH OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
  for compiler in cc gcc g++ c++ clang cmake; do
    if command -v $compiler; then echo "images: expected no compiler in the image that runs" >&2; exit 1; fi
  done
  cd "$(mktemp -d)"
  mpiexec -n 4 nunatak -init marine -grid_dx 32km -grid_Mz 11 -run_years 2 -o marine.nc
  nunatak-verify marine.nc
  nunatak-distance -mask shelves -grid_Mx 200 -solvers sweep,bfs -virtual_ranks 1,64 -compare'
du -shx "$build" "$run"
say "passed"
