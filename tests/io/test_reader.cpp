// io/read/reader.hpp: values, attributes and errors, for every kind of NetCDF file, on every number
// of ranks, in all ways to read (read/source.hpp; see also test_reader_ways.cpp).
#include "io/read/reader.hpp"
#include "tests/io/scratch.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <netcdf.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <sstream>

using namespace nunatak;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr std::size_t Mt = 3, My = 5, Mx = 7;

double code(std::size_t t, std::size_t j, std::size_t i) {
  return 100.0 * static_cast<double>(t) + 10.0 * static_cast<double>(j) + static_cast<double>(i);
}

#define NC(call) REQUIRE((call) == NC_NOERR)

/// A small file with what a reader meets: records, packed and missing values, integers in floats.
void write_example(const std::string& path, int mode) {
  int nc = 0, t = 0, y = 0, x = 0, v = 0, packed = 0, mask = 0, basins = 0, never = 0, lonely = 0;
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
  NC(nc_close(nc));
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
    const Part rows = my_part(My);

    CHECK(in.records() == Mt);
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
      const auto thk = in.read_block("thk", {t, rows.first, 1}, {1, rows.count, Mx - 1});
      REQUIRE(thk.size() == rows.count * (Mx - 1));
      for (std::size_t n = 0; n < thk.size(); ++n)
        CHECK(thk[n] == code(t, rows.first + n / (Mx - 1), 1 + n % (Mx - 1)));
    }
    const auto last = in.read_record("thk", {rows.first, 0}, {rows.count, Mx});
    CHECK(last == in.read_block("thk", {Mt - 1, rows.first, 0}, {1, rows.count, Mx}));
    CHECK(in.read_record("thk", {rows.first, 0}, {rows.count, Mx}, 1) ==
          in.read_block("thk", {1, rows.first, 0}, {1, rows.count, Mx}));

    const auto packed = in.read_record("packed", {rows.first, 0}, {rows.count, Mx});
    const auto never = in.read_block("never", {rows.first, 0}, {rows.count, Mx});
    const auto mask = in.read_block("mask", {rows.first, 0}, {rows.count, Mx});
    const auto basins = in.read_block("basins", {rows.first, 0}, {rows.count, Mx});
    for (std::size_t n = 0; n < rows.count * Mx; ++n) {
      const std::size_t i = n % Mx;
      const int label = static_cast<int>((rows.first + n / Mx) * Mx + i);
      CHECK((i == 2 ? std::isnan(packed[n]) : packed[n] == 0.5 * label + 10.0));
      CHECK(std::isnan(never[n]));
      CHECK(mask[n] == label % 5 - 2);
      CHECK((i == 0 ? std::isnan(basins[n]) : basins[n] == label));
    }
    CHECK(in.read_all("lonely") == std::vector<double>{42.0});
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
  CHECK_REFUSED(in.read_block("thk", {0, 0}, {1, 1}),
                "expected 2 dimensions, found 3 (time = 3, y = 5, x = 7)");
  CHECK_REFUSED(in.read_block("mask", {0, 0}, {My + 1, Mx}),
                "dimension 'y': expected at least 6 values, found 5");
  CHECK_REFUSED(in.text("packed", "scale_factor"),
                "'packed:scale_factor': expected text, found 1 number");
  CHECK_REFUSED(in.numbers("thk", "units"), "'thk:units': expected numbers");
  CHECK_REFUSED(in.number("", "levels"), "expected one number, found 2");

  // only the last rank asks for too much; all ranks throw its message
  const bool is_last = rank_in(MPI_COMM_WORLD) == size_of(MPI_COMM_WORLD) - 1;
  CHECK_REFUSED(in.read_block("mask", {0, 0}, {is_last ? My + 4 : 1, Mx}), "at least 9 values");
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

namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

struct Attribute {
  std::string name;
  nc_type type; // NC_CHAR: text
  std::vector<double> numbers;
  std::string text;
};

