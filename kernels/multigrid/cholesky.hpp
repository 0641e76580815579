// Cholesky's factors of a small dense symmetric positive semidefinite matrix, in double.
//
// A pivot that is 0 to rounding belongs to an unknown that depends on those before it; that unknown is set to 0, and if the
// system has a solution the others solve it.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace nunatak {

class Cholesky {
public:
  Cholesky() = default;
  /// `matrix`: n x n, row by row; the lower triangle is read.
  Cholesky(std::size_t n, std::vector<double> matrix) : m_n(n), m_L(std::move(matrix)) {
    constexpr double rounding = 1e-10;
    for (std::size_t j = 0; j < n; ++j) {
      const double diagonal = L(j, j);
      double pivot = diagonal;
      for (std::size_t k = 0; k < j; ++k) pivot -= L(j, k) * L(j, k);
      const bool depends = !(pivot > rounding * diagonal);
      L(j, j) = depends ? 0.0 : std::sqrt(pivot);
      for (std::size_t i = j + 1; i < n; ++i) {
        double sum = L(i, j);
        for (std::size_t k = 0; k < j; ++k) sum -= L(i, k) * L(j, k);
        L(i, j) = depends ? 0.0 : sum / L(j, j);
      }
    }
  }

  std::size_t size() const { return m_n; }

  /// Solve in place.
  void solve(std::vector<double>& b) const {
    for (std::size_t i = 0; i < m_n; ++i) {
      for (std::size_t k = 0; k < i; ++k) b[i] -= L(i, k) * b[k];
      b[i] = L(i, i) > 0.0 ? b[i] / L(i, i) : 0.0;
    }
    for (std::size_t i = m_n; i-- > 0;) {
      for (std::size_t k = i + 1; k < m_n; ++k) b[i] -= L(k, i) * b[k];
      b[i] = L(i, i) > 0.0 ? b[i] / L(i, i) : 0.0;
    }
  }

private:
  double& L(std::size_t i, std::size_t j) { return m_L[i * m_n + j]; }
  double L(std::size_t i, std::size_t j) const { return m_L[i * m_n + j]; }

  std::size_t m_n = 0;
  std::vector<double> m_L;
};

} // namespace nunatak
