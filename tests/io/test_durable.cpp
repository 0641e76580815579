// io/durable/: final names are complete files, the manifest says what they hold at whatever instant
// a run dies, and names that a stranger has planted are not followed.
#include "io/disk/disk.hpp"
#include "tests/io/series.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace nunatak;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string complaints_of(const std::string& manifest) {
  std::string all;
  for (const std::string& complaint : verify_alone(manifest)) all += complaint + "\n";
  return all;
}

/// On this rank alone.
void write_alone(const std::string& path, std::size_t n, const std::string& method) {
  const auto writer = writer_of(method, MPI_COMM_SELF);
  const auto file = writer->open(path, series());
  for (std::size_t t = 0; t < n; ++t) put_record(*file, t, MPI_COMM_SELF);
  file->close();
}

} // namespace

TEST_CASE("a large file becomes durable in pieces, between which the watchdog sees progress") {
  const Scratch scratch;
  scratch.on_rank_0([&] {
    const std::string path = scratch / "large";
    std::ofstream(path) << "x";
    for (const auto& [size, calls] : {std::pair{1, 1u}, std::pair{256, 1u}, std::pair{600, 3u}}) {
      std::filesystem::resize_file(path, std::uintmax_t(size) << 20); // a hole takes no space
      std::vector<std::size_t> bytes;
      io::fsync_path(path, [&](std::size_t n, const std::function<void()>& call) {
        bytes.push_back(n);
        call();
      });
      CHECK(bytes.size() == calls);
      CHECK(bytes.back() == std::size_t(size) << 20); // fsync itself
    }
  });
}

TEST_CASE("the manifest notices what changed after it was written") {
  const Scratch scratch;
  scratch.on_rank_0([&] {
    const std::string manifest = scratch / "manifest.jsonl", path = scratch / "ex.nc",
                      good = scratch / "good.nc";
    write_alone(path, 1, "serial");
    std::filesystem::copy_file(path, good);
    const std::uintmax_t size = std::filesystem::file_size(path);
    std::fstream f(path, std::ios::in | std::ios::out | std::ios::binary);
    f.seekp(static_cast<std::streamoff>(size) - 1); // one bit of the last value
    f.put(1);
    f.close();
    CHECK_THAT(complaints_of(manifest),
               ContainsSubstring("ex.nc': ") && ContainsSubstring("expected values with the sum"));
    std::filesystem::resize_file(path, size - 8);
    CHECK_THAT(complaints_of(manifest), ContainsSubstring("bytes; found "));
    std::filesystem::remove(path);
    CHECK_THAT(complaints_of(manifest), ContainsSubstring("No such file"));
    std::filesystem::rename(good, path);
    CHECK(complaints_of(manifest).empty());
    // killed while appending a line: it does not count, and the next commit ends it
    std::ofstream(manifest, std::ios::app) << R"({"name":"ex.nc","size":1,)";
    CHECK(complaints_of(manifest).empty());
    write_alone(path, 2, "serial");
    CHECK(complaints_of(manifest).empty());
    CHECK_THAT(complaints_of(scratch / "none.jsonl"), ContainsSubstring("no such manifest"));
  });
}

TEST_CASE("killed between the line and the rename: the line before holds, too") {
  const Scratch scratch;
  const std::string method = GENERATE("serial", "direct");
  scratch.on_rank_0([&] {
    const std::string path = scratch / "ex.nc", manifest = scratch / "manifest.jsonl",
                      temporary = path + ".tmp", first = scratch / "first.nc";
    write_alone(path, 1, method);
    // a new name: only the line and the complete temporary file are there
    std::filesystem::rename(path, temporary);
    CHECK(complaints_of(manifest).empty());
    std::filesystem::rename(temporary, path);
    // a name that is replaced
    std::filesystem::copy_file(path, first);
    write_alone(path, 2, method);
    CHECK(lines_of(manifest).size() == 2);
    CHECK(complaints_of(manifest).empty());
    std::filesystem::rename(path, temporary);
    std::filesystem::copy_file(first, path);
    CHECK(complaints_of(manifest).empty());
    CHECK(message([&] { io::require_intact(MPI_COMM_SELF, path); }) == "no error");
    std::filesystem::resize_file(path, 100); // neither the old nor the new one
    CHECK_FALSE(complaints_of(manifest).empty());
    std::filesystem::rename(temporary, path);
    CHECK(complaints_of(manifest).empty());
    // without a temporary file the last line alone holds
    std::filesystem::rename(first, path);
    CHECK_FALSE(complaints_of(manifest).empty());
    // a run that starts now and dies again leaves all as it was
    std::filesystem::copy_file(path, temporary);
    { const auto file = io::Writer(MPI_COMM_SELF, {}).open(path, series()); }
    CHECK(complaints_of(manifest).empty());
  });
}

