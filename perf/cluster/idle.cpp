// Preloaded into MPI programs on the emulated cluster: waiting ranks sleep. With
// mpi_yield_when_idle=1 Open MPI calls sched_yield() while it waits. This one sleeps 20 us, and up
// to 640 us times the ranks of a node (IDLE_RANKS, or what srun says) while nothing happens between
// calls, so that dozens of waiting ranks leave a few cores to the others. A message is noticed as
// late as that. In MPI_Init and MPI_Finalize ranks wait by usleep(100), which sleeps in the same
// way.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <sys/prctl.h>
#include <unistd.h>

namespace {

constexpr long shortest = 20000, busy = 60000; // nanoseconds

/// The number that a variable begins with, or 1.
long number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  return std::max(1L, text == nullptr ? 1L : std::atol(text));
}

// srun says 8(x4)
const long longest =
    640000 * std::max(number_in("IDLE_RANKS"), number_in("SLURM_STEP_TASKS_PER_NODE"));

/// Processor time of this thread, so that one that lost its core does not seem busy.
std::int64_t now() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * std::int64_t{1000000000} + t.tv_nsec;
}

[[maybe_unused]] const int exact_timers = prctl(PR_SET_TIMERSLACK, 1000UL, 0, 0, 0);

} // namespace

extern "C" int sched_yield() noexcept {
  thread_local std::int64_t last = 0;
  thread_local long nap = shortest;
  nap = now() - last > busy ? shortest : std::min(nap + nap / 4, longest);
  const timespec t{0, nap};
  nanosleep(&t, nullptr);
  last = now();
  return 0;
}

extern "C" int usleep(useconds_t microseconds) {
  if (microseconds < 1000) return sched_yield();
  const timespec t{microseconds / 1000000, microseconds % 1000000 * 1000L};
  return nanosleep(&t, nullptr);
}
