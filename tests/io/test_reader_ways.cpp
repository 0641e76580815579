// The ways to read (io/read/source.hpp) give the same values: all types and kinds of file, any
// decomposition, ranks without cells, calls of a few bytes; and what they do.
#include "io/data/box.hpp"
#include "io/read/reader.hpp"
#include "tests/io/scratch.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <netcdf.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

using namespace nunatak;

namespace {

using Sizes = std::vector<std::size_t>;
constexpr std::size_t Mt = 2, My = 7, Mx = 5, Mz = 3;

#define NC(call) REQUIRE((call) == NC_NOERR)

/// Says where it stands in the file, in a byte.
int code(std::size_t t, std::size_t j, std::size_t i, std::size_t k) {
  return static_cast<int>(((t * My + j) * Mx + i) * Mz + k) % 127;
}

struct Kind {
  const char* name;
  int mode;
  int n_types; // the classic five, or all ten
};
const Kind kinds[] = {{"cdf1", 0, 5},
                      {"cdf2", NC_64BIT_OFFSET, 5},
                      {"cdf5", NC_64BIT_DATA, 10},
                      {"netcdf4", NC_NETCDF4, 10}};
const nc_type types[] = {NC_BYTE,  NC_SHORT,  NC_INT,  NC_FLOAT, NC_DOUBLE,
                         NC_UBYTE, NC_USHORT, NC_UINT, NC_INT64, NC_UINT64};

/// v0, v1,...: one variable (time, y, x, z) of every type, `fixed` without; NetCDF-4 in chunks.
void write_all_types(const std::string& path, const Kind& kind) {
  int nc = 0, dims[4], fixed = 0;
  std::vector<int> ids(static_cast<std::size_t>(kind.n_types));
  NC(nc_create(path.c_str(), kind.mode | NC_CLOBBER, &nc));
  NC(nc_def_dim(nc, "time", NC_UNLIMITED, &dims[0]));
  NC(nc_def_dim(nc, "y", My, &dims[1]));
  NC(nc_def_dim(nc, "x", Mx, &dims[2]));
  NC(nc_def_dim(nc, "z", Mz, &dims[3]));
  for (std::size_t n = 0; n < ids.size(); ++n) {
    NC(nc_def_var(nc, ("v" + std::to_string(n)).c_str(), types[n], 4, dims, &ids[n]));
    const std::size_t chunk[] = {1, 4, 3, 3};
    if (kind.mode == NC_NETCDF4) NC(nc_def_var_chunking(nc, ids[n], NC_CHUNKED, chunk));
    if (kind.mode == NC_NETCDF4 && n % 2 == 0) NC(nc_def_var_deflate(nc, ids[n], 1, 1, 1));
  }
  NC(nc_def_var(nc, "fixed", NC_SHORT, 2, dims + 1, &fixed));
  NC(nc_enddef(nc));
  std::vector<int> values;
  for (std::size_t n = 0; n < Mt * My * Mx * Mz; ++n) values.push_back(static_cast<int>(n % 127));
  const std::size_t start[] = {0, 0, 0, 0}, count[] = {Mt, My, Mx, Mz};
  for (const int id : ids) NC(nc_put_vara_int(nc, id, start, count, values.data()));
  NC(nc_put_vara_int(nc, fixed, start + 1, count + 1, values.data()));
  NC(nc_close(nc));
}

io::ReadBy any_way() {
  return GENERATE(io::ReadBy::each, io::ReadBy::serial, io::ReadBy::parallel, io::ReadBy::direct);
}

/// What this rank reads, by the name of the decomposition.
struct Decomposition {
  const char* name;
  io::Box box;
};
std::vector<Decomposition> decompositions() {
  const auto rank = static_cast<std::size_t>(rank_in(MPI_COMM_WORLD)),
             size = static_cast<std::size_t>(size_of(MPI_COMM_WORLD));
  const auto first = [](std::size_t n, std::size_t part, std::size_t parts) {
    return n * part / parts;
  };
  const auto along = [&](std::size_t n, std::size_t part, std::size_t parts) {
    return std::pair(first(n, part, parts), first(n, part + 1, parts) - first(n, part, parts));
  };
  const std::size_t px = size % 2 == 0 ? 2 : 1, py = size / px;
  const auto [row, rows] = along(My, rank, size);
  const auto [column, columns] = along(Mx, rank, size); // with 6 ranks one has none
  const auto [y, ym] = along(My, rank / px, py);
  const auto [x, xm] = along(Mx, rank % px, px);
  const std::size_t ys = y - std::min<std::size_t>(y, 1), ye = std::min(My, y + ym + 1);
  const bool last = rank + 1 == size;
  return {{"rows", {{1, row, 0, 0}, {1, rows, Mx, Mz}}},
          {"columns", {{0, 0, column, 0}, {Mt, My, columns, Mz}}},
          {"boxes", {{0, y, x, 1}, {1, ym, xm, 2}}},
          {"boxes with ghosts", {{0, ys, 0, 0}, {2, ye - ys, Mx, Mz}}},
          {"all", {{0, 0, 0, 0}, {Mt, My, Mx, Mz}}},
          {"the last rank alone", {{0, 0, 0, 0}, {last ? Mt : 0, My, Mx, Mz}}},
          {"records", {{rank % Mt, 0, 0, 0}, {1, My, Mx, 1}}},
          {"none", {{Mt, My, Mx, Mz}, {0, 0, 0, 0}}}};
}

std::vector<double> expected(const io::Box& box) {
  std::vector<double> values;
  io::Indices n(4, 0);
  if (box.elements() == 0) return values;
  do
    values.push_back(
        code(box.start[0] + n[0], box.start[1] + n[1], box.start[2] + n[2], box.start[3] + n[3]));
  while (io::next_index(n, box.count));
  return values;
}

} // namespace

