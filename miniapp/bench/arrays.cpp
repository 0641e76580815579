#include "miniapp/bench/arrays.hpp"

#include "io/data/exchange.hpp"
#include "io/data/hyperslab.hpp"
#include "io/layouts/auto.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace nunatak::bench {

namespace {

constexpr double missing = -1.0; // the _FillValue of schema_of()

/// Every bit of the label affects the highest bits.
std::uint64_t hash(std::uint64_t label) {
  label = (label + 1) * 0x9e3779b97f4a7c15u; // 2^64 over the golden ratio
  label ^= label >> 32;
  label *= 0x9e3779b97f4a7c15u;
  return label ^ label >> 29;
}

/// Encodes variable, record and position.
template <class T> T pattern(std::size_t v, std::size_t record, std::uint64_t place) {
  const std::uint64_t label = (record & 0x3ff) << 43 | (v & 0x3ff) << 33 | (place & 0x1ffffffff);
  if constexpr (std::is_same_v<T, double>) {
    return static_cast<double>(label);
  } else if constexpr (std::is_same_v<T, float>) {
    return static_cast<float>(hash(label) >> 40);
  } else {
    return static_cast<T>(hash(label) >> (65 - 8 * sizeof(T)));
  }
}

/// Strides of an array whose dimensions are longer by twice the ring, contiguous in memory order.
Strides strides_of(const WorkloadVariable& v, const Indices& lengths, const Indices& rings) {
  Strides strides(lengths.size(), 0);
  std::ptrdiff_t next = 1;
  for (std::size_t m = v.memory.size(); m-- > 0;) {
    const auto n = static_cast<std::size_t>(
        std::find(v.dimensions.begin(), v.dimensions.end(), v.memory[m]) - v.dimensions.begin());
    strides[n] = next;
    next *= static_cast<std::ptrdiff_t>(lengths[n] + 2 * rings[n]);
  }
  return strides;
}

/// The value at a place in the model's whole array, in memory order.
template <class T>
T value_at(const Workload& w, const WorkloadVariable& v, std::size_t record, std::size_t place) {
  if (v.content == Content::coordinate && v.records)
    return static_cast<T>(365.0 * static_cast<double>(record));
  if (v.content == Content::coordinate)
    return static_cast<T>(w.dimensions[v.dimensions[0]].spacing * static_cast<double>(place));
  if (v.content == Content::masked) {
    const Indices shape = w.lengths(w.mask);
    if (w.is_missing(place / shape[1] % shape[0], place % shape[1])) return static_cast<T>(missing);
  }
  return pattern<T>(v.number, record, place);
}

/// Fills a block of the array at `data`.
template <class T>
void fill_block(const Workload& w, const WorkloadVariable& v, std::size_t record,
                const io::Block& block, T* data) {
  const std::size_t n = v.dimensions.size();
  const Strides places = strides_of(v, w.lengths(v.dimensions), Indices(n, 0));
  Indices index(n, 0);
  if (Box{block.start, block.count}.elements() == 0) return;
  do {
    std::size_t place = 0, at = block.offset;
    for (std::size_t d = 0; d < n; ++d) {
      place += (block.start[d] + index[d]) * static_cast<std::size_t>(places[d]);
      at += index[d] * static_cast<std::size_t>(block.stride[d]);
    }
    data[at] = value_at<T>(w, v, record, place);
  } while (io::next_index(index, block.count));
}

} // namespace

Arrays::Arrays(Workload workload, int rank, int ranks)
    : m_workload(std::move(workload)), m_rank(static_cast<std::size_t>(rank)),
      m_ranks(static_cast<std::size_t>(ranks)) {
  for (const WorkloadVariable& v : m_workload.variables) {
    m_of.push_back(nullptr);
    m_data.emplace_back();
    if (v.decomposition == none) continue;
    const auto [parts, is_new] = m_parts.try_emplace({v.dimensions, v.content});
    if (is_new) parts->second = make_parts(v);
    m_of.back() = &parts->second;
    m_bytes += parts->second.elements * io::bytes_of(v.type);
    m_blocks += parts->second.blocks.size();
    m_runs += v.records ? parts->second.runs : 0;
  }
}

