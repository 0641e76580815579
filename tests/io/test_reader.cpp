// io/reader.hpp: values, attributes and errors, for every kind of NetCDF file, on every number of
// ranks, in all ways to read (read/options.hpp; see also test_reader_ways.cpp).
#include "io/reader.hpp"
#include "tests/io/scratch.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <netcdf.h>
#include <shared_data.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

using namespace nunatak;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr std::size_t Mt = 3, My = 5, Mx = 7;

double code(std::size_t t, std::size_t j, std::size_t i) {
  return 100.0 * static_cast<double>(t) + 10.0 * static_cast<double>(j) + static_cast<double>(i);
}

#define NC(call) REQUIRE((call) == NC_NOERR)

/// A small file with what a reader meets: records, packed and missing values, integers in floats,
/// text and numbers.
void write_example(const std::string& path, int mode) {
  int nc = 0, t = 0, y = 0, x = 0, v = 0, packed = 0, mask = 0, basins = 0, never = 0, big = 0,
      lonely = 0;
  const bool wide = (mode & NC_NETCDF4) != 0 || (mode & NC_64BIT_DATA) == NC_64BIT_DATA;
  NC(nc_create(path.c_str(), mode | NC_CLOBBER, &nc));
  NC(nc_def_dim(nc, "time", NC_UNLIMITED, &t));
  NC(nc_def_dim(nc, "y", My, &y));
  NC(nc_def_dim(nc, "x", Mx, &x));
  const int tyx[] = {t, y, x};
  NC(nc_def_var(nc, "thk", NC_DOUBLE, 3, tyx, &v));
  NC(nc_def_var(nc, "packed", NC_SHORT, 2, tyx + 1, &packed));
  NC(nc_def_var(nc, "mask", NC_BYTE, 2, tyx + 1, &mask));
  NC(nc_def_var(nc, "basins", NC_FLOAT, 2, tyx + 1, &basins));
  NC(nc_def_var(nc, "never", NC_DOUBLE, 2, tyx + 1, &never));
  NC(nc_def_var(nc, "lonely", NC_INT, 0, nullptr, &lonely));
  if (wide) NC(nc_def_var(nc, "big", NC_INT64, 1, &x, &big));
  const double scale = 0.5, offset = 10.0, levels[] = {1.0, 2.0};
  const short fill = -99;
  NC(nc_put_att_text(nc, v, "units", 1, "m"));
  NC(nc_put_att_double(nc, packed, "scale_factor", NC_DOUBLE, 1, &scale));
  NC(nc_put_att_double(nc, packed, "add_offset", NC_DOUBLE, 1, &offset));
  NC(nc_put_att_short(nc, packed, "_FillValue", NC_SHORT, 1, &fill));
  NC(nc_put_att_double(nc, NC_GLOBAL, "levels", NC_DOUBLE, 2, levels));
  NC(nc_put_att_text(nc, NC_GLOBAL, "title", 7, "example"));
  NC(nc_enddef(nc));
  for (std::size_t n = 0; n < Mt; ++n) {
    for (std::size_t j = 0; j < My; ++j) {
      for (std::size_t i = 0; i < Mx; ++i) {
        const std::size_t at3[] = {n, j, i}, at2[] = {j, i};
        const double value = code(n, j, i);
        const int label = static_cast<int>(j * Mx + i);
        NC(nc_put_var1_double(nc, v, at3, &value));
        if (n > 0) continue;
        const short stored = i == 2 ? fill : static_cast<short>(label);
        const int flag = label % 5 - 2;
        const float basin =
            i == 0 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(label);
        NC(nc_put_var1_short(nc, packed, at2, &stored));
        NC(nc_put_var1_int(nc, mask, at2, &flag));
        NC(nc_put_var1_float(nc, basins, at2, &basin));
      }
    }
  }
  const int one = 42;
  NC(nc_put_var_int(nc, lonely, &one));
  if (wide) {
    std::vector<long long> values(Mx, 4611686018427387905LL); // 2^62 + 1: no double holds it
    values[1] = NC_FILL_INT64;
    NC(nc_put_var_longlong(nc, big, values.data()));
  }
  NC(nc_close(nc));
}

/// Rows of this rank; none for ranks beyond the rows.
struct Rows {
  std::size_t start, count;
};
Rows my_rows() {
  const std::size_t rank = static_cast<std::size_t>(rank_in(MPI_COMM_WORLD)),
                    size = static_cast<std::size_t>(size_of(MPI_COMM_WORLD));
  const std::size_t first = My * rank / size, last = My * (rank + 1) / size;
  return {first, last - first};
}