/// A variable as other programs write it, its values as they are stored, and what they mean.
struct Foreign {
  nc_type type;
  std::vector<int> stored;
  std::vector<Attribute> attributes;
  std::vector<double> numbers; // none: an Error with `found`
  const char* found = "";
  int mode = 0;
};

const Attribute is_unsigned{"_Unsigned", NC_CHAR, {}, "true"};
Attribute text(const char* name, std::string v) { return {name, NC_CHAR, {}, std::move(v)}; }
Attribute scale(double v) { return {"scale_factor", NC_DOUBLE, {v}, ""}; }
Attribute offset(double v) { return {"add_offset", NC_DOUBLE, {v}, ""}; }
Attribute lacks(nc_type type, double v) { return {"missing_value", type, {v}, ""}; }
Attribute fill(nc_type type, double v) { return {"_FillValue", type, {v}, ""}; }
Attribute valid(nc_type type, double low, double high) {
  return {"valid_range", type, {low, high}, ""};
}
Foreign refused(nc_type type, std::vector<Attribute> attributes, const char* found) {
  return {type, {9, 1}, std::move(attributes), {}, found};
}

const std::map<std::string, Foreign> foreign = {
    {"unsigned bytes", {NC_BYTE, {-1, 0, 127}, {is_unsigned}, {255, 0, 127}}},
    {"unsigned shorts", {NC_SHORT, {-1, 0, 7}, {is_unsigned}, {65535, 0, 7}}},
    {"unsigned ints", {NC_INT, {-1, 0, 7}, {is_unsigned}, {4294967295.0, 0, 7}}},
    {"padded", {NC_BYTE, {-1}, {text("_Unsigned", {'T', 'r', 'u', 'e', 0, 0})}, {255}}},
    {"a string", {NC_BYTE, {-1}, {{"_Unsigned", NC_STRING, {}, "true"}}, {255}, "", NC_NETCDF4}},
    {"signed", {NC_UBYTE, {255, 1}, {text("_Unsigned", "false")}, {-1, 1}, "", NC_64BIT_DATA}},
    {"unsigned and packed", {NC_SHORT, {-1, 1}, {is_unsigned, scale(0.1)}, {6553.5, 0.1}}},
    {"fill, no sign", {NC_BYTE, {-1, 1}, {is_unsigned, fill(NC_BYTE, -1)}, {missing, 1}}},
    {"limits, no sign", {NC_BYTE, {-2, 1}, {is_unsigned, valid(NC_BYTE, 0, -2)}, {254, 1}}},
    {"zeros of 64 bits", {NC_UINT64, {0, 1}, {}, {0, 1}, "", NC_64BIT_DATA}},
    {"never written", {NC_USHORT, {65535, 1}, {}, {missing, 1}, "", NC_64BIT_DATA}},
    {"above zero", {NC_SHORT, {-16000, 0}, {scale(0.075), offset(1200.02)}, {0, 1200.02}}},
    {"below zero", {NC_SHORT, {-16001, 0}, {scale(0.075), offset(1200.055)}, {0, 1200.055}}},
    {"missing, stored", {NC_SHORT, {-9, 1}, {scale(0.5), lacks(NC_SHORT, -9)}, {missing, 0.5}}},
    {"missing, real", {NC_SHORT, {-9, 1}, {scale(0.5), lacks(NC_DOUBLE, -4.5)}, {missing, 0.5}}},
    {"limits, stored", {NC_SHORT, {9, 1}, {scale(100.0), valid(NC_INT, 0, 10)}, {900, 100}}},
    {"limits, real", {NC_SHORT, {9, 1}, {scale(100.0), valid(NC_FLOAT, 0, 900)}, {900, 100}}},
    {"at a limit", {NC_SHORT, {9, 1}, {scale(0.1), valid(NC_DOUBLE, 0, 0.88)}, {0.9, 0.1}}},
    {"beyond stored limits", refused(NC_SHORT, {scale(-2.0), valid(NC_SHORT, 0, 8)},
                                     "from -16 to 0, its own valid range, found -18")},
    {"beyond a number", refused(NC_SHORT, {scale(2.0), {"valid_max", NC_DOUBLE, {9.0}, ""}},
                                "to 9, its own valid range, found 18")},
    {"a limit too few", refused(NC_SHORT, {{"valid_range", NC_SHORT, {0}, ""}},
                                "'valid_range': expected 2 number(s), found 1 of type short")},
    {"a scale in letters", refused(NC_SHORT, {text("scale_factor", "ten")},
                                   "'scale_factor': expected 1 number(s), found 3 of type char")},
    {"no sign and no word",
     refused(NC_BYTE, {text("_Unsigned", "maybe")}, "expected true or false, found 'maybe'")}};

