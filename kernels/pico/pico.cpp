#include "kernels/pico/pico.hpp"

#include "kernels/pico/geometry.hpp"
#include "kernels/pico/melt.hpp"

namespace nunatak {

struct Pico::Parts {
  pico::ShelfGeometry geometry;
  pico::ShelfMelt melt;
};

Pico::Pico(Ranks& ranks, double dx, double dy, const PicoOptions& options)
    : m_ranks(ranks), m_skip_unchanged(options.skip_unchanged),
      m_parts(new Parts{{ranks, dx, dy, options}, {ranks, dx, dy, options}}) {}
Pico::~Pico() = default;

PicoReport Pico::update(const std::vector<PicoInput>& in, std::vector<PicoFields>& out) {
  if (in.size() != static_cast<std::size_t>(m_ranks.local_size()) || out.size() != in.size()) {
    throw std::invalid_argument("PICO: expected input and fields of " +
                                std::to_string(m_ranks.local_size()) + " local ranks, found " +
                                std::to_string(in.size()) + " and " + std::to_string(out.size()));
  }
  auto& [geometry, melt] = *m_parts;
  const Traffic before = m_ranks.traffic();
  PicoReport report;
  const pico::Shelves& shelves = geometry.result();
  report.geometry_kept =
      m_skip_unchanged && geometry.valid() && melt.start(shelves, in, geometry.changed(in, out));
  if (!report.geometry_kept) {
    geometry.update(in, out);
    melt.start(shelves, in);
  }
  melt.finish(shelves, in, out, report);
  report.shelves = shelves.table.shelves;
  report.d_max = shelves.d_max;
  report.rounds = shelves.rounds;
  report.domain_imbalance = shelves.domain.imbalance();
  report.shelf_imbalance = shelves.shelf.imbalance();
  report.collectives = m_ranks.traffic().collectives - before.collectives;
  report.exchanges = m_ranks.traffic().exchanges - before.exchanges;
  return report;
}

const std::vector<pico::ShelfWater>& Pico::water() const { return m_parts->melt.water(); }

} // namespace nunatak
