// Instantiates the templates of linear.hpp in both precisions. describe() is the key function of
// SsaNewton: its vtable is emitted in this file only.
#include "kernels/ssa/newton.hpp"

#include "kernels/ssa/linear.hpp"

#include <memory>
#include <string>

namespace nunatak {

std::string SsaNewton::describe() const {
  if (m_linear == nullptr) return "no unknowns";
  return std::to_string(m_report.unknown_cells) + " cells with two unknowns, " +
         std::to_string(m_report.excluded_cells) +
         " excluded; Picard to Newton, weighted by element, until |residual| <= " +
         SsaError::number(m_options.tolerance) + " |load|; conjugate gradients until " +
         SsaError::number(m_options.linear_tolerance) + ", with " + m_linear->describe();
}

void SsaNewton::create() {
  m_linear.reset();
  m_lists.clear();
  for (const int local : m_ranks.locals()) {
    const auto n = 2 * static_cast<std::size_t>(patch(local).unknowns());
    m_lists.push_back({List("ssa_x", n), List("ssa_f", n), List("ssa_g", n), List("ssa_y", n)});
  }
  if (m_options.single_precision) {
    m_linear =
        std::make_unique<SsaConjugateGradients<float>>(m_ranks, m_assembly, m_dx, m_dy, m_options);
  } else {
    m_linear =
        std::make_unique<SsaConjugateGradients<double>>(m_ranks, m_assembly, m_dx, m_dy, m_options);
  }
}

} // namespace nunatak