void write_foreign(const std::string& path, const Foreign& f) {
  int nc = 0, x = 0, v = 0;
  NC(nc_create(path.c_str(), f.mode | NC_CLOBBER, &nc));
  NC(nc_def_dim(nc, "x", f.stored.size(), &x));
  NC(nc_def_var(nc, "v", f.type, 1, &x, &v));
  for (const Attribute& a : f.attributes) {
    const char* text = a.text.c_str();
    if (a.type == NC_STRING) {
      NC(nc_put_att_string(nc, v, a.name.c_str(), 1, &text));
    } else if (a.type == NC_CHAR) {
      NC(nc_put_att_text(nc, v, a.name.c_str(), a.text.size(), text));
    } else {
      NC(nc_put_att_double(nc, v, a.name.c_str(), a.type, a.numbers.size(), a.numbers.data()));
    }
  }
  NC(nc_enddef(nc));
  NC(nc_put_var_int(nc, v, f.stored.data()));
  NC(nc_close(nc));
}

} // namespace

TEST_CASE("stored values become the numbers that their attributes say") {
  const io::ReadOptions options = any_way();
  const Scratch scratch;
  for (const auto& [what, f] : foreign) {
    INFO(what << ", " << io::word_of(options.by));
    const std::string path = scratch / "foreign.nc";
    scratch.on_rank_0([&, &f = f] { write_foreign(path, f); });
    const io::Reader in(path, MPI_COMM_WORLD, options);
    std::vector<double> found;
    const std::string error = message([&] { found = in.read_all("v"); });
    if (f.numbers.empty()) CHECK_THAT(error, ContainsSubstring(path) && ContainsSubstring(f.found));
    REQUIRE(found.size() == f.numbers.size());
    for (std::size_t n = 0; n < found.size(); ++n)
      CHECK((found[n] == f.numbers[n] || (std::isnan(found[n]) && std::isnan(f.numbers[n])) ||
             (found[n] != 0.0 && std::fabs(found[n] - f.numbers[n]) < 1e-12)));
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST_CASE("ids are whole numbers, packed ones within half a quantum; none may be 0") {
  const io::ReadOptions options = any_way();
  const Scratch scratch;
  const Foreign packed{NC_BYTE, {1, 29}, {scale(0.1), offset(0.07), fill(NC_BYTE, 0)}, {}},
      halves{NC_BYTE, {1, 15}, {scale(0.1)}, {}};
  scratch.on_rank_0([&] {
    write_foreign(scratch / "packed.nc", packed);
    write_foreign(scratch / "halves.nc", halves);
  });
  const io::Reader in(scratch / "packed.nc", MPI_COMM_WORLD, options);
  CHECK(in.packing("v").id(2.96) == 3.0);
  CHECK(in.packing("v").id(missing) == 0.0);
  CHECK(in.packing("v").id(in.read_block("v", {1}, {1})[0]) == 3.0); // 2.97
  const io::Reader other(scratch / "halves.nc", MPI_COMM_WORLD, options);
  CHECK(std::isnan(other.packing("v").id(missing)));
  for (const double half : other.read_block("v", {0}, {2}))
    CHECK(other.packing("v").id(half) == half); // not within half a quantum of a whole number
}

TEST_CASE("text of attributes ends before its padding") {
  const Scratch scratch;
  const std::string nuls(2, '\0');
  const std::vector<Attribute> padded = {text("units", "m  "), text("none", nuls),
                                         text("long_name", "thickness" + nuls + "x")};
  scratch.on_rank_0([&] { write_foreign(scratch / "padded.nc", {NC_INT, {1}, padded, {}}); });
  const io::Reader in(scratch / "padded.nc", MPI_COMM_WORLD);
  CHECK(in.text("v", "units") == "m");
  CHECK(in.text("v", "long_name") == "thickness");
  CHECK(in.text("v", "none") == "");
}

TEST_CASE("a name with a colon is a name, in every way to read") {
  const io::ReadOptions options = any_way();
  const Scratch scratch;
  const auto here = std::filesystem::current_path();
  std::filesystem::current_path(scratch.path());
  for (const std::string kind : {"ufs:", "nfs:", "c:", "file:", "http:"}) {
    for (const int mode : {0, NC_NETCDF4}) {
      INFO(kind << ", " << io::word_of(options.by));
      scratch.on_rank_0([&] {
        write_foreign("right.nc", {NC_INT, {1}, {}, {}, "", mode});
        std::filesystem::rename("right.nc", kind + "b.nc");
        write_foreign("b.nc", {NC_INT, {2}, {}, {}, "", mode});
      });
      for (const std::string& path : {kind + "b.nc", scratch / (kind + "b.nc")}) {
        std::vector<double> found;
        CHECK(message([&] { found = io::Reader(path, MPI_COMM_WORLD, options).read_all("v"); }) ==
              "no error");
        CHECK(found == std::vector<double>{1.0});
      }
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
  std::filesystem::current_path(here);
}

TEST_CASE("a classic header with a wrong number: one error, or one value, in all ways") {
  const Scratch scratch;
  const auto outcome = [](const std::string& path, io::ReadBy by) {
    io::ReadOptions options;
    options.by = by;
    options.ranks_per_node = 2;
    std::ostringstream text;
    const std::string error = message([&] {
      const io::Reader in(path, MPI_COMM_WORLD, options);
      for (const std::string& name : in.variables()) {
        for (const double v : in.read_all(name)) text << v << " ";
      }
    });
    return error == "no error" ? "values " + text.str() : error;
  };
  for (const int mode : {0, NC_64BIT_DATA}) {
    const std::string path = scratch / "bad.nc";
    scratch.on_rank_0([&] {
      write_foreign(path, {NC_SHORT, {1, 2, 3}, {scale(2.0), text("units", "m")}, {}, "", mode});
    });
    std::string good; // all ranks
    if (rank_in(MPI_COMM_WORLD) == 0) {
      std::ifstream in(path, std::ios::binary);
      good.assign(std::istreambuf_iterator<char>(in), {});
    }
    io::broadcast(good, MPI_COMM_WORLD);
    for (std::size_t at = 4; at + 8 < good.size(); at += 4) {
      for (const char* lie :
           {"\xff\xff\xff\xff\xff\xff\xff\xff", "\x7f\xff\xff\xff\xff\xff\xff\xff",
            "\x20\0\0\0\0\0\0\0", "\0\0\0\x7f\0\0\x01\x01"}) {
        std::string bytes = good;
        bytes.replace(at, mode == 0 ? 4 : 8, lie, mode == 0 ? 4 : 8);
        scratch.on_rank_0([&] { std::ofstream(path, std::ios::binary) << bytes; });
        const std::string expected = outcome(path, io::ReadBy::each);
        INFO("byte " << at << " of mode " << mode << ", each: " << expected);
        if (at == 4 && lie[0] == '\xff')
          CHECK_THAT(expected, ContainsSubstring("expected the number of records, found none"));
        for (const auto by : {io::ReadBy::serial, io::ReadBy::parallel, io::ReadBy::direct}) {
          const std::string found = outcome(path, by);
          INFO(io::word_of(by) << ": " << found);
          const bool is_error = found.find("values ") != 0;
          CHECK((is_error ? found.find(path) != std::string::npos : found == expected));
          CHECK((expected.find("values ") != 0) == is_error);
        }
      }
    }
  }
}
