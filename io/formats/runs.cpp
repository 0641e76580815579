#include "io/formats/runs.hpp"

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

void append_runs(const Schema& schema, const ClassicLayout& layout, std::size_t v,
                 std::size_t record, const Box& box, const std::byte* data,
                 std::vector<Run>& runs) {
  if (box.elements() == 0) return;
  const std::uint64_t first =
      layout.variables[v].begin + (record != no_record ? record * layout.record_size : 0);
  const std::size_t element = bytes_of(schema.variables[v].type);
  const std::size_t run_size = element * (box.count.empty() ? 1 : box.count.back());
  const Box whole = whole_box(schema, v);
  Box row = box; // its first element
  Indices rows = box.count, index(rows.size(), 0);
  if (!rows.empty()) rows.back() = 1;
  do {
    for (std::size_t d = 0; d < rows.size(); ++d) row.start[d] = box.start[d] + index[d];
    const std::uint64_t begin = first + place_in(whole, row) * element;
    if (!runs.empty() && runs.back().begin + runs.back().size == begin &&
        runs.back().data + runs.back().size == data) {
      runs.back().size += run_size;
    } else {
      runs.push_back({begin, run_size, data, v});
    }
    data += run_size;
  } while (next_index(index, rows));
}

} // namespace nunatak::io
