// The reader of masks: exact on good files; on any other bytes an Error that names the file, never
// a crash, a hang or a mask that is not what the header says.
#include "io/writer.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/tools/mask_source.hpp"
#include "miniapp/tools/netpbm.hpp"
#include "tests/io/scratch.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <fstream>
#include <optional>
#include <utility>

using namespace nunatak;
using namespace nunatak::tools;
using Catch::Matchers::ContainsSubstring;

namespace {

/// The picture, if there is one; what is thrown otherwise must be an Error that says enough.
std::optional<Picture> parsed(const std::string& bytes) {
  try {
    return parse_netpbm(bytes, "fuzz.pgm");
  } catch (const Error& error) {
    const std::string what = error.what();
    if (what.find("mask 'fuzz.pgm'") != 0 || what.find("expected") == std::string::npos ||
        what.find("found") == std::string::npos) {
      FAIL("an error that does not say enough: " << what);
    }
    return std::nullopt;
  }
}

/// A folder for the files of a test case.
struct Folder : Scratch {
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(*this / name, std::ios::binary) << bytes;
    return *this / name;
  }
};

Mask read(const std::string& file, const std::string& variable = "") {
  MaskOptions options;
  options.file = file, options.variable = variable;
  return read_mask(options);
}

/// 5 x 3 cells in `name` of these dimensions; "time" has no record yet.
void write_netcdf(const std::string& path, const std::string& name,
                  const std::vector<std::string>& dimensions, std::vector<double> values) {
  io::Schema schema;
  schema.dimensions = {{"y", 3}, {"x", 5}, {"z", 2}};
  schema.variables = {{name, io::Type::float64, dimensions, {}}};
  io::Options options;
  options.format = "serial";
  const auto writer = io::make_writer(MPI_COMM_SELF, options);
  const auto file = writer->open(path, schema);
  file->put_all(name, values);
  file->close();
}

} // namespace

TEST_CASE("pictures as written") {
  const Picture a = parse_netpbm("P1 # three by two\n3 2\n101\n0 1 1", "a");
  CHECK(a.Mx == 3);
  CHECK(a.My == 2);
  CHECK(a.values == std::vector<std::uint16_t>{1, 0, 1, 0, 1, 1});
  CHECK(parse_netpbm("P2\n2 2 65535 0 65535\n1 2\n", "b").values ==
        std::vector<std::uint16_t>{0, 65535, 1, 2});
  CHECK(parse_netpbm(std::string("P4 9 1\n\xA5\x80", 9), "c").values ==
        std::vector<std::uint16_t>{1, 0, 1, 0, 0, 1, 0, 1, 1});
  CHECK(parse_netpbm(std::string("P5 2 1 255\n\x07\xFF", 13), "d").values ==
        std::vector<std::uint16_t>{7, 255});
  CHECK(parse_netpbm(std::string("P5 1 1 256\n\x01\x00\n", 14), "e").values ==
        std::vector<std::uint16_t>{256});
}

TEST_CASE("what is wrong with a picture is said") {
  const std::pair<std::string, const char*> cases[] = {
      {"", "expected a portable bitmap or graymap (P1, P2, P4 or P5)"},
      {"P3 1 1 255 0 0 0", "expected a portable bitmap or graymap (P1, P2, P4 or P5)"},
      {"P1", "width: expected a number, found the end of the file"},
      {"P1 a", "width: expected a number, found 'a' at 3"},
      {"P1 0 1 0", "width: expected a number from 1 to 2147483647, found 0"},
      {"P1 1 4294967297 0", "height: expected a number from 1 to 2147483647, found 4294967297"},
      {"P1 2 2\n11", "expected at least 4 bytes of values for 2 x 2 cells, found 3"},
      {"P1 2 2 1 1 1      ", "value: expected a number, found the end of the file"},
      {"P2 1 1 65536 1", "largest value: expected a number from 1 to 65535, found 65536"},
      {"P2 1 1 7 8", "value: expected a number from 0 to 7, found 8"},
      {"P4 2147483647 2147483647\n0", "expected at least 576460752034988032 bytes of values"},
      {"P5 2147483647 2147483647 65535\n0",
       "expected at least 9223372028264841218 bytes of values"},
      {"P5 1 1 255", "expected white space before the values, found the end of the file"},
      {"P5 2 2 255\nabc", "expected at least 4 bytes of values for 2 x 2 cells, found 3"},
      {"P5 1 1 9\nz", "value: expected a number from 0 to 9, found 122"},
      {"P5 1 1 255\nabc", "expected the end of the file after the last value, found 2 more bytes"},
      {"P1 1 1 1 1", "expected the end of the file after the last value, found 1 more bytes"}};
  for (const auto& [bytes, message] : cases) {
    INFO(bytes);
    CHECK_THROWS_WITH(parse_netpbm(bytes, "p.pbm"),
                      ContainsSubstring("mask 'p.pbm': ") && ContainsSubstring(message));
  }
}