struct Kind {
  const char* name;
  int mode;
};
io::ReadOptions any_way() {
  io::ReadOptions options;
  options.ranks_per_node = 2;
  options.by =
      GENERATE(io::ReadBy::each, io::ReadBy::serial, io::ReadBy::parallel, io::ReadBy::direct);
  return options;
}

const Kind kinds[] = {
    {"cdf1", 0}, {"cdf2", NC_64BIT_OFFSET}, {"cdf5", NC_64BIT_DATA}, {"netcdf4", NC_NETCDF4}};

} // namespace

TEST_CASE("every rank reads its block of every kind of file") {
  const io::ReadOptions options = any_way();
  INFO(io::word_of(options.by));
  const Scratch scratch;
  for (const Kind& kind : kinds) {
    INFO(kind.name);
    const std::string path = scratch / (std::string(kind.name) + ".nc");
    scratch.on_rank_0([&] { write_example(path, kind.mode); });
    const io::Reader in(path, MPI_COMM_WORLD, options);
    const Rows rows = my_rows();

    CHECK(in.records() == Mt);
    CHECK(in.length("x") == Mx);
    CHECK(in.has("thk"));
    CHECK_FALSE(in.has("topg"));
    CHECK(in.type("mask") == "byte");
    CHECK(in.text("thk", "units") == "m");
    CHECK(in.text("", "title") == "example");
    CHECK_FALSE(in.text("thk", "long_name"));
    CHECK(in.numbers("", "levels") == std::vector<double>{1.0, 2.0});
    CHECK(in.number("packed", "scale_factor") == 0.5);
    const auto axes = in.dimensions("thk");
    REQUIRE(axes.size() == 3);
    CHECK((axes[0].name == "time" && axes[0].unlimited && axes[0].length == Mt));
    CHECK((axes[2].name == "x" && !axes[2].unlimited && axes[2].length == Mx));

    for (std::size_t t = 0; t < Mt; ++t) {
      const auto thk = in.read_block("thk", {t, rows.start, 1}, {1, rows.count, Mx - 1});
      REQUIRE(thk.size() == rows.count * (Mx - 1));
      for (std::size_t n = 0; n < thk.size(); ++n)
        CHECK(thk[n] == code(t, rows.start + n / (Mx - 1), 1 + n % (Mx - 1)));
    }
    const auto last = in.read_record("thk", {rows.start, 0}, {rows.count, Mx});
    CHECK(last == in.read_block("thk", {Mt - 1, rows.start, 0}, {1, rows.count, Mx}));
    CHECK(in.read_record("thk", {rows.start, 0}, {rows.count, Mx}, 1) ==
          in.read_block("thk", {1, rows.start, 0}, {1, rows.count, Mx}));

    const auto packed = in.read_record("packed", {rows.start, 0}, {rows.count, Mx});
    const auto never = in.read_block("never", {rows.start, 0}, {rows.count, Mx});
    const auto mask = in.read_block_int("mask", {rows.start, 0}, {rows.count, Mx});
    const auto basins = in.read_block_int("basins", {rows.start, 0}, {rows.count, Mx}, -1);
    for (std::size_t n = 0; n < rows.count * Mx; ++n) {
      const std::size_t i = n % Mx;
      const int label = static_cast<int>((rows.start + n / Mx) * Mx + i);
      CHECK((i == 2 ? std::isnan(packed[n]) : packed[n] == 0.5 * label + 10.0));
      CHECK(std::isnan(never[n]));
      CHECK(mask[n] == label % 5 - 2);
      CHECK(basins[n] == (i == 0 ? -1 : label));
    }
    CHECK(in.read_all("lonely") == std::vector<double>{42.0});
    if (in.has("big")) {
      CHECK(in.read_block_int("big", {0}, {2}) ==
            std::vector<std::int64_t>{4611686018427387905LL, NC_FILL_INT64});
      CHECK(in.read_block_int("big", {0}, {2}, 7) ==
            std::vector<std::int64_t>{4611686018427387905LL, 7});
    }
  }
}

