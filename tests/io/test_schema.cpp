// io/data/schema.hpp: what is refused, and the types of attributes.
#include "io/data/schema.hpp"
#include "tests/io/scratch.hpp"

#include <catch2/catch_test_macros.hpp>
using namespace nunatak::io;

namespace {

Schema good() {
  Schema s;
  s.dimensions = {{"time", unlimited}, {"y", 3}, {"x", 4}};
  s.variables = {{"thk", Type::float64, {"time", "y", "x"}, {{"units", "m"}}},
                 {"mask", Type::int8, {"y", "x"}, {}}};
  s.attributes = {{"title", "example"}};
  return s;
}

} // namespace

TEST_CASE("a good schema is accepted") {
  const Schema s = good();
  CHECK_NOTHROW(s.validate());
  CHECK(s.shape(s.variables[0]) == std::vector<std::size_t>{unlimited, 3, 4});
  CHECK(s.has_records(s.variables[0]));
  CHECK_FALSE(s.has_records(s.variables[1]));
  CHECK(s.variable("mask") == 1);
}

TEST_CASE("a schema that no format could write is refused") {
  const auto refused = [](const std::string& words, const std::function<void(Schema&)>& change) {
    Schema s = good();
    change(s);
    CHECK_REFUSED(s.validate(), words);
  };
  refused("dimension 'x': expected once", [](Schema& s) { s.dimensions.push_back({"x", 5}); });
  refused("at most one unlimited dimension", [](Schema& s) {
    s.dimensions.push_back({"t2", unlimited});
  });
  refused("variable 'thk': expected once", [](Schema& s) {
    s.variables.push_back({"thk", Type::int8, {}, {}});
  });
  refused("found 'lev'", [](Schema& s) { s.variables[1].dimensions = {"y", "lev"}; });
  refused("the unlimited dimension 'time' first, found it at place 3", [](Schema& s) {
    s.variables[0].dimensions = {"y", "x", "time"};
  });
  refused("attribute 'title' of the file: expected once", [](Schema& s) {
    s.attributes.push_back({"title", "again"});
  });
  refused("expected at least one number", [](Schema& s) {
    s.variables[0].attributes.push_back({"levels", std::vector<double>{}});
  });
  for (const char* name : {"", "-x", "a b", "a/b", "dägg"})
    refused("not a name for NetCDF", [&](Schema& s) { s.variables[0].name = name; });
}

TEST_CASE("some attributes take the type of their variable, exactly or not at all") {
  const Variable mask{"mask", Type::int8, {}, {}}, fine{"fine", Type::float32, {}, {}};
  CHECK(std::get<std::vector<std::int8_t>>(own_type({"flag_values", {0, 2, 3}}, mask)) ==
        std::vector<std::int8_t>{0, 2, 3});
  CHECK(std::get<std::vector<float>>(own_type({"_FillValue", 1e20}, fine)) ==
        std::vector<float>{1e20f});
  CHECK(std::get<std::vector<double>>(own_type({"scale", 2.0}, mask)) == std::vector<double>{2.0});
  CHECK_REFUSED(own_type({"flag_values", {0, 128}}, mask), "byte holds exactly, found 128");
  CHECK_THROWS_AS(own_type({"valid_min", 0.5}, mask), Error);
  CHECK_THROWS_AS(own_type({"valid_min", std::numeric_limits<double>::quiet_NaN()}, mask), Error);
  CHECK_REFUSED(own_type({"_FillValue", "none"}, mask), "expected numbers");
  Schema s = good();
  s.variables[1].attributes.push_back({"flag_values", {0, 200}});
  CHECK_REFUSED(s.validate(), "'mask:flag_values'");
}
