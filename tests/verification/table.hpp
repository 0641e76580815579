// A verification table: one row per grid with its error, the bound it must stay below, and the
// observed order of convergence. Every program of tests/verification ends in such tables;
// scripts/verify.sh prints them and nothing else.
//
//   Table table("Test I: Schoof's ice stream", "max |u - exact|, m/a");
//   table.add(61, dy / 1e3, error, 16.2);   one row per grid, coarse to fine
//   table.check(rank, 1.8);                 prints (rank 0), then CHECKs every error <= bound and
//   every order >= 1.8
//
// The errors must be the same on all ranks (reduce them first): so that all fail together.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nunatak {

class Table {
public:
  /// `quantity`: what the error is, with its unit.
  Table(std::string title, std::string quantity)
      : m_title(std::move(title)), m_quantity(std::move(quantity)) {}

  /// A row: points (or cells) along the refined direction, spacing (km), error and bound.
  void add(int points, double spacing_km, double error, double bound) {
    m_rows.push_back({points, spacing_km, error, bound});
  }

  /// Order p between row n - 1 and row n, as in error ~ spacing^p. NaN: none (first row).
  double order(std::size_t n) const;

  /// Print on rank 0 (Markdown; the script knows the lines by their ### and |) and CHECK every
  /// error <= bound, and every order >= minimum_order. Without it the error is not one of the grid
  /// (it is the solver's, say): no order is printed.
  void check(int rank, std::optional<double> minimum_order = {}) const;

private:
  struct Row {
    int points;
    double spacing_km, error, bound;
  };

  void print(bool orders) const;

  std::string m_title, m_quantity;
  std::vector<Row> m_rows;
};

} // namespace nunatak
