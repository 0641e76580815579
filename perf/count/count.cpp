// libnunatak_count.so: what a program sends through MPI, as a CSV for perf/compare_counts.py, by
// the program's own parts. Preloaded; the program needs MPI, PETSc's events if it has parts, and no
// changes:
//
//   mpiexec -n 4 env LD_PRELOAD=libnunatak_count.so NUNATAK_COUNTS=c.csv nunatak -run_steps 3
//
//   part,linear,operation,calls,bytes,most_calls
//   stress balance: SSA,1,Allreduce,5812,93216,1453
//
//   part         the innermost of the open events whose name does not begin with a capital, as
//                those of PETSc do; "" outside
//   linear       1 within KSPSolve
//   operation    Message: sent, also by a persistent request (bytes: payload); Start: of a
//                persistent request to send; Wait: a call that waits; Communicator: one was made;
//                Solve: KSPSolve; else the collective (bytes: what a rank contributes, or gets in
//                a Scatter)
//   calls        of all ranks together; most_calls: of the rank with the largest number
//
// The functions below stand before those of MPI, and call them by their names PMPI_*. What has no
// function below is not seen: collectives that neither nunatak nor PETSc's solvers call, one-sided
// communication, MPI-4, and messages that a library of MPI sends for itself. MPI_Recv, MPI_Sendrecv
// and MPI_Test* are no Wait. In callgrind each piece of a part ends a dump, which is named
// "part,linear".
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#endif

namespace {

struct Count {
  std::int64_t calls = 0, bytes = 0, most_calls = 0;
};
using Key = std::tuple<std::string, int, std::string>; // part, linear, operation

std::map<int, std::string> parts; ///< events of the program: id -> name
std::vector<std::string> open = {""};
int solving = 0; ///< depth of KSPSolve
std::map<Key, Count> counts;
std::map<MPI_Request, std::int64_t> persistent; ///< bytes of those that send

std::int64_t bytes_of(std::int64_t n, MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) return 0;
  int size = 0;
  PMPI_Type_size(type, &size);
  return n * size;
}

int size_of(MPI_Comm communicator) {
  int size = 1;
  PMPI_Comm_size(communicator, &size);
  return size;
}
std::int64_t sum_over(MPI_Comm communicator, const int numbers[]) {
  return std::accumulate(numbers, numbers + size_of(communicator), std::int64_t{0});
}

void add(const char* operation, std::int64_t bytes = 0) {
  Count& count = counts[{open.back(), solving > 0 ? 1 : 0, operation}];
  count.calls += 1;
  count.bytes += bytes;
}
void add_start(MPI_Request request) {
  const auto found = persistent.find(request);
  if (found == persistent.end()) return;
  add("Start");
  add("Message", found->second);
}

/// Rank 0 writes the sums of all ranks.
void write() {
  std::ostringstream text;
  for (const auto& [key, count] : counts) {
    text << std::get<0>(key) << ',' << std::get<1>(key) << ',' << std::get<2>(key) << ','
         << count.calls << ',' << count.bytes << '\n';
  }
  std::string mine = text.str();
  int rank = 0, size = 1, length = static_cast<int>(mine.size());
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<int> lengths(static_cast<std::size_t>(size)), at(lengths.size() + 1);
  PMPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (std::size_t n = 0; n < lengths.size(); ++n) at[n + 1] = at[n] + lengths[n];
  std::string all(static_cast<std::size_t>(at.back()), ' ');
  PMPI_Gatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), at.data(), MPI_CHAR, 0,
               MPI_COMM_WORLD);
  const char* path = std::getenv("NUNATAK_COUNTS");
  if (rank != 0 || path == nullptr) return;
  std::map<std::string, Count> sums;
  std::istringstream lines(all);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t last = line.rfind(','), before = line.rfind(',', last - 1);
    const std::int64_t calls = std::atoll(line.c_str() + before + 1);
    Count& sum = sums[line.substr(0, before)];
    sum.calls += calls;
    sum.bytes += std::atoll(line.c_str() + last + 1);
    sum.most_calls = std::max(sum.most_calls, calls);
  }
  std::FILE* file = std::fopen(path, "w");
  if (file == nullptr) {
    std::fprintf(stderr, "libnunatak_count.so: cannot write '%s'\n", path);
    return;
  }
  std::fputs("part,linear,operation,calls,bytes,most_calls\n", file);
  for (const auto& [key, sum] : sums)
    std::fprintf(file, "%s,%lld,%lld,%lld\n", key.c_str(), static_cast<long long>(sum.calls),
                 static_cast<long long>(sum.bytes), static_cast<long long>(sum.most_calls));
  if (std::ferror(file) != 0 || std::fclose(file) != 0)
    std::fprintf(stderr, "libnunatak_count.so: cannot write '%s'\n", path);
}

