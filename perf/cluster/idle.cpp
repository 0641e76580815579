// Preloaded into MPI programs on the emulated cluster: waiting ranks sleep. With
// mpi_yield_when_idle=1 Open MPI calls sched_yield() while it waits. This one sleeps 20 us, up to
// 640 us while nothing happens between calls, so that dozens of waiting ranks leave a few cores to
// the others. A message is noticed up to 0.6 ms late.
#include <cstdint>
#include <ctime>
#include <sys/prctl.h>

namespace {

constexpr long shortest = 20000, longest = 640000, busy = 60000; // nanoseconds

std::int64_t now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * std::int64_t{1000000000} + t.tv_nsec;
}

[[maybe_unused]] const int exact_timers = prctl(PR_SET_TIMERSLACK, 1000UL, 0, 0, 0);

} // namespace

extern "C" int sched_yield() noexcept {
  thread_local std::int64_t last = 0;
  thread_local long nap = shortest;
  nap = now() - last > busy ? shortest : nap < longest ? nap + nap / 4 : nap;
  const timespec t{0, nap};
  nanosleep(&t, nullptr);
  last = now();
  return 0;
}
