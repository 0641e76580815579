#include "io/thread/write_thread.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>

namespace nunatak::io {

WriteThread::WriteThread(std::size_t ring_bytes)
    : m_ring(ring_bytes), m_thread([this] { run(); }) {}

WriteThread::~WriteThread() {
  {
    const std::lock_guard lock(m_mutex);
    m_ends = true;
  }
  m_change.notify_all();
  m_thread.join();
}

std::int64_t WriteThread::add(std::function<void()> job) {
  {
    const std::lock_guard lock(m_mutex);
    m_jobs.push_back(std::move(job));
  }
  m_change.notify_all();
  return ++m_added;
}

std::int64_t WriteThread::add_with_values(std::function<void()> job) {
  m_ring.keep([this, number = m_added + 1] { return done() >= number; });
  return add(std::move(job));
}

std::int64_t WriteThread::done() const {
  const std::lock_guard lock(m_mutex);
  return m_done;
}

void WriteThread::wait_for(std::int64_t number) const {
  std::unique_lock lock(m_mutex);
  m_change.wait(lock, [&] { return m_done >= number; });
}

bool WriteThread::is_done_within(int microseconds, std::int64_t number) const {
  std::unique_lock lock(m_mutex);
  return m_change.wait_for(lock, std::chrono::microseconds(microseconds),
                           [&] { return m_done >= number; });
}

void WriteThread::rethrow() const {
  const std::lock_guard lock(m_mutex);
  m_error.rethrow();
}

double WriteThread::busy_seconds() const {
  const std::lock_guard lock(m_mutex);
  return m_busy;
}

void WriteThread::run() {
  std::unique_lock lock(m_mutex);
  for (;;) {
    m_change.wait(lock, [this] { return m_ends || !m_jobs.empty(); });
    if (m_jobs.empty()) return;
    const std::function<void()> job = std::move(m_jobs.front());
    m_jobs.pop_front();
    if (!m_error.is_set()) {
      lock.unlock();
      const auto start = std::chrono::steady_clock::now();
      KeptError error;
      try {
        job();
      } catch (const std::bad_alloc&) { // in no collective call: the rank goes on with the others
        error.set("expected memory to write what waits, found none");
      } catch (const std::exception& e) {
        error.set(e.what());
      }
      lock.lock();
      m_busy += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (error.is_set()) m_error = error;
    }
    m_done += 1;
    m_change.notify_all();
  }
}

namespace {

DiskThread* in_use = nullptr;

} // namespace

void on_disk(std::size_t bytes, const std::function<void()>& call) {
  if (in_use == nullptr || bytes < DiskThread::worth_it) return call();
  in_use->make(call);
}

DiskThread::DiskThread(std::function<bool()> meanwhile) : m_meanwhile(std::move(meanwhile)) {
  in_use = this;
}

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
    for (int nap = shortest; !m_thread.is_done_within(nap, job);)
      nap = m_meanwhile() ? shortest : std::min(2 * nap, longest);
  } catch (...) {
    thrown_meanwhile = std::current_exception();
    m_thread.wait_for(job);
  }
  for (const std::exception_ptr& e : {thrown, thrown_meanwhile}) {
    if (e) std::rethrow_exception(e);
  }
}

} // namespace nunatak::io
