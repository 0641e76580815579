// A folder of its own for one test case on all ranks, removed at the end; and small MPI helpers.
#pragma once

#include "io/base/agree.hpp"
#include "io/durable/manifest.hpp"
#include "io/write/writer.hpp"

#include <catch2/matchers/catch_matchers_string.hpp>
#include <mpi.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <unistd.h>

using nunatak::io::rank_in;
using nunatak::io::size_of;

/// What f complains of.
inline std::string message(const std::function<void()>& f) {
  try {
    f();
  } catch (const nunatak::Error& e) {
    return e.what();
  }
  return "no error";
}

/// CHECK that the expression is refused with a message that contains `words`.
#define CHECK_REFUSED(expression, words)                                                           \
  CHECK_THAT(message([&] { expression; }), Catch::Matchers::ContainsSubstring(words))

/// The lines of `n` that this rank has, if ranks share them evenly.
struct Part {
  std::size_t first, count;
};
inline Part my_part(std::size_t n, MPI_Comm comm = MPI_COMM_WORLD) {
  const auto rank = static_cast<std::size_t>(rank_in(comm)),
             size = static_cast<std::size_t>(size_of(comm));
  return {n * rank / size, n * (rank + 1) / size - n * rank / size};
}

/// Flips one bit of a byte of a file.
inline void flip(const std::string& path, std::uintmax_t at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(at));
  const int byte = file.get();
  file.seekp(static_cast<std::streamoff>(at));
  file.put(static_cast<char>(byte ^ 16));
}

/// What does not match a manifest; on this rank alone.
inline std::vector<std::string> verify_alone(const std::string& manifest) {
  try {
    return nunatak::io::verify(MPI_COMM_SELF, manifest).complaints;
  } catch (const nunatak::Error& e) {
    return {e.what()};
  }
}

/// Two files have the same bytes if these numbers are the same.
inline std::size_t file_hash(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw nunatak::Error("file '" + path + "': expected to read it");
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  return std::hash<std::string>()(bytes);
}

/// Bytes that this process has written ("wchar") or read ("rchar") by calls of the system.
inline std::int64_t bytes_of_process(const std::string& counter) {
  std::ifstream in("/proc/self/io");
  std::string name;
  std::int64_t bytes = 0;
  while (in >> name >> bytes && name != counter + ":") {
  }
  return bytes;
}

inline nunatak::io::Options options_of(const std::string& method) {
  return nunatak::io::parse_method(method, {});
}
inline std::unique_ptr<nunatak::io::Writer> writer_of(const std::string& method,
                                                      MPI_Comm comm = MPI_COMM_WORLD) {
  return std::make_unique<nunatak::io::Writer>(comm, options_of(method));
}

class Scratch {
public:
  Scratch() {
    std::string path = std::filesystem::temp_directory_path() / "nunatak_io_XXXXXX";
    on_rank_0([&] {
      if (mkdtemp(path.data()) == nullptr) throw nunatak::Error("cannot create " + path);
    });
    MPI_Bcast(path.data(), static_cast<int>(path.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    m_path = path;
  }
  ~Scratch() {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_in(MPI_COMM_WORLD) == 0) std::filesystem::remove_all(m_path);
  }
  std::string path() const { return m_path.string(); }
  std::string operator/(const std::string& name) const { return (m_path / name).string(); }

  /// Run `f` on rank 0 while the others wait. What ends it there (SKIP, REQUIRE) ends all.
  void on_rank_0(const std::function<void()>& f) const {
    nunatak::io::agree(MPI_COMM_WORLD, [&] {
      try {
        if (rank_in(MPI_COMM_WORLD) == 0) f();
      } catch (const std::exception&) {
        throw;
      } catch (...) { // of Catch2: a failure is counted, a SKIP becomes one
        throw nunatak::Error("the test has ended on rank 0");
      }
    });
  }

private:
  std::filesystem::path m_path;
};