// --- parts: PETSc calls two functions at the begin and end of events

using EventHook = int (*)(int, int, void*, void*, void*, void*);

template <class F> F* next(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}
bool is_solve(int event) {
  static const int* const id = static_cast<int*>(dlsym(RTLD_DEFAULT, "KSP_Solve"));
  return id != nullptr && event == *id;
}

/// What callgrind has counted since the last piece belongs to the open part.
void end_piece() {
#ifdef CALLGRIND_DUMP_STATS_AT
  if (RUNNING_ON_VALGRIND != 0) {
    const std::string name = open.back() + (solving > 0 ? ",1" : ",0");
    CALLGRIND_DUMP_STATS_AT(name.c_str());
  }
#endif
}

int begin_event(int event, int, void*, void*, void*, void*) {
  const auto part = parts.find(event);
  const bool is_part = part != parts.end(), is_linear = is_solve(event);
  if (is_part || is_linear) end_piece();
  if (is_part) open.push_back(part->second);
  if (is_linear && solving++ == 0) add("Solve");
  return 0;
}
int end_event(int event, int, void*, void*, void*, void*) {
  const bool is_part = parts.count(event) > 0, is_linear = is_solve(event);
  if (is_part || is_linear) end_piece();
  if (is_part && open.size() > 1) open.pop_back();
  if (is_linear) solving -= 1;
  return 0;
}

/// PETSc calls begin_event() and end_event() from now on: by PetscLogSet (3.18) or, where that is
/// gone (3.22), by another function, which may be called once.
int set_hooks() {
  static const auto set = next<int(EventHook, EventHook)>("PetscLogSet");
  if (set != nullptr) return set(begin_event, end_event);
  static const auto begin =
      next<int(EventHook, EventHook, void*, void*)>("PetscLogLegacyCallbacksBegin");
  constexpr int not_supported = 56; // PETSC_ERR_SUP
  static const int error =
      begin == nullptr ? not_supported : begin(begin_event, end_event, nullptr, nullptr);
  return error;
}

} // namespace

extern "C" {

int PetscLogEventRegister(const char* name, int id_of_class, int* event) {
  static const auto original = next<int(const char*, int, int*)>("PetscLogEventRegister");
  const int error = original(name, id_of_class, event);
  if (error != 0 || (name[0] >= 'A' && name[0] <= 'Z')) return error;
  std::string part = name;
  std::replace(part.begin(), part.end(), ',', ';');
  parts[*event] = part;
  return set_hooks();
}

int MPI_Finalize() {
  write();
  return PMPI_Finalize();
}

// --- messages

#define COUNTED_SEND(name)                                                                         \
  int MPI_##name(const void* a, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) {              \
    if (to != MPI_PROC_NULL) add("Message", bytes_of(n, t));                                       \
    return PMPI_##name(a, n, t, to, tag, c);                                                       \
  }
#define COUNTED_ISEND(name)                                                                        \
  int MPI_##name(const void* a, int n, MPI_Datatype t, int to, int tag, MPI_Comm c,                \
                 MPI_Request* r) {                                                                 \
    if (to != MPI_PROC_NULL) add("Message", bytes_of(n, t));                                       \
    return PMPI_##name(a, n, t, to, tag, c, r);                                                    \
  }
