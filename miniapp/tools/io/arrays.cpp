#include "miniapp/tools/io/arrays.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

namespace nunatak::tools {

namespace {

constexpr double land = -1.0; // the _FillValue of schema_of()

/// Encodes variable, record and position.
std::uint64_t label_of(std::size_t v, std::size_t record, std::uint64_t place) {
  return (record & 0x3ff) << 43 | (v & 0x3ff) << 33 | (place & 0x1ffffffff);
}

/// Every bit of the label affects the highest bits.
std::uint64_t hash(std::uint64_t label) {
  label = (label + 1) * 0x9e3779b97f4a7c15u; // 2^64 over the golden ratio
  label ^= label >> 32;
  label *= 0x9e3779b97f4a7c15u;
  return label ^ label >> 29;
}

template <class T> T pattern(std::size_t v, std::size_t record, std::uint64_t place) {
  const std::uint64_t label = label_of(v, record, place);
  if constexpr (std::is_same_v<T, double>) {
    return static_cast<double>(label);
  } else if constexpr (std::is_same_v<T, float>) {
    return static_cast<float>(hash(label) >> 40);
  } else {
    return static_cast<T>(hash(label) >> (65 - 8 * sizeof(T)));
  }
}

/// f(place, offset) for every element of a box; offset = sum of index times stride, memory order.
template <class F>
void for_each_element(const std::vector<std::size_t>& shape, const Box& box,
                      const std::vector<std::ptrdiff_t>& stride, const F& f) {
  const std::size_t n = shape.size();
  if (box.elements() == 0) return;
  std::vector<std::size_t> rows = box.count, index(n, 0);
  rows.back() = 1;
  do {
    std::uint64_t place = 0;
    std::ptrdiff_t offset = 0;
    for (std::size_t d = 0; d < n; ++d) {
      place = place * shape[d] + box.start[d] + index[d];
      offset += static_cast<std::ptrdiff_t>(index[d]) * stride[d];
    }
    for (std::size_t i = 0; i < box.count[n - 1]; ++i, ++place, offset += stride[n - 1])
      f(place, offset);
  } while (io::next_index(index, rows));
}

template <class T>
void fill_box(const Workload& w, std::size_t v, std::size_t record, const Box& box,
              const std::vector<std::ptrdiff_t>& stride, T* first) {
  const WorkloadVariable& variable = w.variables[v];
  const std::vector<std::size_t> shape = w.shape(variable);
  if (variable.content == Content::ocean) {
    const std::size_t nx = shape.back(), ny = shape[shape.size() - 2];
    for_each_element(shape, box, stride, [&](std::uint64_t place, std::ptrdiff_t at) {
      first[at] = w.is_land(place / nx % ny, place % nx) ? static_cast<T>(land)
                                                         : pattern<T>(v, record, place);
    });
  } else {
    for_each_element(shape, box, stride, [&](std::uint64_t place, std::ptrdiff_t at) {
      first[at] = pattern<T>(v, record, place);
    });
  }
}

} // namespace

Arrays::Arrays(const Workload& workload, int rank, int ranks) : m_workload(workload) {
  for (const WorkloadVariable& v : workload.variables) {
    m_arrays.emplace_back();
    if (v.content == Content::coordinate) continue;
    for (const Box& box :
         boxes_of(workload, v, static_cast<std::size_t>(rank), static_cast<std::size_t>(ranks))) {
      m_arrays.back().push_back(make_array(v, box));
    }
  }
}

/// Contiguous in memory order, with a ring of ghosts along the decomposed dimensions.
Arrays::Array Arrays::make_array(const WorkloadVariable& variable, const Box& box) const {
  Array array{box, std::vector<std::ptrdiff_t>(box.count.size()), 0, {}};
  std::size_t next = 1;
  for (std::size_t d = box.count.size(); d-- > 0;) {
    const std::size_t ring =
        m_workload.dimension(variable.dimensions[d]).cut_along >= 0 ? m_workload.ghosts : 0;
    array.stride[d] = static_cast<std::ptrdiff_t>(next);
    array.first += static_cast<std::ptrdiff_t>(ring * next);
    next *= box.count[d] + 2 * ring;
  }
  if (box.elements() > 0) array.data.resize(next * io::bytes_of(variable.type));
  return array;
}

std::size_t Arrays::bytes() const {
  std::size_t sum = 0;
  for (const auto& arrays : m_arrays) {
    for (const Array& array : arrays) sum += array.data.size();
  }
  return sum;
}

void Arrays::fill(std::size_t record) {
  if (m_record == record) return;
  for (std::size_t v = 0; v < m_arrays.size(); ++v) {
    if (!m_workload.variables[v].records && m_record) continue;
    for (Array& array : m_arrays[v]) {
      if (array.data.empty()) continue;
      io::with_type(m_workload.variables[v].type, [&](auto type) {
        fill_box(m_workload, v, record, array.box, array.stride,
                 reinterpret_cast<decltype(type)*>(array.data.data()) + array.first);
      });
    }
  }
  m_record = record;
}

std::vector<double> Arrays::coordinates(const WorkloadVariable& variable) const {
  const WorkloadDimension& d = m_workload.dimension(variable.name);
  std::vector<double> values(d.length);
  for (std::size_t n = 0; n < d.length; ++n) values[n] = static_cast<double>(n) * d.spacing;
  return values;
}

std::vector<io::Block> Arrays::blocks(std::size_t v, const std::string& order) const {
  std::vector<io::Block> blocks;
  for (const Array& array : m_arrays[v]) {
    blocks.emplace_back();
    for (const std::size_t d : file_order(m_workload, m_workload.variables[v], order)) {
      blocks.back().start.push_back(array.box.start[d]);
      blocks.back().count.push_back(array.box.count[d]);
      blocks.back().stride.push_back(array.stride[d]);
    }
  }
  return blocks;
}

void Arrays::put(io::File& file, std::size_t record, const std::string& order) const {
  const auto put_variable = [&](std::size_t v) {
    const WorkloadVariable& variable = m_workload.variables[v];
    if (variable.content == Content::coordinate) {
      file.put_all(variable.name, coordinates(variable));
      return;
    }
    const std::vector<io::Block> of_file = blocks(v, order);
    for (std::size_t b = 0; b < of_file.size(); ++b) {
      const Array& array = m_arrays[v][b];
      io::with_type(variable.type, [&](auto type) {
        const auto* const first = reinterpret_cast<const decltype(type)*>(array.data.data());
        const auto* const data = array.data.empty() ? nullptr : first + array.first;
        file.put(variable.name, variable.records ? record : io::no_record, of_file[b], data);
      });
    }
  };
  for (std::size_t v = 0; v < m_arrays.size() && record == 0; ++v) {
    if (!m_workload.variables[v].records) put_variable(v);
  }
  file.put_all("time", record, std::vector<double>{365.0 * static_cast<double>(record)});
  for (std::size_t v = 0; v < m_arrays.size(); ++v) {
    if (m_workload.variables[v].records) put_variable(v);
  }
}

std::string Arrays::difference(std::size_t v, std::size_t b, std::size_t record,
                               const std::string& order, const std::vector<double>& found) const {
  const WorkloadVariable& variable = m_workload.variables[v];
  const Box& box = m_arrays[v][b].box;
  std::vector<std::ptrdiff_t> stride(box.count.size()); // of `found`, by dimension in memory
  std::ptrdiff_t next = 1;
  const std::vector<std::size_t> places = file_order(m_workload, variable, order);
  for (std::size_t n = places.size(); n-- > 0;) {
    stride[places[n]] = next;
    next *= static_cast<std::ptrdiff_t>(box.count[places[n]]);
  }
  std::ostringstream text;
  text.precision(17);
  text << "variable '" << variable.name << "', record " << record << ": expected ";
  if (found.size() != box.elements()) {
    text << box.elements() << " values, found " << found.size();
    return text.str();
  }
  return io::with_type(variable.type, [&](auto type) -> std::string {
    std::vector<decltype(type)> expected(found.size());
    fill_box(m_workload, v, record, box, stride, expected.data());
    for (std::size_t n = 0; n < found.size(); ++n) {
      const auto value = static_cast<double>(expected[n]);
      const bool filled = variable.content == Content::ocean && value == land;
      if (found[n] == value || (filled && std::isnan(found[n]))) continue;
      text << value << " at value " << n << " of this rank, found " << found[n];
      return text.str();
    }
    return "";
  });
}

} // namespace nunatak::tools
