#include "miniapp/model/communication.hpp"

#include <dlfcn.h>
#include <mpi.h>

namespace nunatak {

namespace {

thread_local Seconds in_mpi; // of other threads: not asked for
thread_local int depth = 0;  // MPI calls itself, for example in MPI_Comm_dup

class InMpi {
public:
  InMpi() : m_begin(depth++ == 0 ? Seconds::now() : Seconds{}) {}
  ~InMpi() {
    if (--depth == 0) in_mpi += Seconds::now() - m_begin;
  }
  InMpi(const InMpi&) = delete;
  InMpi& operator=(const InMpi&) = delete;

private:
  Seconds m_begin;
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
using Comm = MPI_Comm;
using Request = MPI_Request;
using Status = MPI_Status;

NUNATAK_TIMED(Barrier, (Comm c), (c))
NUNATAK_TIMED(Bcast, (void* a, int n, Type t, int root, Comm c), (a, n, t, root, c))
NUNATAK_TIMED(Reduce, (const void* a, void* b, int n, Type t, MPI_Op op, int root, Comm c),
              (a, b, n, t, op, root, c))
NUNATAK_TIMED(Allreduce, (const void* a, void* b, int n, Type t, MPI_Op op, Comm c),
              (a, b, n, t, op, c))
NUNATAK_TIMED(Gather, (const void* a, int n, Type t, void* b, int m, Type u, int root, Comm c),
              (a, n, t, b, m, u, root, c))
NUNATAK_TIMED(Gatherv,
              (const void* a, int n, Type t, void* b, const int* m, const int* at, Type u, int root,
               Comm c),
              (a, n, t, b, m, at, u, root, c))
NUNATAK_TIMED(Allgather, (const void* a, int n, Type t, void* b, int m, Type u, Comm c),
              (a, n, t, b, m, u, c))
NUNATAK_TIMED(Allgatherv,
              (const void* a, int n, Type t, void* b, const int* m, const int* at, Type u, Comm c),
              (a, n, t, b, m, at, u, c))
NUNATAK_TIMED(Alltoall, (const void* a, int n, Type t, void* b, int m, Type u, Comm c),
              (a, n, t, b, m, u, c))
NUNATAK_TIMED(Send, (const void* a, int n, Type t, int to, int tag, Comm c), (a, n, t, to, tag, c))
NUNATAK_TIMED(Recv, (void* a, int n, Type t, int from, int tag, Comm c, Status* s),
              (a, n, t, from, tag, c, s))
NUNATAK_TIMED(Wait, (Request * r, Status* s), (r, s))
NUNATAK_TIMED(Waitall, (int n, Request* r, Status* s), (n, r, s))
NUNATAK_TIMED(Waitany, (int n, Request* r, int* which, Status* s), (n, r, which, s))
NUNATAK_TIMED(Comm_dup, (Comm c, Comm* made), (c, made))
NUNATAK_TIMED(Comm_split, (Comm c, int colour, int key, Comm* made), (c, colour, key, made))