TEST_CASE("an error says what was expected and found, the same on every rank") {
  const io::ReadOptions options = any_way();
  INFO(io::word_of(options.by));
  const Scratch scratch;
  const std::string path = scratch / "example.nc";
  scratch.on_rank_0([&] { write_example(path, NC_64BIT_OFFSET); });
  const io::Reader in(path, MPI_COMM_WORLD, options);

  CHECK_THAT(message([&] {
               in.read_block("thj", {0, 0, 0}, {1, 1, 1});
             }),
             ContainsSubstring("did you mean 'thk'?") && ContainsSubstring(path));
  CHECK_THAT(message([&] {
               in.read_block("thk", {0, 0}, {1, 1});
             }),
             ContainsSubstring("expected 2 dimensions, found 3 (time = 3, y = 5, x = 7)"));
  CHECK_THAT(message([&] {
               in.read_block("mask", {0, 0}, {My + 1, Mx});
             }),
             ContainsSubstring("dimension 'y': expected at least 6 values, found 5"));
  CHECK_THAT(message([&] {
               in.read_block_int("basins", {0, 0}, {1, Mx});
             }),
             ContainsSubstring("expected whole numbers, found nan"));
  CHECK_THAT(message([&] {
               in.read_block_int("packed", {0, 0}, {1, Mx});
             }),
             ContainsSubstring("found a packed variable"));
  CHECK_THAT(message([&] { in.text("packed", "scale_factor"); }),
             ContainsSubstring("'packed:scale_factor': expected text, found 1 number"));
  CHECK_THAT(message([&] { in.numbers("thk", "units"); }),
             ContainsSubstring("'thk:units': expected numbers"));
  CHECK_THAT(message([&] { in.number("", "levels"); }),
             ContainsSubstring("expected one number, found 2"));
  CHECK_THAT(message([&] { in.length("lev"); }), ContainsSubstring("expected a dimension 'lev'"));

  // only the last rank asks for too much; all ranks throw its message
  const bool is_last = rank_in(MPI_COMM_WORLD) == size_of(MPI_COMM_WORLD) - 1;
  CHECK_THAT(message([&] {
               in.read_block("mask", {0, 0}, {is_last ? My + 4 : 1, Mx});
             }),
             ContainsSubstring("at least 9 values"));
}

TEST_CASE("files that are missing, foreign or truncated are refused") {
  const io::ReadOptions options = any_way();
  INFO(io::word_of(options.by));
  const Scratch scratch;
  const auto open = [&](const std::string& path) {
    return message([&] { io::Reader(path, MPI_COMM_WORLD, options); });
  };
  CHECK_THAT(open(scratch / "none.nc"), ContainsSubstring("none.nc': no such file"));
  CHECK_THAT(open(scratch.path()), ContainsSubstring("not a file"));
  scratch.on_rank_0([&] {
    std::ofstream(scratch / "text.nc") << "thk = 1, 2, 3\n";
    std::ofstream(scratch / "empty.nc");
  });
  CHECK_THAT(open(scratch / "text.nc"), ContainsSubstring("expected a complete NetCDF file"));
  CHECK_THAT(open(scratch / "empty.nc"), ContainsSubstring("expected a complete NetCDF file"));

  for (const Kind& kind : kinds) {
    const std::string path = scratch / (std::string(kind.name) + ".nc");
    scratch.on_rank_0([&] { write_example(path, kind.mode); });
    std::uintmax_t size = std::filesystem::file_size(path);
    MPI_Barrier(MPI_COMM_WORLD);
    // the last byte, half of the file, inside the header, inside the magic number
    for (const std::uintmax_t length :
         {size - 1, size / 2, std::uintmax_t{100}, std::uintmax_t{30}, std::uintmax_t{3}}) {
      INFO(kind.name << " cut from " << size << " to " << length << " bytes");
      scratch.on_rank_0([&] { std::filesystem::resize_file(path, length); });
      const std::string found = open(path);
      CHECK_THAT(found, ContainsSubstring(path));
      CHECK(found != "no error");
    }
  }
}

TEST_CASE("the real input file of Antarctica") {
  const io::ReadOptions options = any_way();
  INFO(io::word_of(options.by));
  const std::string path = std::string(NUNATAK_SHARED_DATA) + "/data/bedmap2_schmidtko14_50km.nc";
  if (!std::filesystem::exists(path)) SKIP("no " << path);
  const io::Reader in(path, MPI_COMM_WORLD, options);
  CHECK(in.length("x") == 120);
  const auto basins = in.read_block_int("basins", {0, 0}, {120, 120}, -1);
  CHECK(*std::max_element(basins.begin(), basins.end()) == 19);
}
