// io/durable/lock.hpp: one writer per name; a lock that was left is taken over, others are refused.
// And sets of files: what a run that was killed between two renames leaves, and how the next one
// ends it.
#include "io/durable/durable.hpp"
#include "io/durable/lock.hpp"
#include "io/durable/verify.hpp"
#include "io/writer.hpp"
#include "tests/io/scratch.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <fstream>
#include <iterator>
#include <sys/wait.h>

using namespace nunatak;
using Catch::Matchers::ContainsSubstring;

namespace {

nlohmann::json read_json(const std::string& path) {
  std::ifstream in(path);
  return nlohmann::json::parse(in);
}

io::Schema numbers() {
  io::Schema s;
  s.dimensions = {{"x", 12, true}};
  s.variables = {{"v", io::Type::float64, {"x"}, {}}};
  return s;
}

void write(const std::string& path, const io::Options& options, double value) {
  const auto writer = io::make_writer(MPI_COMM_WORLD, options);
  const auto file = writer->open(path, numbers());
  file->put_all("v", std::vector<double>(12, value));
  file->close();
}

} // namespace

TEST_CASE("one writer per name, until it closes the file or lets it go") {
  const Scratch scratch;
  io::Options options;
  options.format = GENERATE("serial", "pnetcdf");
  const auto writer = io::make_writer(MPI_COMM_WORLD, options);
  const std::string path = scratch / "ex.nc";
  {
    const auto file = writer->open(path, numbers());
    CHECK_THAT(message([&] { writer->open(path, numbers()); }),
               ContainsSubstring("ex.nc': expected to be its only writer, found process ") &&
                   ContainsSubstring("ex.nc.lock"));
    writer->open(scratch / "other.nc", numbers());
  }                            // never closed
  MPI_Barrier(MPI_COMM_WORLD); // rank 0 has let it go
  CHECK_FALSE(std::filesystem::exists(path + ".lock"));
  MPI_Barrier(MPI_COMM_WORLD); // before rank 0 takes it again
  const auto file = writer->open(path, numbers());
  file->put_all("v", std::vector<double>(12, 1.0));
  file->close();
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_FALSE(std::filesystem::exists(path + ".lock"));
  MPI_Barrier(MPI_COMM_WORLD); // before rank 0 takes it again
  CHECK(message([&] { writer->open(path, numbers()); }) == "no error");
}

