// io/writer.hpp: patterns that encode their place, written by every format on every number of
// ranks, read back and compared.
#include "io/durable/durable.hpp"
#include "io/durable/verify.hpp"
#include "io/formats/mpi_io.hpp"
#include "io/reader.hpp"
#include "io/writer.hpp"
#include "tests/io/scratch.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <map>

using namespace nunatak;
using io::Block;
using io::Type;

namespace {

constexpr std::size_t My = 7, Mx = 11, Mz = 5, n_times = 3;

double code(std::size_t t, std::size_t j, std::size_t i, std::size_t k) {
  return 1e6 * static_cast<double>(t) + 1e4 * static_cast<double>(j) +
         1e2 * static_cast<double>(i) + static_cast<double>(k);
}

/// A rank's patch with one ring of ghosts around it; the ranks cut the grid into uneven columns,
/// and the last rank of three or more has nothing.
struct Patch {
  std::size_t xs = 0, xm = 0, ys = 0, ym = 0;
  Patch()
      : Patch(static_cast<std::size_t>(rank_in(MPI_COMM_WORLD)),
              static_cast<std::size_t>(size_of(MPI_COMM_WORLD))) {}
  Patch(std::size_t rank, std::size_t size) {
    const std::size_t active = size > 2 ? size - 1 : size;
    if (rank >= active) return;
    const std::size_t rows = active % 2 == 0 && active > 2 ? 2 : 1, columns = active / rows;
    const std::size_t ry = rank / columns, rx = rank % columns;
    ys = My * ry / rows, ym = My * (ry + 1) / rows - ys;
    xs = Mx * rx / columns, xm = Mx * (rx + 1) / columns - xs;
  }
  std::size_t row() const { return xm + 2; }

  /// (j, i) with ghosts that hold rubbish; `n_levels` values per cell, contiguous.
  template <class T, class F> std::vector<T> array(std::size_t n_levels, const F& f) const {
    std::vector<T> a((ym + 2) * row() * n_levels, T(-77));
    for (std::size_t j = 0; j < ym; ++j) {
      for (std::size_t i = 0; i < xm; ++i) {
        for (std::size_t k = 0; k < n_levels; ++k)
          a[((j + 1) * row() + i + 1) * n_levels + k] = static_cast<T>(f(ys + j, xs + i, k));
      }
    }
    return a;
  }
  template <class T> const T* owned(const std::vector<T>& a, std::size_t n_levels = 1) const {
    return a.data() + (row() + 1) * n_levels;
  }
  std::ptrdiff_t s(std::size_t n) const { return static_cast<std::ptrdiff_t>(n); }
  Block plane() const { return {{ys, xs}, {ym, xm}, {s(row()), 1}}; }
  Block yxz() const { return {{ys, xs, 0}, {ym, xm, Mz}, {s(row() * Mz), s(Mz), 1}}; }
  Block zyx() const { return {{0, ys, xs}, {Mz, ym, xm}, {1, s(row() * Mz), s(Mz)}}; }
};

/// CDF-2 has no 64-bit integers.
bool has_int64(const std::string& classic) { return classic != "cdf2"; }

io::Schema example_schema(const std::string& classic) {
  io::Schema s;
  s.dimensions = {{"time", io::unlimited}, {"y", My}, {"x", Mx}, {"z", Mz}, {"nv", 2}};
  s.attributes = {{"Conventions", "CF-1.8"},
                  {"numbers", std::vector<double>{1.5, 2.5}},
                  {"count", 3},
                  {"empty", ""}};
  s.variables = {
      {"time",
       Type::float64,
       {"time"},
       {{"units", "seconds since 1-1-1"}, {"bounds", "time_bounds"}}},
      {"time_bounds", Type::float64, {"time", "nv"}, {}},
      {"x", Type::float64, {"x"}, {{"units", "m"}}},
      {"mapping", Type::int32, {}, {{"grid_mapping_name", "polar_stereographic"}}},
      {"scalar", Type::float32, {"time"}, {}},
      {"thk",
       Type::float64,
       {"time", "y", "x"},
       {{"units", "m"}, {"_FillValue", -9999}, {"valid_min", 0}}},
      {"mask",
       Type::int8,
       {"time", "y", "x"},
       {{"flag_values", {0, 1, 2}}, {"flag_meanings", "a b c"}}},
      {"basins", Type::int16, {"y", "x"}, {{"valid_range", {-100, 100}}}},
      {"label", Type::int32, {"y", "x"}, {{"_FillValue", -1}}},
      {"cell", Type::int64, {"y", "x"}, {{"valid_max", std::int64_t{4611686018427387905LL}}}},
      {"temp", Type::float64, {"time", "z", "y", "x"}, {}},
      {"temp_yxz", Type::float32, {"time", "y", "x", "z"}, {{"valid_max", 1e7}}},
  };
  if (!has_int64(classic))
    s.variables.erase(s.variables.begin() + static_cast<std::ptrdiff_t>(s.variable("cell")));
  return s;
}

/// Written once per format; in `steps`, so that tests can interleave two files.
class Example {
public:
  Example(io::Writer& writer, const std::string& path, Patch patch = {},
          io::FileOptions options = {})
      : p(patch), file(writer.open(path, example_schema(writer.options().classic), options)) {}

