"""How the scripts of perf/ start MPI programs: by the words of NUNATAK_MPIEXEC, without it by mpiexec.

Ranks may outnumber cores: Open MPI 4 and 5 each read one of the variables below, other MPI libraries neither, and do not ask."""
import os

os.environ.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
os.environ.setdefault("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe")

MPIEXEC = os.environ.get("NUNATAK_MPIEXEC", "mpiexec -n")  # before the rank count