#define COUNTED_SEND_INIT(name)                                                                    \
  int MPI_##name(const void* a, int n, MPI_Datatype t, int to, int tag, MPI_Comm c,                \
                 MPI_Request* r) {                                                                 \
    const int error = PMPI_##name(a, n, t, to, tag, c, r);                                         \
    if (to != MPI_PROC_NULL) persistent[*r] = bytes_of(n, t);                                      \
    return error;                                                                                  \
  }
COUNTED_SEND(Send)
COUNTED_SEND(Ssend)
COUNTED_SEND(Rsend)
COUNTED_SEND(Bsend)
COUNTED_ISEND(Isend)
COUNTED_ISEND(Issend)
COUNTED_ISEND(Irsend)
COUNTED_SEND_INIT(Send_init)
COUNTED_SEND_INIT(Ssend_init)

int MPI_Start(MPI_Request* r) {
  add_start(*r);
  return PMPI_Start(r);
}
int MPI_Startall(int n, MPI_Request r[]) {
  for (int k = 0; k < n; ++k) add_start(r[k]);
  return PMPI_Startall(n, r);
}
int MPI_Request_free(MPI_Request* r) {
  persistent.erase(*r);
  return PMPI_Request_free(r);
}
int MPI_Sendrecv(const void* a, int n, MPI_Datatype t, int to, int tag, void* b, int m,
                 MPI_Datatype u, int from, int tag_b, MPI_Comm c, MPI_Status* s) {
  if (to != MPI_PROC_NULL) add("Message", bytes_of(n, t));
  return PMPI_Sendrecv(a, n, t, to, tag, b, m, u, from, tag_b, c, s);
}
int MPI_Sendrecv_replace(void* a, int n, MPI_Datatype t, int to, int tag, int from, int tag_b,
                         MPI_Comm c, MPI_Status* s) {
  if (to != MPI_PROC_NULL) add("Message", bytes_of(n, t));
  return PMPI_Sendrecv_replace(a, n, t, to, tag, from, tag_b, c, s);
}

// --- calls that wait, collectives, communicators

#define COUNTED(name, what, bytes, parameters, arguments)                                          \
  int MPI_##name parameters {                                                                      \
    add(what, bytes);                                                                              \
    return PMPI_##name arguments;                                                                  \
  }
using Type = MPI_Datatype;
using Comm = MPI_Comm;
using Request = MPI_Request;
using Status = MPI_Status;

COUNTED(Wait, "Wait", 0, (Request * r, Status* s), (r, s))
COUNTED(Waitall, "Wait", 0, (int n, Request r[], Status s[]), (n, r, s))
COUNTED(Waitany, "Wait", 0, (int n, Request r[], int* k, Status* s), (n, r, k, s))
COUNTED(Waitsome, "Wait", 0, (int n, Request r[], int* m, int k[], Status s[]), (n, r, m, k, s))

COUNTED(Barrier, "Barrier", 0, (Comm c), (c))
COUNTED(Ibarrier, "Ibarrier", 0, (Comm c, Request* r), (c, r))
COUNTED(Bcast, "Bcast", bytes_of(n, t), (void* a, int n, Type t, int root, Comm c),
        (a, n, t, root, c))
COUNTED(Reduce, "Reduce", bytes_of(n, t),
        (const void* a, void* b, int n, Type t, MPI_Op op, int root, Comm c),
        (a, b, n, t, op, root, c))
COUNTED(Allreduce, "Allreduce", bytes_of(n, t),
        (const void* a, void* b, int n, Type t, MPI_Op op, Comm c), (a, b, n, t, op, c))
COUNTED(Iallreduce, "Iallreduce", bytes_of(n, t),
        (const void* a, void* b, int n, Type t, MPI_Op op, Comm c, Request* r),
        (a, b, n, t, op, c, r))
COUNTED(Reduce_scatter, "Reduce_scatter", bytes_of(sum_over(c, m), t),
        (const void* a, void* b, const int m[], Type t, MPI_Op op, Comm c), (a, b, m, t, op, c))