TEST_CASE(
    "a lock that was left is taken over; of others it is said whose they are and what to delete") {
  const Scratch scratch;
  scratch.on_rank_0([&] {
    const std::string path = scratch / "ex.nc", name = path + ".lock";
    nlohmann::json mine;
    {
      const io::Lock lock(path);
      CHECK_FALSE(lock.was_left());
      mine = read_json(name);
    }
    CHECK_FALSE(std::filesystem::exists(name));
    const auto with = [&](const nlohmann::json& change) {
      nlohmann::json text = mine;
      text.update(change);
      std::ofstream(name) << text << "\n";
      const std::string found = message([&] {
        const io::Lock lock(path);
        CHECK(lock.was_left());
      });
      if (found == "no error") CHECK_FALSE(std::filesystem::exists(name));
      return found;
    };
    // taken over
    const pid_t ended = fork();
    if (ended == 0) _exit(0);
    siginfo_t how{};
    REQUIRE(waitid(P_PID, static_cast<id_t>(ended), &how, WEXITED | WNOWAIT) ==
            0); // it has ended, and stays a zombie
    std::ifstream stat("/proc/" + std::to_string(ended) + "/stat");
    const std::vector<std::string> fields{std::istream_iterator<std::string>(stat), {}};
    CHECK(with({{"process", ended}, {"began", fields.at(21)}}) == "no error");
    waitpid(ended, nullptr, 0);
    CHECK(with({{"process", ended}}) == "no error");
    CHECK(with({{"began", "1"}}) == "no error"); // the number is in use again
    CHECK(with({{"boot", "another"}}) == "no error");
    setenv("SLURM_JOB_ID", "77", 1);
    setenv("SLURM_RESTART_COUNT", "1", 1);
    CHECK(with({{"host", "node9"}, {"job", "77"}}) == "no error"); // requeued
    unsetenv("SLURM_JOB_ID");
    unsetenv("SLURM_RESTART_COUNT");
    // not
    CHECK_THAT(with(nlohmann::json::object()),
               ContainsSubstring("found process " + std::to_string(getpid())));
    CHECK_THAT(
        with(
            {{"process", 1}, {"began", ""}, {"job", "77"}, {"boot", "another"}, {"host", "node9"}}),
        ContainsSubstring("the lock of process 1 on host node9, job 77, since 20") &&
            ContainsSubstring("if it does not, delete '" + name + "'"));
    CHECK_THAT(with({{"processes", "pid:[1]"}}), ContainsSubstring("it cannot be told"));
    CHECK_THAT(with({{"process", "many"}}), ContainsSubstring("does not say who writes"));
    std::ofstream(name) << "12\n";
    CHECK_THAT(message([&] { const io::Lock lock(path); }),
               ContainsSubstring("if nobody does, delete it"));
    std::ofstream(name, std::ios::trunc).close(); // killed before it had said who it is
    CHECK(message([&] { const io::Lock lock(path); }) == "no error");
    // deleted by hand and taken by another: not ours to remove
    {
      const io::Lock lock(path);
      std::ofstream(name) << "another's\n";
    }
    CHECK(std::filesystem::exists(name));
  });
}

TEST_CASE("a manifest that cannot be appended to is an error before anything is written") {
  const Scratch scratch;
  scratch.on_rank_0([&] { std::filesystem::create_directory(scratch / "manifest.jsonl"); });
  io::Options options;
  options.format = GENERATE("serial", "pnetcdf");
  const auto writer = io::make_writer(MPI_COMM_WORLD, options);
  CHECK_THAT(message([&] { writer->open(scratch / "ex.nc", numbers()); }),
             ContainsSubstring("manifest.jsonl': expected to append to the manifest"));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_FALSE(std::filesystem::exists(scratch / "ex.nc.tmp"));
  CHECK_FALSE(std::filesystem::exists(scratch / "ex.nc.lock"));
  for (const char* name : {"manifest.jsonl", "a.tmp", "a.nc.commit", "a.nc.lock"}) {
    CHECK_THAT(message([&] { writer->open(scratch / (std::string("sub/") + name), numbers()); }),
               ContainsSubstring("expected a name that is not manifest.jsonl"));
  }
}

