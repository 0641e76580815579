// Melt below ice shelves: PICO (kernels/pico/pico.hpp) or none.
#pragma once

#include "kernels/pico/pico.hpp"
#include "miniapp/base/mpi_ranks.hpp"
#include "miniapp/model/field.hpp"
#include "miniapp/model/grid.hpp"
#include "miniapp/model/options.hpp"
#include "miniapp/model/state.hpp"

#include <nlohmann/json.hpp>

#include <optional>

namespace nunatak {

class Ocean {
public:
  Ocean(const Options& options, const Grid& grid, MpiRanks& ranks);

  /// Melt for the geometry of `state`. Collective.
  void update(const State& state, const Forcing& forcing);

  const Array2<double>& melt() const { return m_fields.melt; } ///< m s-1 of ice; 0 where there is no shelf

  void add_fields(FieldList& fields) const; ///< nothing without PICO
  nlohmann::json report() const;            ///< of the last update, and counts over all

private:
  PicoFields m_fields;
  std::optional<Pico> m_pico;
  PicoReport m_report; // of the last update
  std::int64_t m_updates = 0, m_kept = 0, m_collectives = 0;
};

} // namespace nunatak
