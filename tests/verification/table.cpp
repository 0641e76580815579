// See table.hpp.
#include "verification/table.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstdio>

namespace nunatak {

double Table::order(std::size_t n) const {
  if (n == 0 || !(m_rows[n].error > 0.0) || !(m_rows[n - 1].error > 0.0)) return std::nan("");
  if (m_rows[n].spacing_km == m_rows[n - 1].spacing_km) return std::nan("");
  return std::log(m_rows[n - 1].error / m_rows[n].error) /
         std::log(m_rows[n - 1].spacing_km / m_rows[n].spacing_km);
}

void Table::check(int rank, std::optional<double> minimum_order) const {
  if (rank == 0) print(minimum_order.has_value());
  INFO(m_title << ": " << m_quantity);
  for (std::size_t n = 0; n < m_rows.size(); ++n) {
    INFO(m_rows[n].points << " points, spacing " << m_rows[n].spacing_km << " km");
    CHECK(m_rows[n].error <= m_rows[n].bound); // false for NaN
    if (minimum_order && !std::isnan(order(n))) CHECK(order(n) >= *minimum_order);
  }
}

void Table::print(bool orders) const {
  std::printf(
      "\n### %s\n\n| points | spacing, km | %s | bound | order |\n|---:|---:|---:|---:|---:|\n",
      m_title.c_str(), m_quantity.c_str());
  for (std::size_t n = 0; n < m_rows.size(); ++n) {
    const Row& row = m_rows[n];
    std::printf("| %d | %.4g | %.4g | %.4g | ", row.points, row.spacing_km, row.error, row.bound);
    if (!orders || std::isnan(order(n))) {
      std::printf("- |\n");
    } else {
      std::printf("%.2f |\n", order(n));
    }
  }
  std::fflush(stdout);
}

} // namespace nunatak
