// The program that loop.py lets fail: it writes files by a method, and can check what it left.
//
//   victim run <folder> <method> [<patience> [throws <rank>|errs <rank>|sleeps <rank>]]
//       [-io_transport <word>]
//     a series of three records, each committed where the format can, and a snapshot per record;
//     prints the number of records after each (transport sync). <rank> of those that compute throws
//     in the middle of the second record: an exception, or an Error, which others are expected to
//     throw, too; or it sleeps forever there
//   victim continue <folder> <method> ...
//     the same, but the series is there, and goes on in place behind its second record
//   victim check <folder>
//     each file that has its final name is whole, and the manifest agrees; prints how many files
//     there are, and how many records the series has
//
// Patches are columns of the grid, so that the parts of the ranks interleave in the file.
#include "common/error.hpp"
#include "io/durable/manifest.hpp"
#include "io/read/reader.hpp"
#include "io/write/writer.hpp"
#include "miniapp/base/mpi_ranks.hpp"
#include "miniapp/base/program.hpp"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <thread>

using namespace nunatak;

namespace {

constexpr std::size_t ny = 40, nx = 36, nz = 3, records = 3;

io::Schema schema(std::string history) {
  history.resize(1024, ' '); // with room for a line
  io::Schema s;
  s.attributes = {{"history", history}};
  s.dimensions = {{"time", io::unlimited}, {"y", ny, true}, {"x", nx, true}, {"z", nz}};
  s.variables = {{"time", io::Type::float64, {"time"}, {}},
                 {"topg", io::Type::float64, {"y", "x"}, {}},
                 {"thk", io::Type::float64, {"time", "y", "x"}, {}},
                 {"mask", io::Type::int8, {"time", "y", "x"}, {}},
                 {"temp", io::Type::float32, {"time", "y", "x", "z"}, {}}};
  return s;
}

double value(std::size_t record, std::size_t j, std::size_t i) {
  return static_cast<double>(record * 10000 + j * 100 + i) + 0.5;
}
std::int8_t mask(std::size_t record, std::size_t j) {
  return static_cast<std::int8_t>((record + j) % 100);
}

class Fields {
public:
  Fields() {
    const auto rank = static_cast<std::size_t>(World().rank()),
               size = static_cast<std::size_t>(World().size());
    m_first = nx * rank / size, m_columns = nx * (rank + 1) / size - m_first;
  }
  void put_topg(io::File& file) const { file.put("topg", block(), values(0, 1).data()); }
  template <class Between>
  void put(io::File& file, std::size_t in_file, std::size_t record, const Between& between) const {
    file.put_all("time", in_file, std::vector<double>{static_cast<double>(record)});
    file.put("thk", in_file, block(), values(record, 1).data());
    between();
    std::vector<std::int8_t> masks;
    for (std::size_t n = 0; n < ny * m_columns; ++n) masks.push_back(mask(record, n / m_columns));
    file.put("mask", in_file, block(), masks.data());
    io::Block columns = block();
    columns.start.push_back(0), columns.count.push_back(nz);
    file.put("temp", in_file, columns, values(record, nz).data());
    file.end_record(static_cast<std::int64_t>(record));
  }
  void put(io::File& file, std::size_t in_file, std::size_t record) const {
    put(file, in_file, record, [] {});
  }

private:
  io::Block block() const { return {{0, m_first}, {ny, m_columns}, {}}; }
  std::vector<double> values(std::size_t record, std::size_t levels) const {
    std::vector<double> all;
    for (std::size_t j = 0; j < ny; ++j) {
      for (std::size_t i = 0; i < m_columns; ++i)
        all.insert(all.end(), levels, value(record, j, m_first + i));
    }
    return all;
  }
  std::size_t m_first, m_columns;
};

void leave(const std::string& what) {
  while (what == "sleeps") std::this_thread::sleep_for(std::chrono::seconds(1));
  const std::string message = "one rank cannot go on";
  if (what == "errs") throw Error(message);
  throw std::runtime_error(message);
}

void run(const std::string& folder, const std::string& method, bool continues, int patience,
         const std::string& what, int thrower) {
  const std::size_t kept = continues ? 2 : 0;
  io::Options options;
  options.patience = patience;
  const auto writer = std::make_unique<io::Writer>(world_comm(), io::parse_method(method, options));
  const Fields fields;
  const io::FileOptions series_options{1, static_cast<std::int64_t>(kept), continues};
  const auto series = writer->open(folder + "/series.nc",
                                   schema(continues ? "first\nsecond" : "first"), series_options);
  if (continues && !series->is_continued())
    throw Error(folder + "/series.nc: expected to continue it: " + series->why_anew());
  if (!continues) fields.put_topg(*series);
  for (std::size_t t = kept; t < kept + records; ++t) {
    if (t == 1 && thrower >= 0) writer->finish();
    fields.put(*series, t, t, [&] {
      if (t == 1 && thrower == World().rank()) leave(what);
    });
    if (World().rank() == 0 && writer->options().transport == "sync")
      std::printf("%zu\n", t + 1), std::fflush(stdout);
    const auto snapshot =
        writer->open(folder + "/snapshot" + std::to_string(t % 2) + ".nc", schema("first"));
    fields.put_topg(*snapshot);
    fields.put(*snapshot, 0, t);
    snapshot->close(static_cast<std::int64_t>(t));
  }
  series->close(static_cast<std::int64_t>(kept + records));
  writer->finish();
}

void expect(bool is_right, const std::string& path, const std::string& what) {
  if (!is_right) throw Error("file '" + path + "': wrong values of " + what);
}

/// The number of its records.
std::size_t check_file(const std::string& path) {
  const io::Reader in(path, MPI_COMM_WORLD);
  expect(in.records() > 0, path, "no record");
  for (std::size_t t = 0; t < in.records(); ++t) {
    const auto record = static_cast<std::size_t>(in.read_block("time", {t}, {1})[0]);
    const auto thk = in.read_block("thk", {t, 0, 0}, {1, ny, nx}),
               temp = in.read_block("temp", {t, 0, 0, 0}, {1, ny, nx, nz});
    const auto masks = in.read_block("mask", {t, 0, 0}, {1, ny, nx});
    for (std::size_t n = 0; n < ny * nx; ++n) {
      expect(thk[n] == value(record, n / nx, n % nx), path, "thk");
      expect(masks[n] == mask(record, n / nx), path, "mask");
      for (std::size_t k = 0; k < nz; ++k)
        expect(temp[n * nz + k] == static_cast<float>(value(record, n / nx, n % nx)), path, "temp");
    }
  }
  return in.records();
}

void check(const std::string& folder) {
  std::size_t files = 0, of_series = 0;
  std::string complaints;
  const std::string manifest = folder + "/manifest.jsonl";
  if (std::filesystem::exists(manifest)) {
    for (const auto& complaint : io::verify(MPI_COMM_SELF, manifest).complaints)
      complaints += complaint + "\n";
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string path = entry.path().string();
    if (entry.path().extension() != ".nc") continue;
    const std::size_t n = check_file(path);
    if (entry.path().filename() == "series.nc") of_series = n;
    files += 1;
  }
  std::printf("%zu %zu\n", files, of_series);
  if (!complaints.empty()) throw Error(complaints);
}

} // namespace

int main(int argc, char** argv) {
  return run_program(argc, argv, "victim", [&](Libraries&) {
    const std::vector<std::string> words(argv, argv + argc);
    const auto word = [&](std::size_t n, const char* otherwise) {
      return words.size() > n ? words[n] : otherwise;
    };
    if (words.at(1) == "run" || words.at(1) == "continue") {
      const std::string what = word(5, "");
      const bool leaves = what == "throws" || what == "errs" || what == "sleeps";
      return run(words.at(2), words.at(3), words.at(1) == "continue", std::stoi(word(4, "600")),
                 what, leaves ? std::stoi(words.at(6)) : -1);
    }
    check(words.at(2));
  });
}
