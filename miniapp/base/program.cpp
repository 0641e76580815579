#include "miniapp/base/program.hpp"

#include "common/error.hpp"
#include "common/text.hpp"

#include <chrono>
#include <cstdio>
#include <iostream>
#include <new>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace nunatak {

namespace {

constexpr double longest_unwinding = 6.0; // s; longer than the 5 s that a client grants its ring

/// The lines of a message, which may quote a file, without other control characters.
std::string printable_lines(const std::string& message) {
  std::string all;
  for (const std::string& line : split(message, '\n'))
    all += (all.empty() ? "" : "\n") + printable(line, line.size());
  return all;
}

/// For an error that may be on this rank only. If all ranks fail alike, rank 0 aborts first and the
/// message appears once. One write per message, because mpiexec interleaves output.
[[noreturn]] void end_all(const World& world, const std::string& program, const char* what) {
  if (world.rank() > 0) std::this_thread::sleep_for(std::chrono::seconds(2));
  std::cerr << program + ": error: rank " + std::to_string(world.rank()) + ": " +
                   printable_lines(what) + "\n"
            << std::flush;
  world.abort();
}

/// True if text was lost, on a full disk for example; a pipe or socket may be closed (`| head`).
bool lost_standard_output() {
  struct stat out = {};
  const bool lost = !std::cout.flush() || std::ferror(stdout) != 0;
  return lost && fstat(STDOUT_FILENO, &out) == 0 && !S_ISFIFO(out.st_mode) &&
         !S_ISSOCK(out.st_mode);
}

} // namespace

int status_of(const std::string& program, const std::function<int()>& run) {
  const World world;
  const auto report = [&](const std::exception& error, int status = exit_error) {
    if (!world.all_come(longest_unwinding)) end_all(world, program, error.what());
    const char* const kind = status == exit_error ? ": error: " : ": ";
    if (world.rank() == 0)
      std::cerr << program + kind + printable_lines(error.what()) + "\n" << std::flush;
    return status;
  };
  try {
    const int status = run();
    if (!lost_standard_output()) return status;
    std::cerr << program + ": error: standard output: not all of it could be written\n";
    return status == 0 ? exit_error : status;
  } catch (const Difference& difference) {
    return report(difference, exit_differs);
  } catch (const Error& error) {
    return report(error);
  } catch (const std::invalid_argument& error) {
    return report(error);
  } catch (const std::bad_alloc&) {
    std::cerr << program + ": error: rank " + std::to_string(world.rank()) + ": out of memory\n"
              << std::flush;
    world.abort();
  } catch (const std::exception& error) {
    end_all(world, program, error.what());
  }
}

} // namespace nunatak
