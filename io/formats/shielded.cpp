#include "io/formats/shielded.hpp"

#include "io/agree.hpp"
#include "io/layouts/format_around.hpp"
#include "io/trace/shield.hpp"

namespace nunatak::io {

namespace {

/// Run `f`, whose libraries learn of no failure: the first one is kept. Where there is one, an
/// error of `f` follows from it.
template <class F> void shielded(const std::string& path, KeptError& kept, const F& f) {
  const Shield shield;
  const auto look = [&] {
    if (!shield.error().empty()) kept.set("file '" + path + "': " + shield.error());
  };
  try {
    f();
  } catch (const Error&) {
    look();
    if (!kept.is_set()) throw;
  }
  look();
}

class Shielded final : public FormatAround {
public:
  Shielded(std::string path, KeptError opened, std::unique_ptr<Format> inner)
      : FormatAround(std::move(inner)), m_path(std::move(path)), m_error(std::move(opened)) {}

  void define() override {
    run([this] { m_inner->define(); });
  }
  /// A layout may put more, together with other ranks: they must not be left here.
  void put(std::size_t v, const Hyperslab& slab) override {
    shielded(m_path, m_error, [&] { m_inner->put(v, slab); });
  }
  void wait() override {
    run([this] { m_inner->wait(); });
  }
  void flush() override {
    run([this] { m_inner->flush(); });
  }
  void flush_values() override {
    run([this] { m_inner->flush_values(); });
  }
  void close() override {
    run([this] { m_inner->close(); });
  }

private:
  template <class F> void run(const F& f) {
    shielded(m_path, m_error, f);
    m_error.rethrow();
  }
  std::string m_path;
  KeptError m_error;
};

} // namespace

std::unique_ptr<Format> open_shielded(OpenFunction* open, MPI_Comm comm, const std::string& path,
                                      const Schema& schema, const Options& options) {
  KeptError opened;
  std::unique_ptr<Format> format;
  shielded(path, opened, [&] { format = open(comm, path, schema, options); });
  if (!format) opened.rethrow();
  return std::make_unique<Shielded>(path, std::move(opened), std::move(format));
}

} // namespace nunatak::io