/// Each contiguous in memory order, with a ring of ghosts along the dimensions that are cut.
Arrays::Parts Arrays::make_parts(const WorkloadVariable& v) const {
  Parts parts;
  Indices rings;
  for (const std::size_t d : v.dimensions)
    rings.push_back(m_workload.dimensions[d].decomposition == none ? 0 : m_workload.ghosts);
  parts.boxes = boxes_of(m_workload, v, m_rank, m_ranks);
  for (const Box& box : parts.boxes) {
    io::Block block{box.start, box.count, strides_of(v, box.count, rings), {}, parts.elements};
    std::size_t elements = 1;
    for (std::size_t d = 0; d < rings.size(); ++d) {
      block.offset += rings[d] * static_cast<std::size_t>(block.stride[d]);
      elements *= box.count[d] + 2 * rings[d];
    }
    parts.blocks.push_back(block);
    if (box.elements() == 0) continue;
    parts.elements += elements;
    parts.runs += io::runs_in(box, m_workload.box(v));
  }
  return parts;
}

void Arrays::fill(std::size_t record) {
  if (m_record == record) return;
  for (std::size_t v = 0; v < m_of.size(); ++v) {
    const WorkloadVariable& variable = m_workload.variables[v];
    if (m_of[v] == nullptr || (!variable.records && m_record)) continue;
    m_data[v].resize(m_of[v]->elements * io::bytes_of(variable.type));
    io::with_type(variable.type, [&](auto type) {
      auto* const data = reinterpret_cast<decltype(type)*>(m_data[v].data());
      for (const io::Block& block : m_of[v]->blocks)
        fill_block(m_workload, variable, record, block, data);
    });
  }
  m_record = record;
}

std::vector<io::Parts> Arrays::parts(MPI_Comm comm) const {
  std::map<const Parts*, io::Parts> of_cut;
  for (const auto& [key, own] : m_parts) {
    const std::vector<Box> boxes = io::gather_boxes(comm, own.boxes);
    std::vector<io::Part> all;
    for (std::size_t n = 0; n < boxes.size(); ++n) {
      if (boxes[n].elements() > 0)
        all.push_back({static_cast<int>(n / own.boxes.size()), boxes[n]});
    }
    of_cut[&own] = io::make_parts(all);
  }
  std::vector<io::Parts> parts;
  for (std::size_t v = 0; v < m_of.size(); ++v)
    parts.push_back(m_of[v] != nullptr
                        ? of_cut[m_of[v]]
                        : io::make_parts({{0, m_workload.box(m_workload.variables[v])}}));
  return parts;
}

std::vector<Box> Arrays::read_boxes(std::size_t v) const {
  const WorkloadVariable& variable = m_workload.variables[v];
  if (m_of[v] == nullptr || m_workload.is_scattered(variable))
    return {io::part_of(m_workload.box(variable), m_rank, m_ranks)};
  return m_of[v]->boxes;
}

/// The values of a box, in the order of the file.
template <class T>
std::vector<T> Arrays::values(std::size_t v, const Box& box, std::size_t record) const {
  const io::Block block{box.start, box.count, io::contiguous_strides(box.count)};
  std::vector<T> values(box.elements());
  fill_block(m_workload, m_workload.variables[v], record, block, values.data());
  return values;
}

void Arrays::put(io::File& file, std::size_t record) const {
  for (const bool records : {false, true}) {
    for (std::size_t v = 0; v < m_of.size(); ++v) {
      const WorkloadVariable& variable = m_workload.variables[v];
      if (variable.records != records || (!records && record > 0)) continue;
      const std::size_t at = records ? record : io::no_record;
      if (m_of[v] != nullptr) {
        file.put_blocks(variable.name, at, m_of[v]->blocks, m_data[v].data(), variable.type);
        continue;
      }
      io::with_type(variable.type, [&](auto type) {
        file.put_all(variable.name, at,
                     values<decltype(type)>(v, m_workload.box(variable), record));
      });
    }
  }
}

std::string Arrays::difference(std::size_t v, const Box& box, std::size_t record,
                               const std::vector<double>& found) const {
  const WorkloadVariable& variable = m_workload.variables[v];
  return io::with_type(variable.type, [&](auto type) -> std::string {
    const auto expected = values<decltype(type)>(v, box, record);
    std::ostringstream text;
    text.precision(17);
    text << "variable '" << variable.name << "', record " << record << ": expected ";
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

} // namespace nunatak::bench
