#include "io/formats/runs.hpp"

#include "io/box.hpp"

namespace nunatak::io {

RunLayout packed_layout(const Schema& schema) {
  RunLayout layout;
  layout.begin.resize(schema.variables.size());
  std::uint64_t end = 0;
  const auto place = [&](bool records) {
    for (std::size_t v = 0; v < layout.begin.size(); ++v) {
      if (schema.has_records(schema.variables[v]) != records) continue;
      layout.begin[v] = end;
      end = (end + schema.bytes(schema.variables[v]) + 7) / 8 * 8;
    }
  };
  place(false);
  layout.end_of_fixed = end;
  layout.record_begin = end;
  place(true);
  layout.record_stride = end - layout.record_begin;
  return layout;
}

void append_runs(const Placement& placement, const std::vector<std::size_t>& start,
                 const std::vector<std::size_t>& count, const std::byte* data,
                 std::vector<Run>& runs) {
  const std::size_t rank = count.size();
  if (Box{start, count}.elements() == 0) return;
  std::vector<std::size_t> index(rank, 0);
  const bool is_row =
      // else the last dimension is the record
      rank > 0 && placement.stride[rank - 1] == placement.element;
  const std::size_t run_size = placement.element * (is_row ? count[rank - 1] : 1);
  std::vector<std::size_t> steps = count;
  if (is_row) steps.back() = 1;
  do {
    std::uint64_t begin = placement.begin;
    for (std::size_t d = 0; d < rank; ++d) begin += (start[d] + index[d]) * placement.stride[d];
    if (!runs.empty() && runs.back().begin + runs.back().size == begin &&
        runs.back().data + runs.back().size == data) {
      runs.back().size += run_size;
    } else {
      runs.push_back({begin, run_size, data});
    }
    data += run_size;
  } while (next_index(index, steps));
}

Placement placement_of(std::uint64_t begin, std::size_t element,
                       const std::vector<std::size_t>& shape,
                       std::optional<std::uint64_t> record_stride) {
  Placement placement{begin, element, std::vector<std::uint64_t>(shape.size())};
  std::uint64_t row = element;
  for (std::size_t d = shape.size(); d-- > 0;) {
    placement.stride[d] = row;
    row *= shape[d];
  }
  if (record_stride) placement.stride[0] = *record_stride;
  return placement;
}

Placement placement_of(const Schema& schema, const RunLayout& layout, std::size_t v) {
  const Variable& variable = schema.variables[v];
  std::optional<std::uint64_t> record_stride;
  if (schema.has_records(variable)) record_stride = layout.record_stride;
  return placement_of(layout.begin[v], bytes_of(variable.type), schema.shape(variable),
                      record_stride);
}

} // namespace nunatak::io