  void fixed() {
    std::vector<double> x(Mx);
    for (std::size_t i = 0; i < Mx; ++i) x[i] = 1000.0 * static_cast<double>(i);
    file->put_all("x", x);
    file->put_all("mapping", std::vector<std::int32_t>{0});
    auto basins = p.array<std::int16_t>(
        1, [](auto j, auto i, auto) { return static_cast<int>(j * Mx + i) - 40; });
    auto label = p.array<std::int32_t>(
        1, [](auto j, auto i, auto) { return 100000 * static_cast<int>(j) + static_cast<int>(i); });
    auto cell = p.array<std::int64_t>(1, [](auto j, auto i, auto) {
      return 4611686018427387905LL + static_cast<std::int64_t>(j * Mx + i);
    });
    file->put("basins", p.plane(), p.owned(basins));
    file->put("label", p.plane(), p.owned(label));
    if (file->schema().variables.size() == example_schema("").variables.size())
      file->put("cell", p.plane(), p.owned(cell));
  }

  void record(std::size_t t) {
    const auto thk = p.array<double>(1, [t](auto j, auto i, auto) { return code(t, j, i, 0); });
    const auto mask =
        p.array<std::int8_t>(1, [t](auto j, auto i, auto) { return (j + i + t) % 3; });
    auto temp = p.array<double>(Mz, [t](auto j, auto i, auto k) { return code(t, j, i, k); });
    const double now = 10.0 * static_cast<double>(t);
    file->put_all("time", t, std::vector<double>{now});
    file->put_all("time_bounds", t, std::vector<double>{now - 10.0, now});
    file->put_all("scalar", t, std::vector<float>{static_cast<float>(t) + 0.5f});
    file->put("thk", t, p.plane(), p.owned(thk));
    file->put("mask", t, p.plane(), p.owned(mask));
    file->put("temp", t, p.zyx(), p.owned(temp, Mz));
    file->put("temp_yxz", t, p.yxz(), p.owned(temp, Mz)); // double in memory, float in the file
    std::fill(temp.begin(), temp.end(), -1.0);            // put has copied: the array is ours again
    file->end_record(static_cast<std::int64_t>(t));
  }