TEST_CASE("lines of a manifest that no run has written are complaints, and nothing else") {
  const Scratch scratch;
  scratch.on_rank_0([&] {
    const std::string manifest = scratch / "manifest.jsonl", path = scratch / "ex.nc";
    write_alone(path, 1, "serial");
    const auto good = lines_of(manifest)[0];
    const auto with = [&](const nlohmann::json& change) {
      nlohmann::json line = good;
      line.update(change);
      return line.dump();
    };
    std::ofstream(scratch / "victim") << "1234";
    const std::vector<std::string> bad = {
        with({{"name", "../victim"}}),
        with({{"name", scratch / "victim"}}),
        with({{"name", ".."}}),
        with({{"name", ""}}),
        with({{"name", "a\x1b[31mb"}}),
        with({{"size", -1}}),
        with({{"records", -1}}),
        with({{"records", "many"}}),
        with({{"first_record", 7}}),
        with({{"sums", {{"thk", {"no number"}}}}}),
        with({{"sums", 3}}),
        with({{"state", "perhaps"}}),
        "[1, 2, 3]",
        "5",
        R"({"name":"x"})",
    };
    for (const std::string& line : bad) {
      std::ofstream(manifest, std::ios::app) << line << "\n";
      const std::vector<std::string> complaints = verify_alone(manifest);
      REQUIRE(complaints.size() == 1);
      CHECK_THAT(complaints[0], ContainsSubstring("expected name, size, step, records"));
      CHECK(complaints[0].find('\x1b') == std::string::npos);
      CHECK(message([&] { io::require_intact(MPI_COMM_SELF, path); }) == "no error");
      std::ofstream(manifest) << good.dump() << "\n";
    }
    // lines of earlier versions: intents do not count, CRC-32 and sets are not compared
    std::ofstream(manifest, std::ios::app)
        << with({{"state", "intent"}, {"size", 1}}) << "\n"
        << with({{"metadata", "crc32:01234567"}, {"checksum", "crc32:01234567"}}) << "\n"
        << with({{"name", "victim"}, {"size", 4}, {"files", 2}, {"of", "x"}, {"set", "crc32:1"}})
        << "\n";
    CHECK(complaints_of(manifest).empty());
    // a record that the file does not have
    std::ofstream(manifest, std::ios::app)
        << with({{"records", 2}, {"sums", {{"thk", {"00", "00"}}, {"no", {"00"}}}}}) << "\n";
    CHECK_THAT(complaints_of(manifest), ContainsSubstring("variable 'no': records are missing"));
  });
}

TEST_CASE("links and other names that were planted are not followed") {
  const Scratch scratch;
  const std::string method = GENERATE("serial", "netcdf4", "pnetcdf", "hybrid", "direct",
                                      "direct/file-per-aggregator", "netcdf4/box:1");
  const bool is_hard = GENERATE(false, true);
  INFO(method << (is_hard ? ", hard link" : ", symbolic link"));
  const std::string victim = scratch / "victim";
  const auto plant = [&](const std::string& name) {
    scratch.on_rank_0([&] {
      std::ofstream(victim) << "precious";
      if (is_hard) {
        std::filesystem::create_hard_link(victim, scratch / name);
      } else {
        std::filesystem::create_symlink(victim, scratch / name);
      }
    });
  };
  for (const char* name : {"ex.nc.tmp", "ex.nc.0000.tmp"}) plant(name);
  io::Schema schema = series();
  schema.dimensions[1].distributed = true;
  const auto writer = writer_of(method);
  const auto file = writer->open(scratch / "ex.nc", schema);
  put_record(*file, 0);
  file->close();
  scratch.on_rank_0([&] {
    std::string text;
    std::ifstream(victim) >> text;
    CHECK(text == "precious");
    CHECK(complaints_of(scratch / "manifest.jsonl").empty());
  });
  MPI_Barrier(MPI_COMM_WORLD);
  if (is_hard) return;
  plant("other.nc.lock");
  CHECK_REFUSED(writer->open(scratch / "other.nc", series()), "other.nc.lock': cannot create it");
  scratch.on_rank_0([&] { std::filesystem::remove(scratch / "manifest.jsonl"); });
  plant("manifest.jsonl");
  CHECK_REFUSED(writer->open(scratch / "third.nc", series()),
                "manifest.jsonl': cannot append to the manifest");
}

TEST_CASE("no line is lost when several runs append to a manifest") {
  const Scratch scratch;
  scratch.on_rank_0([&] {
    const std::string manifest = scratch / "manifest.jsonl";
    constexpr int runs = 3;
    constexpr std::uint64_t lines = 200;
    std::vector<pid_t> processes;
    for (int run = 0; run < runs; ++run) {
      processes.push_back(fork());
      if (processes.back() != 0) continue;
      try {
        for (std::uint64_t n = 0; n < lines; ++n) {
          const std::string name = std::to_string(run) + "." + std::to_string(n % 4);
          io::append_to_manifest(manifest, io::line_of({name, n, 0, 1}));
        }
      } catch (const Error&) {
        _exit(1);
      }
      _exit(0);
    }
    for (const pid_t process : processes) {
      int status = -1;
      waitpid(process, &status, 0);
      CHECK(status == 0);
    }
    const io::Manifest parsed = io::parse_manifest(io::read_manifest(manifest));
    CHECK(parsed.bad_lines.empty());
    CHECK(lines_of(manifest).size() == runs * lines);
    REQUIRE(parsed.files.size() == 4 * runs);
    for (const auto& [name, of_file] : parsed.files) CHECK(of_file.back().size >= lines - 4);
  });
}
