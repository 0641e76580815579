// io/disk/disk.hpp: one writer per name. It ends with its process, whatever the file says.
#include "io/disk/disk.hpp"
#include "tests/io/series.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <array>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace nunatak;
using Catch::Matchers::ContainsSubstring;

namespace {

/// What taking the lock says.
std::string try_lock(const std::string& path) {
  return message([&] { const io::Lock lock(path); });
}

/// A process that takes the lock and holds it until it is killed.
class Holder {
public:
  explicit Holder(const std::string& path, int namespaces = 0) {
    std::array<int, 2> pipe{};
    REQUIRE(::pipe(pipe.data()) == 0);
    m_process = fork();
    if (m_process == 0) {
      if (namespaces != 0 && unshare(namespaces) != 0) _exit(2);
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (namespaces != 0 && fork() != 0) {
        int status = 0;
        wait(&status);
        _exit(0);
      }
      prctl(PR_SET_PDEATHSIG, SIGKILL); // of the new process, too
      const io::Lock lock(path);
      const auto written = ::write(pipe[1], "1", 1);
      static_cast<void>(written);
      for (;;) pause();
    }
    ::close(pipe[1]);
    char one = 0;
    m_has_it = ::read(pipe[0], &one, 1) == 1;
    ::close(pipe[0]);
  }
  ~Holder() {
    if (m_process > 0) kill_it();
  }
  bool has_it() const { return m_has_it; }
  void stop() const {
    ::kill(m_process, SIGSTOP);
    waitpid(m_process, nullptr, WUNTRACED);
  }
  void kill_it() {
    ::kill(m_process, SIGKILL);
    waitpid(m_process, nullptr, 0);
    m_process = -1;
  }

private:
  pid_t m_process = -1;
  bool m_has_it = false;
};

} // namespace

TEST_CASE("one writer per name, until it closes the file or lets it go") {
  const Scratch scratch;
  const std::string format = GENERATE("serial", "pnetcdf");
  INFO(format);
  const auto writer = writer_of(format);
  const std::string path = scratch / "ex.nc";
  {
    const auto file = writer->open(path, series());
    CHECK_THAT(message([&] { writer->open(path, series()); }),
               ContainsSubstring("ex.nc': another program writes it: process ") &&
                   ContainsSubstring("ex.nc.lock"));
    writer->open(scratch / "other.nc", series());
  }                            // never closed
  MPI_Barrier(MPI_COMM_WORLD); // rank 0 has let it go
  CHECK_FALSE(std::filesystem::exists(path + ".lock"));
  MPI_Barrier(MPI_COMM_WORLD); // before rank 0 takes it again
  const auto file = writer->open(path, series());
  put_record(*file, 0);
  file->close();
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_FALSE(std::filesystem::exists(path + ".lock"));
  MPI_Barrier(MPI_COMM_WORLD); // before rank 0 takes it again
  CHECK(message([&] { writer->open(path, series()); }) == "no error");
}

TEST_CASE("a holder that runs or is stopped has the lock; one that was killed has not") {
  const Scratch scratch;
  scratch.on_rank_0([&] {
    const std::string path = scratch / "ex.nc", name = path + ".lock";
    const auto is_refused = [&] {
      CHECK_THAT(try_lock(path), ContainsSubstring("another program writes it: process "));
    };
    Holder holder(path);
    REQUIRE(holder.has_it());
    is_refused();
    holder.stop();
    is_refused();
    std::filesystem::resize_file(name, 0); // as before it has written who it is
    CHECK_THAT(try_lock(path), ContainsSubstring("another program writes it: unknown"));
    std::ofstream(name) << "a\x1b[2Jb\n";
    CHECK_THAT(try_lock(path), ContainsSubstring("a\\x1b[2Jb"));
    holder.kill_it();
    CHECK(std::filesystem::exists(name)); // it could not remove it
    CHECK(try_lock(path) == "no error");
    CHECK_FALSE(std::filesystem::exists(name));
    // what an earlier version or anyone else left there does not matter
    for (const char* text : {"", "nonsense", R"({"host":"elsewhere","process":1})"}) {
      std::ofstream(name) << text;
      CHECK(try_lock(path) == "no error");
    }
    // a link planted there is not written through
    const std::string other = scratch / "other";
    std::ofstream(other) << "precious";
    std::filesystem::create_hard_link(other, name);
    CHECK(try_lock(path) == "no error");
    CHECK_FALSE(std::filesystem::exists(name));
    // in a copy of the folder by cp -al: the lock of the first one holds where its name is
    {
      const io::Lock lock(path);
      std::filesystem::create_hard_link(name, other + ".lock");
      CHECK_THAT(try_lock(other), ContainsSubstring("another program writes it"));
    }
    CHECK(try_lock(other) == "no error");
    CHECK_FALSE(std::filesystem::exists(other + ".lock"));
    std::filesystem::create_symlink(other, name);
    CHECK_THAT(try_lock(path), ContainsSubstring("cannot create it"));
    std::string text;
    std::getline(std::ifstream(other), text);
    CHECK(text == "precious");
  });
}

TEST_CASE("a holder in another process and time namespace has the lock") {
  const Scratch scratch;
  int may = 1;
  scratch.on_rank_0([&] {
    const std::string path = scratch / "ex.nc";
    Holder holder(path, CLONE_NEWPID | 0x80); // CLONE_NEWTIME
    may = holder.has_it() ? 1 : 0;
    if (may != 0)
      CHECK_THAT(try_lock(path), ContainsSubstring("another program writes it: process "));
  });
  MPI_Bcast(&may, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (may == 0) SKIP("no rights to make namespaces");
}

TEST_CASE("a lock that is removed while others take it is held by one of them at a time") {
  const Scratch scratch;
  scratch.on_rank_0([&] {
    const std::string path = scratch / "ex.nc";
    constexpr int processes = 3;
    constexpr int rounds = 300;
    std::array<pid_t, processes> all{};
    for (pid_t& process : all) {
      process = fork();
      if (process != 0) continue;
      for (int n = 0; n < rounds;) {
        try {
          const io::Lock lock(path);
          const int number = ::open((scratch / "holder").c_str(), O_CREAT | O_EXCL, 0600);
          if (number < 0) _exit(1); // another one is in here, too
          ::close(number);
          ::unlink((scratch / "holder").c_str());
          n += 1;
        } catch (const Error& e) {
          if (std::strstr(e.what(), "another program writes it") == nullptr) _exit(2);
        }
      }
      _exit(0);
    }
    for (const pid_t process : all) {
      int status = -1;
      waitpid(process, &status, 0);
      CHECK(status == 0);
    }
  });
}