  Patch p;
  std::unique_ptr<io::File> file;
};

void check_values(const std::string& path, std::size_t n_records, const std::string& classic = "") {
  const io::Reader in(path, MPI_COMM_WORLD);
  REQUIRE(in.records() == n_records);
  // every rank reads and compares everything
  std::size_t wrong = 0;
  for (std::size_t t = 0; t < n_records; ++t) {
    const auto thk = in.read_block("thk", {t, 0, 0}, {1, My, Mx});
    const auto mask = in.read_block_int("mask", {t, 0, 0}, {1, My, Mx});
    const auto temp = in.read_block("temp", {t, 0, 0, 0}, {1, Mz, My, Mx});
    const auto temp_yxz = in.read_block("temp_yxz", {t, 0, 0, 0}, {1, My, Mx, Mz});
    for (std::size_t j = 0; j < My; ++j) {
      for (std::size_t i = 0; i < Mx; ++i) {
        wrong += thk[j * Mx + i] != code(t, j, i, 0);
        wrong += mask[j * Mx + i] != static_cast<std::int64_t>((j + i + t) % 3);
        for (std::size_t k = 0; k < Mz; ++k) {
          wrong += temp[(k * My + j) * Mx + i] != code(t, j, i, k);
          wrong += temp_yxz[(j * Mx + i) * Mz + k] !=
                   static_cast<double>(static_cast<float>(code(t, j, i, k)));
        }
      }
    }
  }
  CHECK(wrong == 0);
  const auto time = in.read_all("time"), bounds = in.read_all("time_bounds"),
             scalar = in.read_all("scalar");
  for (std::size_t t = 0; t < n_records; ++t) {
    CHECK(time[t] == 10.0 * static_cast<double>(t));
    CHECK(bounds[2 * t + 1] - bounds[2 * t] == 10.0);
    CHECK(scalar[t] == static_cast<double>(t) + 0.5);
  }
  const auto x = in.read_all("x");
  const auto basins = in.read_block_int("basins", {0, 0}, {My, Mx}),
             label = in.read_block_int("label", {0, 0}, {My, Mx});
  const auto cell = has_int64(classic) ? in.read_block_int("cell", {0, 0}, {My, Mx})
                                       : std::vector<std::int64_t>();
  wrong = 0;
  for (std::size_t n = 0; n < My * Mx; ++n) {
    const auto number = static_cast<std::int64_t>(n);
    wrong += basins[n] != number - 40;
    wrong += label[n] != 100000 * (number / static_cast<std::int64_t>(Mx)) +
                             number % static_cast<std::int64_t>(Mx);
    if (has_int64(classic)) wrong += cell[n] != 4611686018427387905LL + number;
  }
  CHECK(wrong == 0);
  CHECK((x[0] == 0.0 && x[Mx - 1] == 1000.0 * (Mx - 1)));
}

/// Of variables that are defined `interleaved`, in the order in which they are put.
void check_metadata(const std::string& path, const std::string& classic, bool interleaved) {
  const io::Reader in(path, MPI_COMM_WORLD);
  std::vector<std::string> names, found = in.variables();
  for (const auto& v : example_schema(classic).variables) names.push_back(v.name);
  if (interleaved) {
    std::sort(names.begin(), names.end());
    std::sort(found.begin(), found.end());
  }
  CHECK(found == names);
  const std::map<Type, std::string> types = {{Type::int8, "byte"},     {Type::int16, "short"},
                                             {Type::int32, "int"},     {Type::int64, "int64"},
                                             {Type::float32, "float"}, {Type::float64, "double"}};
  for (const auto& v : example_schema(classic).variables)
    CHECK(in.type(v.name) == types.at(v.type));
  CHECK(in.text("", "Conventions") == "CF-1.8");
  CHECK(in.text("", "empty") == "");
  CHECK(in.numbers("", "numbers") == std::vector<double>{1.5, 2.5});
  CHECK(in.attribute_type("", "count") == "int");
  CHECK(in.number("thk", "_FillValue") == -9999.0);
  // given as int, written in the type of the variable
  CHECK(in.attribute_type("thk", "_FillValue") == "double");
  CHECK(in.attribute_type("thk", "valid_min") == "double");
  CHECK(in.attribute_type("mask", "flag_values") == "byte");
  CHECK(in.attribute_type("basins", "valid_range") == "short");
  if (has_int64(classic)) CHECK(in.attribute_type("cell", "valid_max") == "int64");
  CHECK(in.attribute_type("temp_yxz", "valid_max") == "float");
  CHECK(in.numbers("mask", "flag_values") == std::vector<double>{0, 1, 2});
  const auto axes = in.dimensions("temp");
  REQUIRE(axes.size() == 4);
  CHECK((axes[0].unlimited && axes[1].name == "z" && axes[1].length == Mz && axes[3].name == "x" &&
         axes[3].length == Mx));
}

} // namespace

TEST_CASE("every way of writing writes the same values and metadata") {
  const Scratch scratch;
  const std::string way = GENERATE(
      as<std::string>(), "serial", "pnetcdf", "netcdf4", "hybrid", "direct", // and then the knobs:
      "serial/classic=cdf2", "pnetcdf/classic=cdf2", "hybrid/classic=cdf2", "direct/classic=cdf2",
      "direct/classic=cdf5", "direct/align=4KiB/header=0", "direct/zslab", "direct/box:1",
      "direct/morton:2", "direct/calls=mpiio", "direct/box:1/calls=mpiio", "serial/buffer=617",
      "serial/define=interleaved/header=0", "pnetcdf/buffer=100",
      "pnetcdf/define=interleaved/header=0", "pnetcdf/define=interleaved/access=independent",
      "pnetcdf/access=independent/align=4KiB/header=0",
      "pnetcdf/aggregators=2/hints=cb_buffer_size=65536", "hybrid/align=1KiB/header=64KiB",
      "netcdf4/buffer=100", "netcdf4/chunk=record/align=4KiB",
      "netcdf4/chunk=y=3,x=4,time=2/deflate=4", "netcdf4/access=independent");
  INFO(way);
  const io::Options options = io::parse_method(way, {});
  const bool interleaved = options.define == "interleaved";
  {
    const auto writer = io::make_writer(MPI_COMM_WORLD, options);
    Example example(*writer, scratch / "ex.nc");
    example.fixed();
    for (std::size_t t = 0; t < n_times; ++t) example.record(t);
    example.file->close(7);
    CHECK((io::summarize(MPI_COMM_WORLD, writer->statistics()).work.moved_bytes > 0) ==
          interleaved);
  }
  check_values(scratch / "ex.nc", n_times, options.classic);
  check_metadata(scratch / "ex.nc", options.classic, interleaved);
  scratch.on_rank_0([&] { CHECK(io::verify_manifest(scratch / "manifest.jsonl").empty()); });

  // and the same bytes, whatever the number of ranks: compare with what one rank alone writes,
  // other classic files with serial
  if (options.format != "direct" && way != "serial" && way != "pnetcdf") return;
  scratch.on_rank_0([&] {
    io::Options others = options;
    others.format = "serial";
    others.layout = "native";
    others.calls = "posix";
    const auto alone = io::make_writer(MPI_COMM_SELF, others);
    Example one(*alone, scratch / "one.nc", Patch(0, 1));
    one.fixed();
    for (std::size_t t = 0; t < n_times; ++t) one.record(t);
    one.file->close();
    CHECK(file_hash(scratch / "ex.nc") == file_hash(scratch / "one.nc"));
  });
}

