#include "io/formats/runs.hpp"

#include "io/box.hpp"

namespace nunatak::io {

ClassicLayout packed_layout(const Schema& schema) {
  ClassicLayout layout;
  layout.variables.resize(schema.variables.size());
  std::uint64_t end = 0;
  for (const bool is_record : {false, true}) {
    const std::uint64_t begin = end;
    for (std::size_t v = 0; v < schema.variables.size(); ++v) {
      const Variable& variable = schema.variables[v];
      if (schema.has_records(variable) != is_record) continue;
      layout.variables[v] = {end, schema.bytes(variable), is_record};
      end = (end + schema.bytes(variable) + 7) / 8 * 8;
    }
    if (is_record) layout.record_size = end - begin;
  }
  return layout;
}

std::vector<std::uint64_t> begins_of(const ClassicLayout& layout) {
  std::vector<std::uint64_t> begins;
  for (const ClassicLayout::Place& place : layout.variables) begins.push_back(place.begin);
  return begins;
}

std::uint64_t padded_size(const ClassicLayout& layout, std::uint64_t records) {
  std::uint64_t end_of_fixed = layout.header_end, record_begin = ~std::uint64_t{0};
  for (const ClassicLayout::Place& place : layout.variables) {
    if (place.is_record) {
      record_begin = std::min(record_begin, place.begin);
    } else {
      end_of_fixed = std::max(end_of_fixed, (place.begin + place.size + 3) / 4 * 4);
    }
  }
  const std::uint64_t bytes = records * layout.record_size;
  return bytes == 0 ? end_of_fixed : record_begin + bytes;
}

void append_runs(const Schema& schema, const ClassicLayout& layout, std::size_t v,
                 const Indices& start, const Indices& count, const std::byte* data,
                 std::vector<Run>& runs) {
  if (Box{start, count}.elements() == 0) return;
  const ClassicLayout::Place& place = layout.variables[v];
  const Indices shape = schema.shape(schema.variables[v]);
  const std::size_t element = bytes_of(schema.variables[v].type), rank = count.size();
  PerDimension<std::uint64_t> stride(rank, 0); // bytes in the file
  std::uint64_t row = element;
  for (std::size_t d = rank; d-- > 0; row *= shape[d]) stride[d] = row;
  if (place.is_record) stride[0] = layout.record_size;
  const bool is_row = rank > (place.is_record ? 1 : 0); // else the last dimension is the record
  const std::size_t run_size = element * (is_row ? count[rank - 1] : 1);
  Indices steps = count, index(rank, 0);
  if (is_row) steps.back() = 1;
  do {
    std::uint64_t begin = place.begin;
    for (std::size_t d = 0; d < rank; ++d) begin += (start[d] + index[d]) * stride[d];
    if (!runs.empty() && runs.back().begin + runs.back().size == begin &&
        runs.back().data + runs.back().size == data) {
      runs.back().size += run_size;
    } else {
      runs.push_back({begin, run_size, data, v});
    }
    data += run_size;
  } while (next_index(index, steps));
}

} // namespace nunatak::io
