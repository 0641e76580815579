#include "io/box.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

namespace nunatak::io {

std::string in_words(const Indices& numbers) {
  std::string words = "(";
  for (std::size_t n = 0; n < numbers.size(); ++n)
    words += (n ? ", " : "") + std::to_string(numbers[n]);
  return words + ")";
}

std::size_t Box::elements() const {
  return std::accumulate(count.begin(), count.end(), std::size_t{1}, std::multiplies<>());
}

Box Box::in_record(std::size_t record) const {
  Box box = *this;
  box.start.insert(box.start.begin(), record);
  box.count.insert(box.count.begin(), 1);
  return box;
}

Box meet(const Box& a, const Box& b) {
  Box both = a;
  for (std::size_t d = 0; d < a.start.size(); ++d) {
    both.start[d] = std::max(a.start[d], b.start[d]);
    const std::size_t end = std::min(a.start[d] + a.count[d], b.start[d] + b.count[d]);
    both.count[d] = end > both.start[d] ? end - both.start[d] : 0;
  }
  return both;
}

Box hull(const Box& a, const Box& b) {
  if (a.elements() == 0) return b;
  if (b.elements() == 0) return a;
  Box box = a;
  for (std::size_t d = 0; d < a.start.size(); ++d) {
    box.start[d] = std::min(a.start[d], b.start[d]);
    box.count[d] = std::max(a.start[d] + a.count[d], b.start[d] + b.count[d]) - box.start[d];
  }
  return box;
}

namespace {

/// Cut along dimension d, and the slices along the next one if they are still too large.
void cut_along(std::size_t d, const Box& box, std::size_t limit, std::vector<Box>& parts) {
  const std::size_t elements = box.elements();
  if (elements == 0) return;
  if (elements <= limit || d == box.count.size()) return parts.push_back(box);
  const std::size_t step = std::max<std::size_t>(1, limit / (elements / box.count[d]));
  for (std::size_t first = 0; first < box.count[d]; first += step) {
    Box part = box;
    part.start[d] += first;
    part.count[d] = std::min(step, box.count[d] - first);
    cut_along(d + 1, part, limit, parts);
  }
}

} // namespace

std::vector<Box> cut(const Box& box, std::size_t limit) {
  std::vector<Box> parts;
  cut_along(0, box, limit, parts);
  return parts;
}

std::size_t dimension_to_cut(const Indices& count, std::size_t n) {
  const auto* along =
      std::find_if(count.begin(), count.end(), [&](std::size_t c) { return c >= n; });
  if (along == count.end()) along = std::max_element(count.begin(), count.end());
  return static_cast<std::size_t>(along - count.begin());
}

std::size_t place_in(const Box& box, const Box& part) {
  std::size_t place = 0;
  for (std::size_t d = 0; d < box.start.size(); ++d)
    place = place * box.count[d] + part.start[d] - box.start[d];
  return place;
}

void copy(const Box& region, const Box& from_box, const std::byte* from, const Box& to_box,
          std::byte* to, std::size_t element_bytes) {
  if (region.elements() == 0) return;
  const std::size_t row = (region.count.empty() ? 1 : region.count.back()) * element_bytes;
  Indices rows = region.count, index(rows.size(), 0);
  if (!rows.empty()) rows.back() = 1;
  Box first = region; // of each row
  do {
    for (std::size_t d = 0; d < index.size(); ++d) first.start[d] = region.start[d] + index[d];
    std::memcpy(to + place_in(to_box, first) * element_bytes,
                from + place_in(from_box, first) * element_bytes, row);
  } while (next_index(index, rows));
}

} // namespace nunatak::io
