// The format and the layout that CONTRIBUTING.md shows, registered by its rows.
#include "io/methods/registry.hpp"
#include "tests/io/scratch.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <fstream>
#include <sstream>

using namespace nunatak;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// Write 10, 11, ... with this method, two values per rank.
void write(const std::string& method, const std::string& path, double factor = 1.0) {
  const auto rank = static_cast<std::size_t>(rank_in(MPI_COMM_WORLD)),
             size = static_cast<std::size_t>(size_of(MPI_COMM_WORLD));
  io::Schema schema;
  schema.dimensions = {{"time", io::unlimited}, {"x", 2 * size, true}};
  schema.variables = {{"thk", io::Type::float64, {"time", "x"}, {}}};
  const auto writer = writer_of(method);
  const auto file = writer->open(path, schema);
  const double first = 10.0 + 2.0 * static_cast<double>(rank);
  const std::vector<double> values = {factor * first, factor * (first + 1.0)};
  file->put("thk", 0, {{2 * rank}, {2}, {}}, values.data());
  file->end_record();
  file->close();
}

} // namespace

TEST_CASE("the format of CONTRIBUTING.md is in the words and writes, natively and in a layout") {
  const Scratch scratch;
  CHECK_THAT("|" + io::format_words() + "|", ContainsSubstring("|lines|"));
  write("lines", scratch / "native");
  write("lines/box:1", scratch / "box");
  scratch.on_rank_0([&] {
    std::string all;
    for (int r = 0; r < size_of(MPI_COMM_WORLD); ++r) {
      const std::string suffix = ".000" + std::to_string(r), first = std::to_string(10 + 2 * r),
                        second = std::to_string(11 + 2 * r);
      CHECK(text_of(scratch / "native" + suffix) ==
            "thk 0 " + std::to_string(2 * r) + " : " + first + " " + second + "\n");
      if (r > 0) CHECK(text_of(scratch / "box" + suffix).empty());
      all += " " + first + " " + second;
    }
    CHECK(text_of(scratch / "box.0000") == "thk 0 0 :" + all + "\n");
    CHECK_THAT(text_of(scratch / "manifest.jsonl"), ContainsSubstring("\"native.0000\""));
  });
}

TEST_CASE("the layout of CONTRIBUTING.md is in the words and moves columns to aggregators") {
  const Scratch scratch;
  CHECK_THAT(io::layout_words(), ContainsSubstring("columns:N"));
  const auto size = static_cast<std::size_t>(size_of(MPI_COMM_WORLD));
  write("lines/columns:2", scratch / "columns"); // cut in the middle, whatever the ranks have put
  scratch.on_rank_0([&] {
    std::string all;
    for (std::size_t r = 0; r < size; ++r)
      all += text_of(scratch / "columns.000" + std::to_string(r));
    std::string first = "thk 0 0 :", second = "thk 0 " + std::to_string(size) + " :";
    for (std::size_t x = 0; x < 2 * size; ++x)
      (size == 1 || x < size ? first : second) += " " + std::to_string(10 + x);
    CHECK(all == first + "\n" + (size == 1 ? "" : second + "\n"));
  });
}

TEST_CASE("the option of the format of CONTRIBUTING.md is its own") {
  const Scratch scratch;
  write("lines/digits=9", scratch / "fine", 1.0 / 3.0);
  scratch.on_rank_0(
      [&] { CHECK(text_of(scratch / "fine.0000") == "thk 0 0 : 3.33333333 3.66666667\n"); });
  CHECK_REFUSED(io::parse_method("lines/digits=8", {}), "expected one of 6|9|17, found '8'");
  CHECK_REFUSED(io::parse_method("direct/digits=9", {}), "expected -io_format lines, found direct");
}

TEST_CASE("what its row does not promise is refused") {
  for (const char* method : {"lines/calls=mpiio", "lines/file-per-aggregator", "lines/deflate=1"}) {
    INFO(method);
    CHECK_REFUSED(io::parse_method(method, {}), "found lines");
  }
}
