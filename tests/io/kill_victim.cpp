// A program that writes until it is killed, and checks what the killed one left. Run by killed.cmake.
//
//   kill_victim run <folder> <format> <rank> <microseconds>    SIGKILL hits that rank so long after writing began
//   kill_victim check <folder>                                 prints the number of files that have their final names
#include "io/durable/durable.hpp"
#include "io/durable/verify.hpp"
#include "io/formats/mpi_io.hpp"
#include "io/reader.hpp"
#include "io/writer.hpp"

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <sys/time.h>

using namespace nunatak;

namespace {

constexpr std::size_t cells = 20000;

io::Schema series() {
  io::Schema s;
  s.dimensions = {{"time", io::unlimited}, {"cell", cells}};
  s.variables = {{"thk", io::Type::float64, {"time", "cell"}, {}}, {"mask", io::Type::int8, {"time", "cell"}, {}}};
  return s;
}

void put_record(io::File& file, std::size_t t, std::size_t rank, std::size_t size) {
  const std::size_t first = cells * rank / size, last = cells * (rank + 1) / size;
  const std::vector<double> thk(last - first, static_cast<double>(t) + 0.5);
  const std::vector<std::int8_t> mask(last - first, static_cast<std::int8_t>(t % 100));
  const io::Block block{{first}, {last - first}, {}};
  file.put("thk", t, block, thk.data());
  file.put("mask", t, block, mask.data());
  file.end_record(static_cast<std::int64_t>(t));
}

void kill_after(long microseconds) {
  std::signal(SIGALRM, [](int) { std::raise(SIGKILL); });
  itimerval timer{};
  timer.it_value = {microseconds / 1000000, microseconds % 1000000};
  setitimer(ITIMER_REAL, &timer, nullptr);
}

void run(const std::string& folder, const std::string& format, int victim, long microseconds) {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  io::Options options;
  options.format = format;
  const auto writer = io::make_writer(MPI_COMM_WORLD, options);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == victim) kill_after(microseconds);
  const auto spatial = writer->open(folder + "/spatial.nc", series(), {io::FileKind::append, 2});
  for (std::size_t t = 0;; ++t) {
    put_record(*spatial, t, static_cast<std::size_t>(rank), static_cast<std::size_t>(size));
    const auto snapshot = writer->open(folder + "/snapshot" + std::to_string(t % 3) + ".nc", series());
    put_record(*snapshot, 0, static_cast<std::size_t>(rank), static_cast<std::size_t>(size));
    snapshot->close(static_cast<std::int64_t>(t));
  }
}

int check(const std::string& folder) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".nc") continue;
    files += 1;
    const io::Reader in(entry.path().string(), MPI_COMM_SELF);
    if (in.records() == 0) throw io::Error("no record in " + entry.path().string());
    for (std::size_t t = 0; t < in.records(); ++t) {
      const auto thk = in.read_block("thk", {t, 0}, {1, cells});
      const auto mask = in.read_block_int("mask", {t, 0}, {1, cells});
      if (thk != std::vector<double>(cells, static_cast<double>(t) + 0.5) ||
          mask != std::vector<std::int64_t>(cells, static_cast<std::int64_t>(t % 100))) {
        throw io::Error("wrong values in record " + std::to_string(t) + " of " + entry.path().string());
      }
    }
  }
  const std::string manifest = io::manifest_of(folder + "/any.nc");
  if (std::filesystem::exists(manifest)) {
    for (const auto& complaint : io::verify_manifest(manifest)) throw io::Error(complaint);
  }
  return files;
}

} // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv, argv + argc);
  io::prefer_romio();
  MPI_Init(&argc, &argv);
  int result = 0;
  try {
    if (words.size() == 6 && words[1] == "run") {
      run(words[2], words[3], std::stoi(words[4]), std::stol(words[5]));
    } else {
      std::printf("%d\n", check(words.at(2)));
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    result = 2;
  }
  MPI_Finalize();
  return result;
}
