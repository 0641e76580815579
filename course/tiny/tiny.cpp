// tiny: an ice sheet on many ranks in one file. It is small enough to be read in an hour, and its
// result equals that of nunatak to round-off (check.py). Built without CMake:
//
//   mpicxx -O2 tiny.cpp -o tiny -lpnetcdf                        its own decomposition and halo
//   mpicxx -O2 -DTINY_DMDA tiny.cpp -o tiny-dmda -lpnetcdf $(pkg-config --cflags --libs PETSc)
//   mpiexec -n 4 ./tiny -dx 80 -years 1000 -o tiny.nc
//   python3 picture.py tiny.nc tiny.png
//
// The ice (thickness H, m) rests on flat land and flows by shearing (SIA; Mahaffy 1976):
//
//   dH/dt = -div q,   q = -D grad H,   D = Gamma H^5 |grad H|^2,   Gamma = 2 A (rho g)^3/5
//
// It starts as Halfar's dome (1983) on a square of 2400 km. A rank owns ym x xm of the M x M
// points, at the indices 1..ym and 1..xm of its arrays, in a frame of ghosts:
//
//   ym+1   g g g g g     Fluxes lie on faces: q_x(j, i) between (j, i) and (j, i + 1), q_y(j, i)
//          g . . . g     between (j, i) and (j + 1, i). The slope along a face is a mean of four
//      1   g . . . g     differences, so corners of the frame are read, too.
//      0   g g g g g
//          0 1     xm+1
//
// Exercises are marked; `scripts/lab.py start 11 FOLDER` gives the file with holes in their place.
#include <mpi.h>
#include <pnetcdf.h>
#ifdef TINY_DMDA
#include <petscdmda.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

constexpr double year = 31556926.0; // s
constexpr double rho_g = 910.0 * 9.81, A = 3.1689e-24;
constexpr double Gamma = 2.0 * A * rho_g * rho_g * rho_g / 5.0; // m-3 s-1
constexpr double half_width = 1200e3;                           // m

struct Options {
  double dx = 80e3, years = 1000.0; // m, a
  int px = 0;                       // ranks along x; 0: as square as possible
  std::string write = "collective", file = "tiny.nc";
  bool check = false;
};

