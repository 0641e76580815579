"""How the scripts of perf/ start MPI programs: by the words of NUNATAK_MPIEXEC, without it by
mpiexec.

Ranks may outnumber cores, and root may start them, as in containers: Open MPI 4 and 5 each read
some of the variables below, other MPI libraries none, and do not ask."""
import os

os.environ.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
os.environ.setdefault("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe")
if os.geteuid() == 0:
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")

MPIEXEC = os.environ.get("NUNATAK_MPIEXEC", "mpiexec -n")  # before the rank count
