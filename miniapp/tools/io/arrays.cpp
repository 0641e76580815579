#include "miniapp/tools/io/arrays.hpp"

#include "io/layouts/auto.hpp"
#include "io/layouts/exchange.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

namespace nunatak::tools {

namespace {

constexpr double missing = -1.0; // the _FillValue of schema_of()

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
void for_each_element(const Indices& shape, const Box& box, const Strides& stride, const F& f) {
  const std::size_t n = shape.size();
  if (box.elements() == 0) return;
  Indices rows = box.count, index(n, 0);
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

/// `first`: the first element of the box.
template <class T>
void fill_box(const Workload& w, std::size_t v, std::size_t record, const Box& box,
              const Indices& shape, const Strides& stride, T* first) {
  if (w.variables[v].content == Content::masked) {
    const std::size_t nx = shape.back(), ny = shape[shape.size() - 2];
    for_each_element(shape, box, stride, [&](std::uint64_t place, std::ptrdiff_t at) {
      first[at] = w.is_missing(place / nx % ny, place % nx) ? static_cast<T>(missing)
                                                            : pattern<T>(v, record, place);
    });
  } else {
    for_each_element(shape, box, stride, [&](std::uint64_t place, std::ptrdiff_t at) {
      first[at] = pattern<T>(v, record, place);
    });
  }
}

} // namespace

Arrays::Arrays(const Workload& workload, int rank, int ranks)
    : m_workload(workload), m_rank(static_cast<std::size_t>(rank)),
      m_ranks(static_cast<std::size_t>(ranks)) {
  for (const WorkloadVariable& v : workload.variables) {
    m_of.push_back(nullptr);
    m_data.emplace_back();
    if (v.content == Content::coordinate) continue;
    const auto [parts, is_new] = m_parts.try_emplace({v.dimensions, v.content});
    if (is_new) parts->second = make_parts(v);
    m_of.back() = &parts->second;
    m_data.back().resize(parts->second.elements * io::bytes_of(v.type));
  }
}

/// Each contiguous in memory order, with a ring of ghosts along the decomposed dimensions.
Arrays::Parts Arrays::make_parts(const WorkloadVariable& variable) const {
  Parts parts;
  for (const Box& box : boxes_of(m_workload, variable, m_rank, m_ranks)) {
    Part part{box, Strides(box.count.size(), 0), parts.elements};
    std::size_t next = 1;
    for (std::size_t d = box.count.size(); d-- > 0;) {
      const std::size_t ring =
          m_workload.dimension(variable.dimensions[d]).cut_along >= 0 ? m_workload.ghosts : 0;
      part.stride[d] = static_cast<std::ptrdiff_t>(next);
      part.first += ring * next;
      next *= box.count[d] + 2 * ring;
    }
    if (box.elements() > 0) parts.elements += next;
    parts.parts.push_back(part);
  }
  return parts;
}

std::size_t Arrays::bytes() const {
  std::size_t sum = 0;
  for (const auto& data : m_data) sum += data.size();
  return sum;
}

void Arrays::fill(std::size_t record) {
  if (m_record == record) return;
  for (std::size_t v = 0; v < m_of.size(); ++v) {
    const WorkloadVariable& variable = m_workload.variables[v];
    if (m_of[v] == nullptr || (!variable.records && m_record)) continue;
    const Indices shape = m_workload.shape(variable);
    io::with_type(variable.type, [&](auto type) {
      auto* const data = reinterpret_cast<decltype(type)*>(m_data[v].data());
      for (const Part& part : m_of[v]->parts)
        fill_box(m_workload, v, record, part.box, shape, part.stride, data + part.first);
    });
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
  const std::vector<std::size_t> places = file_order(m_workload, m_workload.variables[v], order);
  std::vector<io::Block> blocks;
  for (const Part& part : m_of[v]->parts) {
    blocks.emplace_back();
    blocks.back().offset = part.first;
    for (const std::size_t d : places) {
      blocks.back().start.push_back(part.box.start[d]);
      blocks.back().count.push_back(part.box.count[d]);
      blocks.back().stride.push_back(part.stride[d]);
    }
  }
  return blocks;
}

std::vector<io::Parts> Arrays::parts(MPI_Comm comm, const std::string& order) const {
  const io::Schema schema = schema_of(m_workload, order);
  std::vector<io::Parts> parts{io::make_parts({{0, whole_box(schema, 0)}})}; // time
  std::map<const Parts*, io::Parts> known;
  for (std::size_t v = 0; v < m_of.size(); ++v) {
    if (m_of[v] == nullptr) {
      parts.push_back(io::make_parts({{0, whole_box(schema, v + 1)}}));
      continue;
    }
    io::Parts& same = known[m_of[v]];
    if (same == nullptr) {
      std::vector<Box> mine;
      for (const io::Block& block : blocks(v, order)) mine.push_back({block.start, block.count});
      const std::vector<Box> boxes = io::gather_boxes(comm, mine);
      std::vector<io::Part> all;
      for (std::size_t n = 0; n < boxes.size(); ++n) {
        if (boxes[n].elements() > 0) all.push_back({static_cast<int>(n / mine.size()), boxes[n]});
      }
      same = io::make_parts(all);
    }
    parts.push_back(same);
  }
  return parts;
}

std::size_t Arrays::n_blocks() const {
  std::size_t sum = 0;
  for (const Parts* parts : m_of) sum += parts == nullptr ? 0 : parts->parts.size();
  return sum;
}

std::size_t Arrays::runs(const std::string& order) const {
  std::map<const Parts*, std::size_t> runs_of; // the same for all variables with these parts
  std::size_t sum = 0;
  for (std::size_t v = 0; v < m_of.size(); ++v) {
    const WorkloadVariable& variable = m_workload.variables[v];
    if (m_of[v] == nullptr || !variable.records) continue;
    const auto [runs, is_new] = runs_of.try_emplace(m_of[v], 0);
    if (is_new) {
      const auto in_file = [&](const Box& box) {
        return in_file_order(m_workload, variable, order, box);
      };
      const Indices shape = m_workload.shape(variable);
      const Box whole = in_file({Indices(shape.size(), 0), shape});
      for (const Part& part : m_of[v]->parts) {
        if (part.box.elements() > 0) runs->second += io::runs_in(in_file(part.box), whole);
      }
    }
    sum += runs->second;
  }
  return sum;
}

std::vector<Box> Arrays::read_boxes(std::size_t v) const {
  std::vector<Box> boxes;
  if (m_of[v] == nullptr) return boxes;
  if (m_workload.owners) {
    const Indices shape = m_workload.shape(m_workload.variables[v]);
    boxes.push_back(io::part_of(Box{Indices(shape.size(), 0), shape}, m_rank, m_ranks));
  } else {
    for (const Part& part : m_of[v]->parts) boxes.push_back(part.box);
  }
  return boxes;
}

void Arrays::put(io::File& file, std::size_t record, const std::string& order) const {
  const auto put_variable = [&](std::size_t v) {
    const WorkloadVariable& variable = m_workload.variables[v];
    if (variable.content == Content::coordinate) {
      file.put_all(variable.name, coordinates(variable));
      return;
    }
    file.put_blocks(variable.name, variable.records ? record : io::no_record, blocks(v, order),
                    m_data[v].data(), variable.type);
  };
  for (std::size_t v = 0; v < m_of.size() && record == 0; ++v) {
    if (!m_workload.variables[v].records) put_variable(v);
  }
  file.put_all("time", record, std::vector<double>{365.0 * static_cast<double>(record)});
  for (std::size_t v = 0; v < m_of.size(); ++v) {
    if (m_workload.variables[v].records) put_variable(v);
  }
}

std::string Arrays::difference(std::size_t v, const Box& box, std::size_t record,
                               const std::string& order, const std::vector<double>& found) const {
  const WorkloadVariable& variable = m_workload.variables[v];
  Strides stride(box.count.size(), 0); // of `found`, by dimension in memory
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
    fill_box(m_workload, v, record, box, m_workload.shape(variable), stride, expected.data());
    for (std::size_t n = 0; n < found.size(); ++n) {
      const auto value = static_cast<double>(expected[n]);
      const bool filled = variable.content == Content::masked && value == missing;
      if (found[n] == value || (filled && std::isnan(found[n]))) continue;
      text << value << " at value " << n << " of this rank, found " << found[n];
      return text.str();
    }
    return "";
  });
}

} // namespace nunatak::tools