TEST_CASE("pictures with a changed byte or without an end are refused, or as large as they say") {
  using namespace std::string_literals;
  int refused = 0, read = 0;
  const auto check = [&](const std::string& bytes) {
    const auto found = parsed(bytes);
    (found ? read : refused) += 1;
    if (!found) return;
    const auto cells = static_cast<std::size_t>(found->Mx) * static_cast<std::size_t>(found->My);
    if (found->values.size() != cells || cells > 8 * bytes.size())
      FAIL(found->Mx << " x " << found->My << ", " << found->values.size() << " values: " << bytes);
  };
  for (const std::string& good :
       {"P1 # three by two\n3 2\n101\n0 1 1"s, "P2\t2\r\n2 65535 0 65535\n1 2\n"s,
        "P4 9 2\n\xA5\x80\x5A\x00"s, "P5 2 1 #\n#\n 255\n\x07\xFF"s,
        "P5 2 1 256\n\x01\x00\x00\x01"s}) {
    REQUIRE(parsed(good));
    for (std::size_t at = 0; at < good.size(); ++at) {
      check(good.substr(0, at));
      check(good.substr(0, at) + good.substr(at + 1));
      for (const char* word : {"#", "-1", "4294967297", "2147483647", "1e3"})
        check(good.substr(0, at) + word + good.substr(at));
      for (int byte = 0; byte < 256; ++byte) {
        std::string bad = good;
        bad[at] = static_cast<char>(byte);
        check(bad);
      }
    }
  }
  CHECK(refused > 10000); // both happen often
  CHECK(read > 1000);
}

TEST_CASE("files: a picture, a NetCDF mask, cell types of thickness and bed") {
  const Folder folder;
  const Mask picture = read(folder.write("p.pgm", "P2 2 1 9 3 4"));
  CHECK(picture.Mx == 2);
  CHECK(picture.My == 1);
  CHECK(picture.value(0, 1) == 4);
  CHECK_FALSE(picture.cell_types);

  std::vector<double> values(15, 3.0);
  values[7] = 2.0;
  write_netcdf(folder / "m.nc", "mask", {"y", "x"}, values);
  const Mask mask = read(folder / "m.nc");
  CHECK(mask.Mx == 5);
  CHECK(mask.My == 3);
  CHECK(mask.cell_types);
  CHECK(mask.value(1, 2) == 2);
  CHECK(mask.value(2, 1) == 3);
}

TEST_CASE("files that are no masks") {
  const Folder folder;
  const auto refused = [&](const std::string& file, const std::string& variable,
                           const std::string& message) {
    INFO(file);
    CHECK_THROWS_WITH(read(file, variable), ContainsSubstring(message) && ContainsSubstring(file) &&
                                                ContainsSubstring("expected"));
  };
  refused(folder / "nowhere.nc", "", "found none of the name");
  refused(folder / "", "", "found something else of the name");
  refused(folder.write("p.pbm", "P1 1 1 1"), "mask",
          "option -variable: expected a NetCDF file, found the picture");
  const std::vector<double> threes(15, 3.0);
  write_netcdf(folder / "row.nc", "mask", {"x"}, std::vector<double>(5, 3.0));
  refused(folder / "row.nc", "", "expected the dimensions (y, x) or (time, y, x), found (x)");
  write_netcdf(folder / "deep.nc", "mask", {"z", "y", "x"}, std::vector<double>(30, 3.0));
  refused(folder / "deep.nc", "", "found (z, y, x)");
  write_netcdf(folder / "thk.nc", "thk", {"y", "x"}, threes);
  refused(folder / "thk.nc", "", "variable 'mask': expected such a variable, found thk");
  write_netcdf(folder / "large.nc", "mask", {"y", "x"}, std::vector<double>(15, 3e10));
  refused(folder / "large.nc", "", "expected whole numbers of 32 bits, found 30000000000");
  write_netcdf(folder / "half.nc", "mask", {"y", "x"}, std::vector<double>(15, 2.5));
  CHECK_THROWS_AS(read(folder / "half.nc"), Error);
}