COUNTED(Reduce_scatter_block, "Reduce_scatter", size_of(c) * bytes_of(n, t),
        (const void* a, void* b, int n, Type t, MPI_Op op, Comm c), (a, b, n, t, op, c))
COUNTED(Scan, "Scan", bytes_of(n, t), (const void* a, void* b, int n, Type t, MPI_Op op, Comm c),
        (a, b, n, t, op, c))
COUNTED(Exscan, "Scan", bytes_of(n, t), (const void* a, void* b, int n, Type t, MPI_Op op, Comm c),
        (a, b, n, t, op, c))
COUNTED(Gather, "Gather", bytes_of(n, t),
        (const void* a, int n, Type t, void* b, int m, Type u, int root, Comm c),
        (a, n, t, b, m, u, root, c))
COUNTED(Gatherv, "Gather", bytes_of(n, t),
        (const void* a, int n, Type t, void* b, const int m[], const int at[], Type u, int root,
         Comm c),
        (a, n, t, b, m, at, u, root, c))
COUNTED(Allgather, "Allgather", bytes_of(n, t),
        (const void* a, int n, Type t, void* b, int m, Type u, Comm c), (a, n, t, b, m, u, c))
COUNTED(Allgatherv, "Allgather", bytes_of(n, t),
        (const void* a, int n, Type t, void* b, const int m[], const int at[], Type u, Comm c),
        (a, n, t, b, m, at, u, c))
COUNTED(Alltoall, "Alltoall", bytes_of(n, t),
        (const void* a, int n, Type t, void* b, int m, Type u, Comm c), (a, n, t, b, m, u, c))
COUNTED(Alltoallv, "Alltoall",
        a == MPI_IN_PLACE ? bytes_of(sum_over(c, m), u) : bytes_of(sum_over(c, n), t),
        (const void* a, const int n[], const int at[], Type t, void* b, const int m[],
         const int b_at[], Type u, Comm c),
        (a, n, at, t, b, m, b_at, u, c))
COUNTED(Scatter, "Scatter", b == MPI_IN_PLACE ? 0 : bytes_of(m, u),
        (const void* a, int n, Type t, void* b, int m, Type u, int root, Comm c),
        (a, n, t, b, m, u, root, c))
COUNTED(Scatterv, "Scatter", b == MPI_IN_PLACE ? 0 : bytes_of(m, u),
        (const void* a, const int n[], const int at[], Type t, void* b, int m, Type u, int root,
         Comm c),
        (a, n, at, t, b, m, u, root, c))
COUNTED(Ibcast, "Bcast", bytes_of(n, t), (void* a, int n, Type t, int root, Comm c, Request* r),
        (a, n, t, root, c, r))
COUNTED(Iallgather, "Allgather", bytes_of(n, t),
        (const void* a, int n, Type t, void* b, int m, Type u, Comm c, Request* r),
        (a, n, t, b, m, u, c, r))
COUNTED(Ialltoall, "Alltoall", bytes_of(n, t),
        (const void* a, int n, Type t, void* b, int m, Type u, Comm c, Request* r),
        (a, n, t, b, m, u, c, r))

COUNTED(Comm_dup, "Communicator", 0, (Comm c, Comm* made), (c, made))
COUNTED(Comm_split, "Communicator", 0, (Comm c, int color, int key, Comm* made),
        (c, color, key, made))
COUNTED(Comm_idup, "Communicator", 0, (Comm c, Comm* made, Request* r), (c, made, r))
COUNTED(Comm_create_group, "Communicator", 0, (Comm c, MPI_Group g, int tag, Comm* made),
        (c, g, tag, made))
COUNTED(Comm_create, "Communicator", 0, (Comm c, MPI_Group g, Comm* made), (c, g, made))
COUNTED(Comm_split_type, "Communicator", 0, (Comm c, int type, int key, MPI_Info info, Comm* made),
        (c, type, key, info, made))
}
