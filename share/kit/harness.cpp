// Runs a distance solver on the cases of a corpus; solver.cpp, an example, is where yours goes. See docs/tutorials/distance-solver.md.
//   mpicxx -O2 harness.cpp solver.cpp $(nc-config --cflags --libs) -o harness
//   mpiexec -n 4 ./harness [-ragged] answers cases/*.nc                          writes answers/*.nc, variable `distance`
#include "harness.hpp"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <netcdf.h>
#include <string>
#include <vector>

static bool ragged = false;

static void check(int status, const std::string& path) {
  if (status == NC_NOERR) return;
  std::fprintf(stderr, "harness: file '%s': %s\n", path.c_str(), nc_strerror(status));
  MPI_Abort(MPI_COMM_WORLD, 2);
}

/// Where the k-th of n patches begins in m cells.
static int begin(int m, int n, int k) {
  return ragged ? std::min(std::max(k, int(1LL * m * k * k / (n * n))), m - n + k) : int(1LL * m * k / n);
}

Patch patch(int My, int Mx) {
  int rank, size, P = 1, Q = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int q = 1; q * q <= size && q <= My; ++q)
    if (q * std::min(size / q, Mx) >= P * Q) P = std::min(size / q, Mx), Q = q;
  if (rank >= P * Q) return {0, 0, 0, 0, P, Q, -1, -1};
  const int p = rank % P, q = rank / P, ys = begin(My, Q, q), xs = begin(Mx, P, p);
  return {ys, begin(My, Q, q + 1) - ys, xs, begin(Mx, P, p + 1) - xs, P, Q, p, q};
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, file, variable, dims[2];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  ragged = argc > 1 && std::string(argv[1]) == "-ragged";
  for (int n = ragged ? 3 : 2; n < argc; ++n) {
    const std::string path = argv[n], to = argv[ragged ? 2 : 1] + ("/" + path.substr(path.rfind('/') + 1));
    size_t My, Mx;
    check(nc_open(path.c_str(), NC_NOWRITE, &file), path);
    check(nc_inq_varid(file, "mask", &variable), path), check(nc_inq_vardimid(file, variable, dims), path);
    check(nc_inq_dimlen(file, dims[0], &My), path), check(nc_inq_dimlen(file, dims[1], &Mx), path);
    std::vector<int> mask(My * Mx), d(My * Mx, INT_MIN);
    check(nc_get_var_int(file, variable, mask.data()), path), check(nc_close(file), path);
    distance(int(My), int(Mx), mask.data(), d.data());
    MPI_Allreduce(MPI_IN_PLACE, d.data(), int(d.size()), MPI_INT, MPI_MAX, MPI_COMM_WORLD); // each cell from its owner
    if (rank > 0) continue;
    check(nc_create(to.c_str(), NC_CLOBBER, &file), to);
    check(nc_def_dim(file, "y", My, &dims[0]), to), check(nc_def_dim(file, "x", Mx, &dims[1]), to);
    check(nc_def_var(file, "distance", NC_INT, 2, dims, &variable), to), check(nc_enddef(file), to);
    check(nc_put_var_int(file, variable, d.data()), to), check(nc_close(file), to);
  }
  MPI_Finalize();
}
