#include "miniapp/model/communication.hpp"

#include <dlfcn.h>
#include <mpi.h>

namespace nunatak {

namespace {

thread_local Seconds in_mpi; // of other threads: not asked for

/// Adds its lifetime.
struct InMpi {
  const Seconds begin = Seconds::now();
  ~InMpi() { in_mpi += Seconds::now() - begin; }
};

} // namespace

Seconds seconds_in_mpi() { return in_mpi; }

} // namespace nunatak

// Defines MPI_<name>(parameters), which measures the next definition of it.
#define NUNATAK_TIMED(name, parameters, arguments)                                                 \
  extern "C" int MPI_##name parameters {                                                           \
    static const auto next =                                                                       \
        reinterpret_cast<decltype(&MPI_##name)>(dlsym(RTLD_NEXT, "MPI_" #name));                   \
    const nunatak::InMpi scope;                                                                    \
    return next arguments;                                                                         \
  }

using Type = MPI_Datatype;

NUNATAK_TIMED(Barrier, (MPI_Comm c), (c))
NUNATAK_TIMED(Bcast, (void* a, int n, Type t, int root, MPI_Comm c), (a, n, t, root, c))
NUNATAK_TIMED(Reduce, (const void* a, void* b, int n, Type t, MPI_Op op, int root, MPI_Comm c),
              (a, b, n, t, op, root, c))
NUNATAK_TIMED(Allreduce, (const void* a, void* b, int n, Type t, MPI_Op op, MPI_Comm c),
              (a, b, n, t, op, c))
NUNATAK_TIMED(Allgather, (const void* a, int n, Type t, void* b, int m, Type u, MPI_Comm c),
              (a, n, t, b, m, u, c))
NUNATAK_TIMED(Allgatherv,
              (const void* a, int n, Type t, void* b, const int* m, const int* at, Type u,
               MPI_Comm c),
              (a, n, t, b, m, at, u, c))
NUNATAK_TIMED(Isend, (const void* a, int n, Type t, int to, int tag, MPI_Comm c, MPI_Request* r),
              (a, n, t, to, tag, c, r))
NUNATAK_TIMED(Startall, (int n, MPI_Request* r), (n, r))
NUNATAK_TIMED(Recv, (void* a, int n, Type t, int from, int tag, MPI_Comm c, MPI_Status* s),
              (a, n, t, from, tag, c, s))
NUNATAK_TIMED(Wait, (MPI_Request * r, MPI_Status* s), (r, s))
NUNATAK_TIMED(Waitall, (int n, MPI_Request* r, MPI_Status* s), (n, r, s))
NUNATAK_TIMED(Waitany, (int n, MPI_Request* r, int* which, MPI_Status* s), (n, r, which, s))
