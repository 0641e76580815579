# shellcheck shell=bash
# Sourced by the other scripts: environment of MPI programs on a small machine (a laptop, CI), also with more ranks than cores.
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} OMP_PROC_BIND=${OMP_PROC_BIND:-false}
# more ranks than cores, of which those that wait yield their cores: Open MPI 4, Open MPI 5; MPICH needs no setting
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=${PRTE_MCA_rmaps_default_mapping_policy:-:oversubscribe}
export OMPI_MCA_mpi_yield_when_idle=${OMPI_MCA_mpi_yield_when_idle:-1}
# messages inside one machine: Open MPI selects `ob1` anyway, after 0.2 s at each start in which it tries drivers of networks
export OMPI_MCA_pml=${OMPI_MCA_pml:-ob1}
# and through memory: about TCP Open MPI 5 warns in containers ("vader" is its "sm", too)
export OMPI_MCA_btl=${OMPI_MCA_btl:-self,vader}
# seconds from SIGTERM to mpiexec until its ranks get it, and again until they are killed (also after an abort)
export OMPI_MCA_odls_base_sigkill_timeout=${OMPI_MCA_odls_base_sigkill_timeout:-5}
export PRTE_MCA_odls_base_sigkill_timeout=$OMPI_MCA_odls_base_sigkill_timeout
if [ "$(id -u)" = 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
# presets have many files in common, which are compiled once: paths below this folder are relative
if command -v ccache >/dev/null; then
  export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD}
  export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER:-ccache}
  export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros,include_file_mtime,include_file_ctime} # precompiled headers
fi
