// The reader of masks: exact on good files; on any other bytes an Error that names the file, never
// a crash, a hang or a mask that is not what the header says.
#include "common/error.hpp"
#include "io/write/writer.hpp"
#include "miniapp/kit/mask_source.hpp"
#include "tests/io/scratch.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <fstream>
#include <optional>
#include <utility>

using namespace nunatak;
using namespace nunatak::kit;
using Catch::Matchers::ContainsSubstring;

namespace {

/// The mask that is typed as a picture, if there is one; what is thrown otherwise must be an Error
/// that says enough.
std::optional<Mask> typed(const std::string& text) {
  try {
    return read_mask({"", "", text});
  } catch (const Error& error) {
    const std::string what = error.what();
    if (what.find("mask 'picture': expected") != 0 || what.find("found") == std::string::npos)
      FAIL("an error that does not say enough: " << what);
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
  const auto writer = std::make_unique<io::Writer>(MPI_COMM_SELF, options);
  const auto file = writer->open(path, schema);
  file->put_all(name, values);
  file->close();
}

} // namespace

TEST_CASE("pictures as written, and what is wrong with one") {
  const std::optional<Mask> a = typed("P1 # three by two\n3 2\n101\n0 1 1");
  REQUIRE(a);
  CHECK((a->Mx == 3 && a->My == 2 && !a->cell_types));
  CHECK(a->values() == std::vector<int>{1, 0, 1, 0, 1, 1});
  const std::pair<std::string, const char*> cases[] = {
      {"P4 3 1 x", "expected a plain portable bitmap (P1), found P4"},
      {"P1", "expected P1, width and height"},
      {"P1 a", "expected P1, width and height"},
      {"P1 0 1 0", "width and height, numbers from 1 to 2147483647"},
      {"P1 1 4294967297 0", "width and height, numbers from 1 to 2147483647"},
      {"P1 2 2\n11", "expected 4 digits for 2 x 2 cells, found 2"},
      {"P1 2147483647 2147483647\n0", "expected 4611686014132420609 digits"},
      {"P1 2 2 1 1 1 2", "expected 0 or 1 for cell 3"},
      {"P1 1 1 1 1", "expected 1 digits for 1 x 1 cells, found 2"}};
  for (const auto& [text, message] : cases) {
    INFO(text);
    CHECK_THROWS_WITH(read_mask({"", "", text}),
                      ContainsSubstring("mask 'picture': ") && ContainsSubstring(message));
  }
}

TEST_CASE("pictures with a changed byte or without an end are refused, or as large as they say") {
  const std::string good = "P1 # three by two\n3 2\n101\n0 1 1";
  int refused = 0, read = 0;
  const auto check = [&](const std::string& text) {
    const auto found = typed(text);
    (found ? read : refused) += 1;
    if (found && found->values().size() > text.size()) FAIL(text);
  };
  for (std::size_t at = 2; at < good.size(); ++at) {
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
  CHECK((refused > 1000 && read > 1000)); // both happen often
}

TEST_CASE("files: a picture, a NetCDF mask, cell types of thickness and bed") {
  const Folder folder;
  const Mask picture = read(folder.write("p.pbm", "P1 2 1 0 1"));
  CHECK((picture.Mx == 2 && picture.My == 1 && picture.value(0, 1) == 1));

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
  refused(folder / "large.nc", "",
          "expected a whole number of 32 bits in cell 0, found 30000000000");
  write_netcdf(folder / "half.nc", "mask", {"y", "x"}, std::vector<double>(15, 2.5));
  CHECK_THROWS_AS(read(folder / "half.nc"), Error);
}
