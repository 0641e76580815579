#include "io/thread/queued.hpp"

#include "io/layouts/format_around.hpp"

#include <algorithm>
#include <mutex>

namespace nunatak::io {

namespace {

constexpr std::size_t most_part = std::size_t{4} << 20; ///< bytes

class Queued final : public FormatAround {
public:
  Queued(WriteThread& thread, const Schema& schema, std::unique_ptr<Format> inner)
      : FormatAround(std::move(inner)), m_thread(thread), m_schema(schema) {}
  Queued(std::unique_ptr<WriteThread> thread, const Schema& schema, std::unique_ptr<Format> inner)
      : FormatAround(std::move(inner)), m_own(std::move(thread)), m_thread(*m_own),
        m_schema(schema) {}
  ~Queued() override { m_thread.wait_for(m_last); }

  void define() override {
    m_inner->define();
    m_grows_in_place = m_inner->grows_in_place();
  }

  void put(std::size_t v, const Hyperslab& slab) override {
    if (slab.elements() == 0) return;
    const Type type = m_schema.variables[v].type;
    const Box whole = slab.box(m_schema.has_records(m_schema.variables[v]));
    for (const Box& box :
         cut(whole, std::min(m_thread.ring().size() / 4, most_part) / bytes_of(type))) {
      Hyperslab part = slice(slab, box);
      const double stalled = m_thread.ring().stall_seconds();
      std::byte* const values = m_thread.ring().take(part.elements() * bytes_of(type));
      m_stall += m_thread.ring().stall_seconds() - stalled;
      pack(part, type, values);
      part.now_packed(values, type);
      m_last =
          m_thread.add_with_values([this, v, part] { work_on([&] { m_inner->put(v, part); }); });
    }
  }

  void push() override {
    m_last = m_thread.add([this] { work_on([this] { m_inner->push(); }); });
  }
  void wait() override {
    m_last = m_thread.add([this] { work_on([this] { m_inner->wait(); }); });
    if (m_own) m_thread.wait_for(m_last);
    m_thread.rethrow();
  }
  bool grows_in_place() const override { return m_grows_in_place; }
  std::uint64_t expected_size(std::uint64_t /*records*/) const override {
    return 0;
  } // nothing is reserved

  Work work() const override {
    const std::lock_guard lock(m_mutex);
    Work work = m_work;
    work.stall_seconds = m_stall;
    return work;
  }

private:
  /// By the thread.
  template <class F> void work_on(const F& f) {
    f();
    const std::lock_guard lock(m_mutex);
    m_work = m_inner->work();
  }

  /// When nothing is left to the thread.
  Format& when_written() const override {
    m_thread.wait_for(m_last);
    return *m_inner;
  }

  std::unique_ptr<WriteThread> m_own;
  WriteThread& m_thread;
  const Schema& m_schema;
  bool m_grows_in_place = false;
  std::int64_t m_last = 0; ///< job
  double m_stall = 0.0;
  mutable std::mutex m_mutex; ///< of:
  Work m_work;                ///< of the inner format, after the last job
};

} // namespace

std::unique_ptr<Format> make_queued(WriteThread& thread, const Schema& schema,
                                    std::unique_ptr<Format> inner) {
  return std::make_unique<Queued>(thread, schema, std::move(inner));
}

std::unique_ptr<Format> make_overlapped(std::size_t ring_bytes, const Schema& schema,
                                        std::unique_ptr<Format> inner) {
  return std::make_unique<Queued>(std::make_unique<WriteThread>(ring_bytes), schema,
                                  std::move(inner));
}

} // namespace nunatak::io