TEST_CASE("a box is cut into contiguous parts, in order, none too large") {
  const io::Box box{{4, 1, 0}, {2, 3, 5}};
  const auto sizes = [&](std::size_t limit) {
    Sizes elements;
    for (const io::Box& part : io::cut(box, limit)) elements.push_back(part.elements());
    return elements;
  };
  CHECK(sizes(29) == Sizes{15, 15});
  CHECK(sizes(14) == Sizes{10, 5, 10, 5});
  CHECK(sizes(3) == Sizes{3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2});
  CHECK(io::cut(box, 7)[5] == io::Box{{5, 3, 0}, {1, 1, 5}});
  CHECK(io::cut({{1, 2}, {0, 7}}, 100).empty());
  CHECK(io::cut({{}, {}}, 100).size() == 1); // a scalar
  CHECK(io::meet({{0, 2}, {3, 2}}, {{2, 1}, {5, 2}}) == io::Box{{2, 2}, {1, 1}});
  CHECK(io::meet({{0}, {3}}, {{3}, {2}}).elements() == 0);
  CHECK(io::hull({{0, 2}, {1, 2}}, {{2, 1}, {5, 2}}) == io::Box{{0, 1}, {7, 3}});
}

TEST_CASE("all ways to read give the same values") {
  const auto by = any_way();
  const Scratch scratch;
  for (const Kind& kind : kinds) {
    const std::string path = scratch / (std::string(kind.name) + ".nc");
    scratch.on_rank_0([&] { write_all_types(path, kind); });
    for (const std::size_t bytes :
         {std::size_t{1} << 20, std::size_t{100}}) { // 100: many calls, even rows are cut
      const bool few = bytes == 100; // enough: some boxes of doubles, in CDF-5 and NetCDF-4
      if (few && kind.n_types < 10) continue;
      io::ReadOptions options;
      options.by = by;
      options.call_bytes = options.slab_bytes = bytes;
      options.ranks_per_node = 2;
      const io::Reader in(path, MPI_COMM_WORLD, options);
      for (const auto& [name, box] : decompositions()) {
        const std::string which = name;
        if (few && which != "rows" && which != "boxes" && which != "the last rank alone") continue;
        const auto reals = expected(box);
        for (int n = 0; n < kind.n_types; ++n) {
          if (n != 4 && (few || which != "boxes"))
            continue; // all boxes of doubles, one of other types
          INFO(io::word_of(by) << ", " << kind.name << ", " << name << ", v" << n << ", calls of "
                               << bytes << " bytes");
          const std::string variable = "v" + std::to_string(n);
          CHECK(in.read_block(variable, box.start, box.count) == reals);
        }
        CHECK(in.read_all("fixed").back() == static_cast<double>(My * Mx - 1));
      }
    }
  }
}