TEST_CASE("two files interleave") {
  const Scratch scratch;
  const std::string format = GENERATE("serial", "pnetcdf", "netcdf4", "direct");
  INFO(format);
  io::Options options;
  options.format = format;
  const auto writer = io::make_writer(MPI_COMM_WORLD, options);
  Example a(*writer, scratch / "a.nc"), b(*writer, scratch / "b.nc", {}, {io::FileKind::append, 1});
  b.fixed();
  b.record(0);
  a.fixed();
  a.record(0);
  b.record(1);
  a.record(1);
  b.file->close();
  a.record(2);
  a.file->close();
  check_values(scratch / "a.nc", 3);
  check_values(scratch / "b.nc", 2);
}

TEST_CASE("pieces that leave gaps do not touch the gaps") {
  const Scratch scratch;
  io::Options options;
  options.format = GENERATE("serial", "pnetcdf", "netcdf4", "direct");
  INFO(options.format);
  const auto writer = io::make_writer(MPI_COMM_WORLD, options);
  io::Schema schema;
  schema.dimensions = {{"x", 12}};
  schema.variables = {{"v", Type::int32, {"x"}, {}}};
  const auto file = writer->open(scratch / "gaps.nc", schema);
  const auto rank = static_cast<std::size_t>(rank_in(MPI_COMM_WORLD)),
             size = static_cast<std::size_t>(size_of(MPI_COMM_WORLD));
  // every second cell is put in the first round, in cyclic order over the ranks; the others in the
  // second
  for (std::size_t n = 0; n < 6 / size + 1; ++n) {
    for (const std::size_t odd : {std::size_t{1}, std::size_t{0}}) {
      const std::size_t pair = n * size + rank, at = 2 * pair + odd;
      const std::int32_t value = 10 * static_cast<std::int32_t>(at);
      file->put("v", Block{{pair < 6 ? at : 0}, {pair < 6 ? 1u : 0u}, {}}, &value);
    }
  }
  file->close();
  const io::Reader in(scratch / "gaps.nc", MPI_COMM_WORLD);
  const auto v = in.read_block_int("v", {0}, {12});
  for (std::size_t n = 0; n < 12; ++n) CHECK(v[n] == static_cast<std::int64_t>(10 * n));
}

TEST_CASE("null writes nothing; statistics count what was put") {
  const Scratch scratch;
  const std::string format = GENERATE("null", "serial", "netcdf4", "pnetcdf", "direct");
  INFO(format);
  io::Options options;
  options.format = format;
  const auto writer = io::make_writer(MPI_COMM_WORLD, options);
  Example example(*writer, scratch / "ex.nc");
  example.fixed();
  example.record(0);
  example.record(1);
  example.file->close();
  const bool exists = std::filesystem::exists(scratch / "ex.nc");
  CHECK(exists == (format != "null"));

  const io::Summary s = io::summarize(MPI_COMM_WORLD, writer->statistics());
  const std::int64_t cells = My * Mx;
  const std::int64_t fixed = 8 * Mx + 4 + cells * (2 + 4 + 8),
                     record = 8 + 16 + 4 + cells * (8 + 1) + cells * Mz * (8 + 4);
  CHECK(s[io::Phase::post].bytes == fixed + 2 * record);
  CHECK(s[io::Phase::post].operations == (5 + 2 * 7) * size_of(MPI_COMM_WORLD));
  CHECK(s[io::Phase::wait].operations == 3 * size_of(MPI_COMM_WORLD));
  CHECK(s[io::Phase::wait].min <= s[io::Phase::wait].mean);
  CHECK(s[io::Phase::wait].mean <= s[io::Phase::wait].max);
  CHECK(example.file->statistics()[io::Phase::post].bytes ==
        writer->statistics()[io::Phase::post].bytes);
  if (format == "null") {
    CHECK(s.work.written_bytes == 0);
    CHECK(s[io::Phase::fsync].operations == 0);
  } else {
    CHECK(s.work.written_bytes >= fixed + 2 * record);
  }
  CHECK(example.file->hints().empty() ==
        (format == "null" || format == "serial" || format == "direct"));
  if (!example.file->hints().empty())
    CHECK(example.file->hints().at("mpi_io") == io::mpi_io_name());
}
