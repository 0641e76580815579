// The loops of ssa_assembly.hpp over elements and unknowns: residual, Jacobian, Jacobian times a vector. First the state of each
// element, then, per unknown, the sum over its four elements in raster order.
//
//   element (j-1, i-1) | (j-1, i)        unknown (j, i) is corner 3 of the first, 2, 1, 0 of the others
//   -------------------+---------
//           (j, i-1)   |  (j, i)
#include "miniapp/model/ssa_assembly.hpp"

namespace nunatak {

namespace {

template <class T> Kokkos::View<T*, Mem> on_device(const char* name, const std::vector<T>& values) {
  const Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(values.data(), values.size());
  Kokkos::View<T*, Mem> view(Kokkos::view_alloc(std::string(name), Kokkos::WithoutInitializing), values.size());
  Kokkos::deep_copy(view, host);
  return view;
}
} // namespace

void SsaAssembly::copy_to_device() {
  std::vector<int> places;
  for (const Node& n : m_nodes) places.push_back(n.j * (m_patch.xm + 2) + n.i);
  m_places = on_device("ssa_places", places);
  m_element_list = on_device("ssa_elements", m_elements);
  m_yield_list = on_device("ssa_yield", m_yield);
  m_load_list = on_device("ssa_load", m_load);
  const auto at = Kokkos::create_mirror_view(m_element_at);
  Kokkos::deep_copy(at, -1);
  for (std::size_t e = 0; e < m_elements.size(); ++e) at(m_elements[e].j, m_elements[e].i) = static_cast<int>(e);
  Kokkos::deep_copy(m_element_at, at);
  m_state = Kokkos::View<SsaElement*, Mem>("ssa_state", m_elements.size());
  m_drag = Kokkos::View<double* [3], Mem>("ssa_drag", m_nodes.size());
  m_direction = Kokkos::View<double* [2], Mem>("ssa_direction", m_nodes.size());
}

void SsaAssembly::pack(const Array2<double>& u, const Array2<double>& v, double* x) const {
  for (std::size_t n = 0; n < m_nodes.size(); ++n) {
    x[2 * n] = u(m_nodes[n].j, m_nodes[n].i);
    x[2 * n + 1] = v(m_nodes[n].j, m_nodes[n].i);
  }
}

void SsaAssembly::unpack(const double* x, const Array2<double>& u, const Array2<double>& v) const {
  for (std::size_t n = 0; n < m_nodes.size(); ++n) {
    u(m_nodes[n].j, m_nodes[n].i) = x[2 * n];
    v(m_nodes[n].j, m_nodes[n].i) = x[2 * n + 1];
  }
  m_ranks.update_ghosts({u, v});
}

void SsaAssembly::set_state(const Array2<double>& u, const Array2<double>& v, const GlenLaw& glen) const {
  const auto elements = m_element_list;
  const auto state = m_state;
  const auto BH = m_BH;
  const auto shape = m_shape;
  Kokkos::parallel_for(
      "ssa: elements", Kokkos::RangePolicy<Exec>(0, static_cast<int>(m_elements.size())), KOKKOS_LAMBDA(int n) {
        const Element e = elements(n);
        double w[8], strength[4];
        for (int c = 0; c < 4; ++c) {
          const int j = e.j + (c >> 1), i = e.i + (c & 1);
          w[2 * c] = u(j, i), w[2 * c + 1] = v(j, i), strength[c] = BH(j, i);
        }
        state(n) = SsaElement(shape(), glen, e.ice, w, strength);
      });
}

// How much of Newton's term: from the change of the strain rate since the last matrix.
void SsaAssembly::weigh(const Array2<double>& u, const Array2<double>& v, Linearisation how) const {
  const auto elements = m_element_list;
  const auto state = m_state;
  const auto shape = m_shape;
  const auto u_before = m_u_before, v_before = m_v_before;
  const bool picard = how != Linearisation::weighted;
  const double eps2 = m_glen.eps2;
  Kokkos::parallel_for(
      "ssa: weights", Kokkos::RangePolicy<Exec>(0, static_cast<int>(m_elements.size())), KOKKOS_LAMBDA(int n) {
        if (picard) return state(n).weigh(0.0);
        const Element e = elements(n);
        double change[8], Kw[8];
        for (int c = 0; c < 4; ++c) {
          const int j = e.j + (c >> 1), i = e.i + (c & 1);
          change[2 * c] = u(j, i) - u_before(j, i), change[2 * c + 1] = v(j, i) - v_before(j, i);
        }
        const double change2 = SsaElement::strain2(shape(), e.ice, change, Kw);
        state(n).weigh(newton_weight(change2, state(n).e2 + eps2, strain_caution));
      });
}

void SsaAssembly::residual(const Array2<double>& u, const Array2<double>& v, double* r) const {
  set_state(u, v, m_glen);
  const auto places = m_places;
  const auto yield = m_yield_list, load = m_load_list;
  const auto element_at = m_element_at;
  const auto state = m_state;
  const TillLaw till = m_till;
  const int stride = m_patch.xm + 2;
  Kokkos::parallel_for(
      "ssa: residual", Kokkos::RangePolicy<Exec>(0, local_unknowns()), KOKKOS_LAMBDA(int n) {
        const int j = places(n) / stride, i = places(n) % stride;
        const double U = u(j, i), V = v(j, i);
        const double beta = yield(n) > 0.0 ? yield(n) * till.drag(U * U + V * V) : 0.0;
        double x = beta * U - load(2 * n), y = beta * V - load(2 * n + 1);
        for (int c = 3; c >= 0; --c) {
          const SsaElement& e = state(element_at(j - (c >> 1), i - (c & 1)));
          x += e.residual(2 * c);
          y += e.residual(2 * c + 1);
        }
        r[2 * n] = x;
        r[2 * n + 1] = y;
      });
}

void SsaAssembly::jacobian(const Array2<double>& u, const Array2<double>& v, Linearisation how, const Rows<double>& A) const {
  GlenLaw glen = m_glen;
  if (how == Linearisation::at_rest) glen.eps2 = strain_rate_at_rest * strain_rate_at_rest;
  set_state(u, v, glen);
  weigh(u, v, how);
  const auto places = m_places;
  const auto yield = m_yield_list;
  const auto drag = m_drag;
  const auto direction = m_direction;
  const auto element_at = m_element_at;
  const auto elements = m_element_list;
  const auto state = m_state;
  const auto shape = m_shape;
  const auto number = m_global;
  const auto u_before = m_u_before, v_before = m_v_before;
  const bool picard = how != Linearisation::weighted;
  const TillLaw till = m_till;
  const int stride = m_patch.xm + 2;
  Kokkos::parallel_for(
      "ssa: Jacobian", Kokkos::RangePolicy<Exec>(0, local_unknowns()), KOKKOS_LAMBDA(int n) {
        const int j = places(n) / stride, i = places(n) % stride;
        double row[36] = {};
        if (yield(n) > 0.0) {
          const double U = u(j, i), V = v(j, i), speed2 = U * U + V * V;
          const double change[2] = {U - u_before(j, i), V - v_before(j, i)};
          const double change2 = change[0] * change[0] + change[1] * change[1];
          const double weight = picard ? 0.0 : newton_weight(change2, speed2 + till.delta2, drag_caution);
          double w[2] = {direction(n, 0), direction(n, 1)};
          if (!picard) follow_direction({U, V}, change, till.delta2, w);
          for (int m = 0; m < 2; ++m) direction(n, m) = w[m] *= weight;
          const double beta = yield(n) * till.drag(speed2);
          const double slope = beta * till.log_slope(speed2) * Kokkos::sqrt(speed2 + till.delta2);
          row[16] = beta + slope * U * w[0];
          row[17] = row[18] = 0.5 * slope * (U * w[1] + V * w[0]);
          row[19] = beta + slope * V * w[1];
        }
        drag(n, 0) = row[16], drag(n, 1) = row[17], drag(n, 2) = row[19];
        for (int c = 3; c >= 0; --c) {
          const int k = element_at(j - (c >> 1), i - (c & 1));
          const SsaElement& e = state(k);
          for (int d = 0; d < 4; ++d) {
            const int slot = ((d >> 1) - (c >> 1) + 1) * 3 + (d & 1) - (c & 1) + 1;
            for (int m = 0; m < 4; ++m)
              row[4 * slot + m] += e.jacobian(shape(), elements(k).ice, 2 * c + (m >> 1), 2 * d + (m & 1));
          }
        }
        double* out = &A(j, i, 0);
        for (int slot = 0; slot < 9; ++slot) {
          const bool unknown = number(j + slot / 3 - 1, i + slot % 3 - 1) >= 0;
          for (int m = 0; m < 4; ++m) out[4 * slot + m] = unknown ? row[4 * slot + m] : 0.0;
        }
      });
  Kokkos::deep_copy(m_u_before, u);
  Kokkos::deep_copy(m_v_before, v);
}

void SsaAssembly::jacobian_product(const Rows<double>& x, double* y) const {
  const auto places = m_places;
  const auto element_at = m_element_at;
  const auto elements = m_element_list;
  const auto state = m_linear;
  const auto drag = m_drag;
  const auto shape = m_shape;
  const int stride = m_patch.xm + 2;
  Kokkos::parallel_for(
      "ssa: Jacobian times vector", Kokkos::RangePolicy<Exec>(0, local_unknowns()), KOKKOS_LAMBDA(int n) {
        const int j = places(n) / stride, i = places(n) % stride;
        const double U = x(j, i, 0), V = x(j, i, 1);
        double sum[2] = {drag(n, 0) * U + drag(n, 1) * V, drag(n, 1) * U + drag(n, 2) * V};
        for (int c = 3; c >= 0; --c) {
          const int cj = j - (c >> 1), ci = i - (c & 1), k = element_at(cj, ci);
          const SsaElement& e = state(k);
          const auto& K = shape().K[elements(k).ice];
          double w[8], pw = 0.0;
          for (int b = 0; b < 8; ++b) {
            w[b] = x(cj + (b >> 2), ci + (b >> 1 & 1), b & 1);
            pw += e.p[b] * w[b];
          }
          for (int m = 0; m < 2; ++m) {
            double Kw = 0.0;
            for (int b = 0; b < 8; ++b) Kw += K[2 * c + m][b] * w[b];
            sum[m] += e.nuH2 * Kw + e.slope * e.p[2 * c + m] * pw;
          }
        }
        y[2 * n] = sum[0];
        y[2 * n + 1] = sum[1];
      });
}

void SsaAssembly::keep_elements() const {
  if (m_linear.extent(0) != m_state.extent(0)) m_linear = decltype(m_state)("ssa_linear", m_state.extent(0));
  Kokkos::deep_copy(m_linear, m_state);
}

Array2<int> SsaAssembly::unknown_mask() const {
  const auto mask = make_array<int>("ssa_unknown", m_patch);
  const auto number = m_global;
  for_each_cell_and_ghost(
      "ssa: unknown cells", m_patch, KOKKOS_LAMBDA(int j, int i) { mask(j, i) = number(j, i) >= 0 ? 1 : 0; });
  return mask;
}

} // namespace nunatak