TEST_CASE("files of one write: a mixture with those before is told, and ended by the next run if "
          "it can be") {
  if (size_of(MPI_COMM_WORLD) < 3) SKIP("three files of three ranks");
  const Scratch scratch;
  io::Options options;
  options.format = "serial", options.layout = "file-per-aggregator:3";
  const std::string path = scratch / "run.nc", manifest = scratch / "manifest.jsonl";
  const auto piece = [&](int n) { return path + ".000" + std::to_string(n); };
  write(path, options, 1.0);
  CHECK(io::verify_manifest(manifest).empty());
  MPI_Barrier(MPI_COMM_WORLD);
  std::string lines_before;
  scratch.on_rank_0([&] {
    std::filesystem::create_directory(scratch / "old");
    for (const char* n : {"0", "1", "2"})
      std::filesystem::copy(path + ".000" + n, scratch / ("old/" + std::string(n)));
    lines_before = io::read_manifest(manifest);
  });
  write(path, options, 2.0);
  scratch.on_rank_0([&] { // as if killed after the first rename
    const std::string lines = io::read_manifest(manifest);
    std::ofstream(manifest) << lines.substr(
        0, lines.rfind('\n', lines.find("committed", lines_before.size())) + 1);
    for (const char* n : {"1", "2"}) {
      std::filesystem::rename(path + ".000" + n, path + ".tmp.000" + n);
      std::filesystem::copy(scratch / ("old/" + std::string(n)), path + ".000" + n);
    }
    const auto complaints = io::verify_manifest(manifest);
    REQUIRE(complaints.size() == 4);
    CHECK_THAT(complaints[0],
               ContainsSubstring("run.nc.0000': expected the files that were written with it"));
    CHECK_THAT(complaints[3],
               ContainsSubstring("run.nc': variable") && ContainsSubstring("with the sum"));
  });
  SECTION("the next run makes the new ones whole before it writes") {
    scratch.on_rank_0([&] { // it finds the lock of one that has ended
      {
        const io::Lock lock(path);
        std::filesystem::copy_file(path + ".lock", scratch / "lock");
      }
      auto left = read_json(scratch / "lock");
      left["began"] = "1";
      std::ofstream(path + ".lock") << left << "\n";
    });
    const auto writer = io::make_writer(MPI_COMM_WORLD, options);
    { const auto file = writer->open(path, numbers()); } // and dies
    scratch.on_rank_0([&] { CHECK(io::verify_manifest(manifest).empty()); });
  }
  SECTION("if none was renamed, the old ones stand") {
    scratch.on_rank_0([&] {
      std::filesystem::rename(piece(0), path + ".tmp.0000");
      std::filesystem::copy(scratch / "old/0", piece(0));
      CHECK(io::verify_manifest(manifest).empty());
      io::finish_commit(path);
      CHECK(std::filesystem::exists(path + ".tmp.0000"));
    });
  }
  SECTION("two files instead of three: the third is left over, and no complaint") {
    options.layout = "file-per-aggregator:2";
    write(path, options, 3.0);
    scratch.on_rank_0([&] {
      CHECK(std::filesystem::exists(piece(2)));
      CHECK(io::verify_manifest(manifest).empty());
    });
  }
}

TEST_CASE("all ranks together find what each piece of a file is, and what was changed") {
  const Scratch scratch;
  io::Options options;
  options.format = "serial";
  const std::string path = scratch / "ex.nc", manifest = scratch / "manifest.jsonl",
                    large = scratch / "large";
  write(path, options, 1.0);
  scratch.on_rank_0([&] {
    std::ofstream out(large, std::ios::binary);
    for (int n = 0; n < 9 << 20; ++n) out.write("1234", 4); // three pieces
  });
  const auto found = io::read_files(MPI_COMM_WORLD, {{path}, {large}, {scratch / "none"}});
  CHECK(found[1].size == 36 << 20);
  CHECK(found[1].checksum == io::checksum_file(large).checksum);
  CHECK(found[2].error == "No such file or directory");
  CHECK(message([&] { io::require_intact(MPI_COMM_WORLD, large); }) == "no error"); // no line
  CHECK(message([&] { io::require_intact(MPI_COMM_WORLD, path); }) == "no error");
  CHECK(io::verify(MPI_COMM_WORLD, manifest).files == 1);
  CHECK(io::verify(MPI_COMM_WORLD, manifest, "large").files == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  scratch.on_rank_0([&] {
    std::fstream f(path, std::ios::in | std::ios::out | std::ios::binary);
    f.seekp(-1, std::ios::end);
    f.put(1);
    std::filesystem::create_symlink("ex.nc", scratch / "link.nc");
  });
  for (const char* name : {"ex.nc", "link.nc"}) {
    CHECK_THAT(message([&] { io::require_intact(MPI_COMM_WORLD, scratch / name); }),
               ContainsSubstring(std::string(name) + "': ") &&
                   ContainsSubstring("expected values with the sum"));
  }
  const io::Verification result = io::verify(MPI_COMM_WORLD, manifest, "ex.nc");
  CHECK(result.complaints.size() == (rank_in(MPI_COMM_WORLD) == 0 ? 1 : 0));
}