TEST_CASE("the cost of a way to read is what it did") {
  const Scratch scratch;
  const std::string path = scratch / "cost.nc";
  scratch.on_rank_0([&] { write_all_types(path, kinds[2]); });
  const io::Box rows = decompositions()[0].box;
  const auto size = static_cast<std::int64_t>(size_of(MPI_COMM_WORLD));
  const auto cost = [&](io::ReadBy by, std::size_t bytes) {
    io::ReadOptions options;
    options.by = by;
    options.ranks_per_node = 2;
    options.call_bytes = options.slab_bytes = bytes;
    const io::Reader in(path, MPI_COMM_WORLD, options);
    CHECK(in.by() == by);
    in.read_block("v4", rows.start, rows.count); // one record of doubles
    const io::ReadSummary s = io::summarize(MPI_COMM_WORLD, in.statistics());
    CHECK((s.open.min > 0.0 && s.open.min <= s.open.mean && s.open.mean <= s.open.max));
    CHECK(s.bytes == 8 * My * Mx * Mz);
    if (by == io::ReadBy::serial && rank_in(MPI_COMM_WORLD) > 0) CHECK(in.statistics().bytes == 0);
    return s;
  };
  const std::size_t row = 8 * Mx * Mz, rows_of_0 = My / static_cast<std::size_t>(size);
  const std::int64_t with_rows = std::min<std::int64_t>(size, My);
  CHECK(cost(io::ReadBy::each, 1 << 20).operations == with_rows);
  CHECK(cost(io::ReadBy::each, row).operations == My);
  CHECK(cost(io::ReadBy::parallel, 1 << 20).operations == size);
  CHECK(cost(io::ReadBy::serial, 1 << 20).operations == 1);
  const io::ReadSummary serial = cost(io::ReadBy::serial, 2 * row);
  CHECK(serial.operations == (My + 1) / 2);
  CHECK(serial.sent_bytes == static_cast<std::int64_t>((My - rows_of_0) * row));

  CHECK(serial.openers == 1);
  CHECK(cost(io::ReadBy::each, 1 << 20).openers == size);
  const io::ReadSummary direct = cost(io::ReadBy::direct, 2 * row);
  CHECK(direct.operations == (My + 1) / 2);
  CHECK(direct.openers == (size + 1) / 2);
  CHECK(cost(io::ReadBy::direct, 1 << 20).operations == 1);

  CHECK(io::read_by("serial") == io::ReadBy::serial);
  CHECK_THROWS_AS(io::read_by("Serial"), Error);
}

TEST_CASE("a damaged chunk is an error on every rank, in every way") {
  const auto by = any_way();
  const Scratch scratch;
  const std::string path = scratch / "damaged.nc";
  constexpr std::size_t M = 4096;
  scratch.on_rank_0([&] { // two compressed chunks of noise; then a hole in the second
    int nc = 0, dim = 0, id = 0;
    const std::size_t chunk = M;
    std::vector<int> noise(2 * M);
    unsigned state = 1;
    for (int& v : noise) v = static_cast<int>(state = state * 1664525U + 1013904223U);
    NC(nc_create(path.c_str(), NC_NETCDF4 | NC_CLOBBER, &nc));
    NC(nc_def_dim(nc, "x", 2 * M, &dim));
    NC(nc_def_var(nc, "v", NC_INT, 1, &dim, &id));
    NC(nc_def_var_chunking(nc, id, NC_CHUNKED, &chunk));
    NC(nc_def_var_deflate(nc, id, 0, 1, 1));
    NC(nc_put_var_int(nc, id, noise.data()));
    NC(nc_close(nc));
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(path) - 2 * M));
    file << std::string(M / 4, '\0');
  });
  io::ReadOptions options;
  options.by = by;
  const io::Reader in(path, MPI_COMM_WORLD, options);
  const bool is_last = rank_in(MPI_COMM_WORLD) + 1 == size_of(MPI_COMM_WORLD);
  CHECK_NOTHROW(in.read_block("v", {0}, {M}));
  CHECK_THROWS_AS(in.read_block("v", {is_last ? M : 0}, {M}), Error);
  CHECK_NOTHROW(in.read_block("v", {0}, {M}));
}

TEST_CASE("a classic file is opened on one rank of each node") {
  const Scratch scratch;
  const std::string path = scratch / "opens.nc";
  scratch.on_rank_0([&] { write_all_types(path, kinds[2]); });
  const int size = size_of(MPI_COMM_WORLD), per_node = GENERATE(1, 2, 3, 6);
  io::ReadOptions options;
  options.ranks_per_node = per_node;
  options.slab_bytes = 100; // all readers have a part
  const io::Reader in(path, MPI_COMM_WORLD, options);
  const bool is_one = size <= per_node;
  CHECK(in.by() == (is_one ? io::ReadBy::each : io::ReadBy::direct));
  for (const auto& [name, box] : decompositions()) in.read_block("v4", box.start, box.count);
  CHECK(in.statistics().openers == (is_one || rank_in(MPI_COMM_WORLD) % per_node == 0 ? 1 : 0));
}
