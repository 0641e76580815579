#include "io/async/on_disk.hpp"

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>

namespace nunatak::io {

namespace {

std::function<bool()> take_meanwhile; ///< empty but on a server

} // namespace

Meanwhile::Meanwhile(std::function<bool()> take) { take_meanwhile = std::move(take); }
Meanwhile::~Meanwhile() { take_meanwhile = nullptr; }

void on_disk(std::size_t bytes, const std::function<void()>& call) {
  using Microseconds = std::chrono::microseconds;
  constexpr std::size_t worth_it = std::size_t{1} << 20;
  if (!take_meanwhile || bytes < worth_it) return call();
  // its destructor waits for the call, if take_meanwhile() throws
  std::future<void> done = std::async(std::launch::async, call);
  constexpr Microseconds shortest(20), longest(2000);
  for (Microseconds nap = shortest; done.wait_for(nap) != std::future_status::ready;)
    nap = take_meanwhile() ? shortest : std::min(2 * nap, longest);
  done.get();
}

} // namespace nunatak::io