[[noreturn]] void stop(const std::string& message) {
  std::fprintf(stderr, "tiny: %s\n", message.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

Options read_options(int argc, char** argv) {
  Options o;
  for (int n = 1; n < argc; ++n) {
    const std::string name = argv[n];
    if (name == "-check") {
      o.check = true;
      continue;
    }
    if (n + 1 == argc) stop("option " + name + ": expected a value, found none");
    const std::string value = argv[++n];
    if (name == "-dx")
      o.dx = 1e3 * std::atof(value.c_str());
    else if (name == "-years")
      o.years = std::atof(value.c_str());
    else if (name == "-px")
      o.px = std::atoi(value.c_str());
    else if (name == "-write")
      o.write = value;
    else if (name == "-o")
      o.file = value;
    else
      stop("expected -dx KM, -years N, -px N, -write METHOD, -o FILE or -check, found " + name);
  }
  if (o.dx < 1e3 || o.dx > half_width) stop("option -dx: expected 1 to 1200 km");
  if (o.write != "serial" && o.write != "collective" && o.write != "direct")
    stop("option -write: expected serial, collective or direct, found " + o.write);
  return o;
}

/// Which part of the grid this rank owns: rows ys..ys+ym-1, columns xs..xs+xm-1; its neighbours.
struct Grid {
  int rank = 0, size = 1, px = 1, py = 1; // rank = row of ranks * px + column of ranks
  int M = 0, ys = 0, ym = 0, xs = 0, xm = 0;
  int west = MPI_PROC_NULL, east = MPI_PROC_NULL, south = MPI_PROC_NULL, north = MPI_PROC_NULL;
  double dx = 0.0; // m
#ifdef TINY_DMDA
  DM dm = nullptr;
  Vec global = nullptr, local = nullptr;
#endif
  double coordinate(int n) const { return -half_width + n * dx; } // m
};

/// An array of the owned cells and their ghosts; a(j, i), i is fastest.
struct Field {
  explicit Field(const Grid& g)
      : row(g.xm + 2), values(static_cast<std::size_t>(g.ym + 2) * row, 0.0) {}
  double& operator()(int j, int i) { return values[static_cast<std::size_t>(j) * row + i]; }
  const double& operator()(int j, int i) const {
    return values[static_cast<std::size_t>(j) * row + i];
  }
  std::size_t row;
  std::vector<double> values;
};

/// What a rank does, counted, and the seconds that it takes.
struct Counts {
  long steps = 0, messages = 0, reductions = 0, faces = 0, calls = 0; // faces with ice; writes
  double bytes = 0.0, gathered = 0.0;                                 // sent; sent to the writer
  double compute = 0.0, halo = 0.0, reduce = 0.0, write = 0.0;        // s
};

/// Adds the seconds of a block to a sum.
struct Timer {
  explicit Timer(double& to) : sum(to), begin(MPI_Wtime()) {}
  ~Timer() { sum += MPI_Wtime() - begin; }
  double &sum, begin;
};

// --- decomposition and halo -------------------------------------------------------------------

Grid uncut_grid(const Options& o) {
  Grid g;
  MPI_Comm_rank(MPI_COMM_WORLD, &g.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &g.size);
  g.M = static_cast<int>(std::lround(2.0 * half_width / o.dx)) + 1;
  g.dx = o.dx;
  return g;
}

#ifndef TINY_DMDA

/// The first of part n of `length` points in `parts` parts; the first parts are one longer.
int first_of(int length, int parts, int n) {
  return n * (length / parts) + std::min(n, length % parts);
}

Grid make_grid(const Options& o) {
  Grid g = uncut_grid(o);
  int parts[2] = {0, o.px};
  MPI_Dims_create(g.size, 2, parts);
  g.py = parts[0];
  g.px = parts[1];
  const int row = g.rank / g.px, column = g.rank % g.px;
  g.ys = first_of(g.M, g.py, row);
  g.ym = first_of(g.M, g.py, row + 1) - g.ys;
  g.xs = first_of(g.M, g.px, column);
  g.xm = first_of(g.M, g.px, column + 1) - g.xs;
  if (g.ym == 0 || g.xm == 0) stop("expected no more ranks than points along x and y");
  if (column > 0) g.west = g.rank - 1;
  if (column < g.px - 1) g.east = g.rank + 1;
  if (row > 0) g.south = g.rank - g.px;
  if (row < g.py - 1) g.north = g.rank + g.px;
  return g;
}

/// Fills the ghosts with the neighbours' cells; those beyond the edge of the grid keep their
/// values. Columns go first, then rows with the ghosts at their ends: corners need no messages of
/// their own, but the rows have to wait for the columns.
void fill_ghosts(const Grid& g, Field& a, Counts& counts) {
  const Timer timer(counts.halo);
  // lab 11 begin: columns, then rows | stub: stop("lab 11: not written yet");
  MPI_Datatype column;
  MPI_Type_vector(g.ym, 1, g.xm + 2, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  const auto pass = [](double* from, int to_rank, double* to, int from_rank, int n,
                       MPI_Datatype type) {
    MPI_Sendrecv(from, n, type, to_rank, 0, to, n, type, from_rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  };
  pass(&a(1, 1), g.west, &a(1, g.xm + 1), g.east, 1, column);
  pass(&a(1, g.xm), g.east, &a(1, 0), g.west, 1, column);
  pass(&a(1, 0), g.south, &a(g.ym + 1, 0), g.north, g.xm + 2, MPI_DOUBLE);
  pass(&a(g.ym, 0), g.north, &a(0, 0), g.south, g.xm + 2, MPI_DOUBLE);
  MPI_Type_free(&column);
  // lab 11 end
  for (const int neighbour : {g.west, g.east}) {
    counts.messages += neighbour != MPI_PROC_NULL;
    counts.bytes += neighbour != MPI_PROC_NULL ? 8.0 * g.ym : 0.0;
  }
  for (const int neighbour : {g.south, g.north}) {
    counts.messages += neighbour != MPI_PROC_NULL;
    counts.bytes += neighbour != MPI_PROC_NULL ? 8.0 * (g.xm + 2) : 0.0;
  }
}

#else // the same by PETSc: a DMDA cuts the grid and knows the neighbours

Grid make_grid(const Options& o) {
  Grid g = uncut_grid(o);
  DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_GHOSTED, DM_BOUNDARY_GHOSTED, DMDA_STENCIL_BOX, g.M,
               g.M, o.px > 0 ? o.px : PETSC_DECIDE, PETSC_DECIDE, 1, 1, nullptr, nullptr, &g.dm);
  DMSetUp(g.dm);
  DMCreateGlobalVector(g.dm, &g.global);
  DMDAGetCorners(g.dm, &g.xs, &g.ys, nullptr, &g.xm, &g.ym, nullptr);
  DMDAGetInfo(g.dm, nullptr, nullptr, nullptr, nullptr, &g.px, &g.py, nullptr, nullptr, nullptr,
              nullptr, nullptr, nullptr, nullptr);
  VecCreateSeqWithArray(PETSC_COMM_SELF, 1, (g.ym + 2) * (g.xm + 2), nullptr, &g.local);
  return g;
}

/// Owned cells go into a global vector, whose ghosts PETSc fetches. A local vector borrows the
/// array. PETSc does not count what it sends here.
void fill_ghosts(const Grid& g, Field& a, Counts& counts) {
  const Timer timer(counts.halo);
  VecPlaceArray(g.local, a.values.data());
  DMLocalToGlobal(g.dm, g.local, INSERT_VALUES, g.global);
  DMGlobalToLocal(g.dm, g.global, INSERT_VALUES, g.local);
  VecResetArray(g.local);
}

#endif

/// Exchanges the cells' numbers in the grid and looks at every ghost; returns how many are wrong.
int check_ghosts(const Grid& g) {
  Counts counts;
  Field a(g);
  for (int j = 1; j <= g.ym; ++j) {
    for (int i = 1; i <= g.xm; ++i) a(j, i) = (g.ys + j - 1) * g.M + g.xs + i - 1;
  }
  fill_ghosts(g, a, counts);
  int wrong = 0;
  for (int j = 0; j <= g.ym + 1; ++j) {
    for (int i = 0; i <= g.xm + 1; ++i) {
      const int J = g.ys + j - 1, I = g.xs + i - 1; // in the grid
      if (J < 0 || I < 0 || J >= g.M || I >= g.M || a(j, i) == J * g.M + I) continue;
      const std::string direction = std::string(j == 0     ? "south"
                                                : j > g.ym ? "north"
                                                           : "") +
                                    (i == 0     ? "west"
                                     : i > g.xm ? "east"
                                                : "");
      if (wrong++ < 3)
        std::fprintf(stderr, "rank %d, cell (j %d, i %d), %s: expected %d, found %g\n", g.rank, j,
                     i, direction.empty() ? "its own" : ("from the " + direction).c_str(),
                     J * g.M + I, a(j, i));
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return wrong;
}

// --- the ice ----------------------------------------------------------------------------------

/// Halfar's dome: H = 3600 m (1 - (r/750 km)^(4/3))^(3/7).
void start(const Grid& g, Field& H) {
  for (int j = 1; j <= g.ym; ++j) {
    for (int i = 1; i <= g.xm; ++i) {
      const double r = std::hypot(g.coordinate(g.xs + i - 1), g.coordinate(g.ys + j - 1)) / 750e3;
      H(j, i) = r < 1.0 ? 3600.0 * std::pow(1.0 - std::pow(r, 4.0 / 3.0), 3.0 / 7.0) : 0.0;
    }
  }
}

/// Flux (m2 s-1) through the face between cells of thickness H_a and H_b, from a to b if positive.
/// s: slope across the face, t: along it. D_max: the largest diffusivity so far, m2 s-1.
double flux(double H_a, double H_b, double s, double t, double& D_max) {
  const double H = 0.5 * (H_a + H_b);
  const double D = Gamma * (H * H * H * H * H) * (s * s + t * t);
  D_max = std::max(D_max, D);
  return -D * s;
}

/// Fluxes on all faces of the owned cells. Needs ghosts of H, those at corners as well. Both ranks
/// of a boundary compute its faces, so that fluxes are not sent. Returns the largest diffusivity.
double fluxes(const Grid& g, const Field& H, Field& q_x, Field& q_y, Counts& counts) {
  const Timer timer(counts.compute);
  double D_max = 0.0;
  // lab 11 begin: q_x and q_y of all faces, by flux() | stub: stop("lab 11: not written yet");
  for (int j = 1; j <= g.ym; ++j) {
    for (int i = 0; i <= g.xm; ++i) { // exercise: OpenMP or Kokkos; D_max is then a reduction
      q_x(j, i) = 0.0;
      if (H(j, i) == 0.0 && H(j, i + 1) == 0.0) continue; // bare land costs nothing
      const double s = (H(j, i + 1) - H(j, i)) / g.dx;
      const double t = (H(j + 1, i) - H(j - 1, i) + H(j + 1, i + 1) - H(j - 1, i + 1)) / (4 * g.dx);
      q_x(j, i) = flux(H(j, i), H(j, i + 1), s, t, D_max);
      counts.faces += 1;
    }
  }
  for (int j = 0; j <= g.ym; ++j) {
    for (int i = 1; i <= g.xm; ++i) {
      q_y(j, i) = 0.0;
      if (H(j, i) == 0.0 && H(j + 1, i) == 0.0) continue;
      const double s = (H(j + 1, i) - H(j, i)) / g.dx;
      const double t = (H(j, i + 1) - H(j, i - 1) + H(j + 1, i + 1) - H(j + 1, i - 1)) / (4 * g.dx);
      q_y(j, i) = flux(H(j, i), H(j + 1, i), s, t, D_max);
      counts.faces += 1;
    }
  }
  // lab 11 end
  return D_max;
}

/// Seconds of a step: r = 0.12 of what diffusion allows, in two equal steps before the end.
double step_length(const Grid& g, double D_max, double left, Counts& counts) {
  const Timer timer(counts.reduce);
  MPI_Allreduce(MPI_IN_PLACE, &D_max, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  counts.reductions += 1;
  const double stable = D_max > 0.0 ? 2.0 * 0.12 / (D_max * (2.0 / (g.dx * g.dx))) : left;
  return stable >= left ? left : stable > 0.5 * left ? 0.5 * left : stable;
}

void move_ice(const Grid& g, double dt, const Field& q_x, const Field& q_y, Field& H,
              Counts& counts) {
  const Timer timer(counts.compute);
  for (int j = 1; j <= g.ym; ++j) {
    for (int i = 1; i <= g.xm; ++i) {
      H(j, i) += dt / g.dx * ((q_x(j, i - 1) - q_x(j, i)) + (q_y(j - 1, i) - q_y(j, i)));
      if (H(j, i) < 0.0) stop("expected H >= 0 at each cell, found less: the step is too long");
    }
  }
}

// --- output -----------------------------------------------------------------------------------

void must(int status, const std::string& what) {
  if (status != NC_NOERR) stop(what + ": " + ncmpi_strerror(status));
}

/// The owned cells of H, row by row, without ghosts.
std::vector<double> owned(const Grid& g, const Field& H) {
  std::vector<double> cells;
  for (int j = 1; j <= g.ym; ++j) cells.insert(cells.end(), &H(j, 1), &H(j, 1) + g.xm);
  return cells;
}

/// Rank 0 receives the cells of all ranks, one rank after the other, and writes them.
/// exercise: rank 0 may hold one rank's cells at a time only; how much memory does it need then?
void gather_and_write(const Grid& g, int file, int variable, const std::vector<double>& mine,
                      Counts& counts) {
  const int box[4] = {g.ys, g.xs, g.ym, g.xm};
  if (g.rank > 0) {
    MPI_Send(box, 4, MPI_INT, 0, 1, MPI_COMM_WORLD);
    MPI_Send(mine.data(), g.ym * g.xm, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD);
    counts.gathered += 8.0 * static_cast<double>(mine.size());
    return;
  }
  std::vector<double> map(static_cast<std::size_t>(g.M) * g.M), cells = mine;
  for (int r = 0; r < g.size; ++r) {
    int b[4] = {g.ys, g.xs, g.ym, g.xm};
    if (r > 0) {
      MPI_Recv(b, 4, MPI_INT, r, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      cells.resize(static_cast<std::size_t>(b[2]) * b[3]);
      MPI_Recv(cells.data(), b[2] * b[3], MPI_DOUBLE, r, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int j = 0; j < b[2]; ++j)
      std::copy_n(&cells[static_cast<std::size_t>(j) * b[3]], b[3],
                  &map[static_cast<std::size_t>(b[0] + j) * g.M + b[1]]);
  }
  must(ncmpi_begin_indep_data(file), "begin of independent writes");
  must(ncmpi_put_var_double(file, variable, map.data()), "thk");
  must(ncmpi_end_indep_data(file), "end of independent writes");
  counts.calls += 1;
}

/// Each rank writes its rows where they belong: a classic file is a header, and then the values in
/// the order of the dimensions, big-endian.
void write_rows(const Grid& g, const std::string& path, MPI_Offset begin,
                const std::vector<double>& mine, Counts& counts) {
  const int file = open(path.c_str(), O_WRONLY);
  if (file < 0) stop(path + ": cannot open it");
  std::vector<std::uint64_t> words(mine.size());
  std::memcpy(words.data(), mine.data(), 8 * mine.size());
  for (std::uint64_t& word : words) word = __builtin_bswap64(word); // from a little-endian machine
  for (int j = 0; j < g.ym; ++j) {
    const off_t at = begin + 8 * (static_cast<off_t>(g.ys + j) * g.M + g.xs);
    if (pwrite(file, &words[static_cast<std::size_t>(j) * g.xm], 8 * g.xm, at) != 8 * g.xm)
      stop(path + ": cannot write " + std::to_string(8 * g.xm) + " bytes");
    counts.calls += 1;
  }
  if (fsync(file) != 0 || close(file) != 0) stop(path + ": expected it to be on disk");
}

/// The file: y, x (m) and thk(y, x) (m), in the format CDF-2.
void write(const Grid& g, const Options& o, const Field& H, Counts& counts) {
  const Timer timer(counts.write);
  int file = 0, dims[2], y = 0, x = 0, thk = 0;
  must(ncmpi_create(MPI_COMM_WORLD, o.file.c_str(), NC_CLOBBER | NC_64BIT_OFFSET, MPI_INFO_NULL,
                    &file),
       o.file);
  ncmpi_def_dim(file, "y", g.M, &dims[0]);
  ncmpi_def_dim(file, "x", g.M, &dims[1]);
  ncmpi_def_var(file, "y", NC_DOUBLE, 1, &dims[0], &y);
  ncmpi_def_var(file, "x", NC_DOUBLE, 1, &dims[1], &x);
  ncmpi_def_var(file, "thk", NC_DOUBLE, 2, dims, &thk);
  for (const int variable : {y, x, thk}) ncmpi_put_att_text(file, variable, "units", 1, "m");
  ncmpi_put_att_text(file, thk, "standard_name", 18, "land_ice_thickness");
  must(ncmpi_enddef(file), o.file + ": header");
  std::vector<double> axis;
  for (int n = 0; n < g.M; ++n) axis.push_back(g.coordinate(n));
  must(ncmpi_put_var_double_all(file, y, axis.data()), "y");
  must(ncmpi_put_var_double_all(file, x, axis.data()), "x");
  const std::vector<double> mine = owned(g, H);
  MPI_Offset begin = 0;
  ncmpi_inq_varoffset(file, thk, &begin);
  if (o.write == "serial") gather_and_write(g, file, thk, mine, counts);
  if (o.write == "collective") { // all ranks in one call; MPI-IO may exchange cells among them
    const MPI_Offset first[2] = {g.ys, g.xs}, count[2] = {g.ym, g.xm};
    must(ncmpi_put_vara_double_all(file, thk, first, count, mine.data()), "thk");
    counts.calls += 1;
  }
  must(ncmpi_close(file), o.file);
  MPI_Barrier(MPI_COMM_WORLD); // the header is there
  if (o.write == "direct") write_rows(g, o.file, begin, mine, counts);
}

// --- the report -------------------------------------------------------------------------------

/// Sum and maximum over ranks, on rank 0.
void row(const Grid& g, const char* name, double mine) {
  double sum = 0.0, most = 0.0;
  MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  const double mean = sum / g.size;
  if (g.rank == 0)
    std::printf("%-24s %14.8g %14.8g %8.3f\n", name, sum, most, mean > 0.0 ? most / mean : 1.0);
}

void report(const Grid& g, const Options& o, const Counts& c, const Field& H) {
  double volume = 0.0;
  for (const double cell : owned(g, H)) volume += cell * g.dx * g.dx / 1e9;
  if (g.rank == 0)
    std::printf("%d x %d points, %d x %d ranks, %ld steps, %ld reductions\n%-24s %14s %14s %8s\n",
                g.M, g.M, g.px, g.py, c.steps, c.reductions, "", "sum", "largest", "/ mean");
  row(g, "volume, km3", volume);
  row(g, "faces with ice", static_cast<double>(c.faces));
  row(g, "messages of halos", static_cast<double>(c.messages));
  row(g, "their bytes", c.bytes);
  row(g, ("writes, " + o.write).c_str(), static_cast<double>(c.calls));
  row(g, "bytes sent to a writer", c.gathered);
  row(g, "seconds computing", c.compute);
  row(g, "seconds in halos", c.halo);
  row(g, "seconds in reductions", c.reduce); // here ranks wait for the slowest
  row(g, "seconds writing", c.write);
}

int run(const Options& o) {
  const Grid g = make_grid(o);
  if (o.check) {
    const int wrong = check_ghosts(g);
    if (g.rank == 0) std::printf("%d ghosts are wrong on %d x %d ranks\n", wrong, g.px, g.py);
    return wrong > 0;
  }
  Field H(g), q_x(g), q_y(g);
  Counts counts;
  start(g, H);
  double left = o.years * year;
  while (left > 0.0) {
    fill_ghosts(g, H, counts);
    const double D_max = fluxes(g, H, q_x, q_y, counts);
    const double dt = step_length(g, D_max, left, counts);
    move_ice(g, dt, q_x, q_y, H, counts);
    left = dt < left ? left - dt : 0.0;
    counts.steps += 1;
  }
  write(g, o, H, counts);
  report(g, o, counts, H);
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Options options = read_options(argc, argv);
#ifdef TINY_DMDA
  PetscInitializeNoArguments();
#endif
  const int status = run(options);
#ifdef TINY_DMDA
  PetscFinalize();
#endif
  MPI_Finalize();
  return status;
}
