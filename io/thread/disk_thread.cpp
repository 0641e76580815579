// See disk_thread.hpp.
#include "io/thread/disk_thread.hpp"

#include <algorithm>
#include <exception>

namespace nunatak::io {

namespace {

DiskThread* in_use = nullptr;

} // namespace

void on_disk(const std::function<void()>& call) { in_use != nullptr ? in_use->make(call) : call(); }

DiskThread::DiskThread(std::function<bool()> meanwhile) : m_meanwhile(std::move(meanwhile)) { in_use = this; }

DiskThread::~DiskThread() { in_use = nullptr; }

void DiskThread::make(const std::function<void()>& call) {
  std::exception_ptr thrown, thrown_meanwhile;
  const std::int64_t job = m_thread.add([&] {
    try {
      call();
    } catch (...) {
      thrown = std::current_exception();
    }
  });
  try {
    constexpr int shortest = 20, longest = 2000; // microseconds
    for (int nap = shortest; !m_thread.is_done_within(nap, job);) nap = m_meanwhile() ? shortest : std::min(2 * nap, longest);
  } catch (...) {
    thrown_meanwhile = std::current_exception();
    m_thread.wait_for(job);
  }
  for (const std::exception_ptr& e : {thrown, thrown_meanwhile}) {
    if (e) std::rethrow_exception(e);
  }
}

} // namespace nunatak::io
