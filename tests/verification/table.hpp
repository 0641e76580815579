// A verification table: one row per grid with its error, the bound it must stay below, and the observed order of convergence.
// Every program of tests/verification ends in such tables; scripts/verify.sh prints them and nothing else.
//
//   Table table("Test I: Schoof's ice stream", "max |u - exact|, m/a");
//   table.add(61, dy / 1e3, error, 16.2);   one row per grid, coarse to fine
//   table.check(rank, 1.8);                 prints (rank 0), then CHECKs every error <= bound and every order >= 1.8
//
// The errors must be the same on all ranks (reduce them first): every rank checks, so that all ranks fail together.
#pragma once

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nunatak {

class Table {
public:
  /// `quantity`: what the error is, with its unit.
  Table(std::string title, std::string quantity) : m_title(std::move(title)), m_quantity(std::move(quantity)) {}

  /// A row: number of points (or cells) along the refined direction, spacing in km, error and bound in the unit of `quantity`.
  void add(int points, double spacing_km, double error, double bound) { m_rows.push_back({points, spacing_km, error, bound}); }

  /// Order p between row n - 1 and row n, as in error ~ spacing^p. NaN where there is none: first row, an error of 0, equal
  /// spacings.
  double order(std::size_t n) const {
    if (n == 0 || !(m_rows[n].error > 0.0) || !(m_rows[n - 1].error > 0.0)) return std::nan("");
    if (m_rows[n].spacing_km == m_rows[n - 1].spacing_km) return std::nan("");
    return std::log(m_rows[n - 1].error / m_rows[n].error) / std::log(m_rows[n - 1].spacing_km / m_rows[n].spacing_km);
  }

  /// Print on rank 0 (Markdown; the script knows the lines by their ### and |) and CHECK every error <= bound, and every order >=
  /// minimum_order. Without it the error is not one of the grid (it is the solver's, say): no order is printed.
  void check(int rank, std::optional<double> minimum_order = {}) const {
    if (rank == 0) print(minimum_order.has_value());
    INFO(m_title << ": " << m_quantity);
    for (std::size_t n = 0; n < m_rows.size(); ++n) {
      INFO(m_rows[n].points << " points, spacing " << m_rows[n].spacing_km << " km");
      CHECK(m_rows[n].error <= m_rows[n].bound);
      if (minimum_order && !std::isnan(order(n))) CHECK(order(n) >= *minimum_order);
    }
  }

private:
  struct Row {
    int points;
    double spacing_km, error, bound;
  };

  void print(bool orders) const {
    std::printf("\n### %s\n\n| points | spacing, km | %s | bound | order |\n|---:|---:|---:|---:|---:|\n", m_title.c_str(),
                m_quantity.c_str());
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

  std::string m_title, m_quantity;
  std::vector<Row> m_rows;
};

} // namespace nunatak
