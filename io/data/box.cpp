#include "io/data/box.hpp"

#include <cstring>
#include <type_traits>

namespace nunatak::io {

std::string in_words(const Indices& numbers) {
  std::string words = "(";
  for (std::size_t n = 0; n < numbers.size(); ++n)
    words += (n ? ", " : "") + std::to_string(numbers[n]);
  return words + ")";
}

Box Box::in_record(std::size_t record) const {
  Box box = *this;
  if (record == no_record) return box;
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

bool do_meet(const Box& a, const Box& b) {
  for (std::size_t d = 0; d < a.start.size(); ++d) {
    if (std::max(a.start[d], b.start[d]) >=
        std::min(a.start[d] + a.count[d], b.start[d] + b.count[d]))
      return false;
  }
  return true;
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

Box part_of(const Box& box, std::size_t part, std::size_t n_parts) {
  Box result = box;
  auto* along = std::find_if(result.count.begin(), result.count.end(),
                             [&](std::size_t n) { return n >= n_parts; });
  if (along == result.count.end())
    along = std::max_element(result.count.begin(), result.count.end());
  if (along == result.count.end()) return result;
  const std::size_t begin = *along * part / n_parts, end = *along * (part + 1) / n_parts;
  result.start[static_cast<std::size_t>(along - result.count.begin())] += begin;
  *along = end - begin;
  return result;
}

std::size_t place_in(const Box& box, const Box& part) {
  std::size_t place = 0;
  for (std::size_t d = 0; d < box.start.size(); ++d)
    place = place * box.count[d] + part.start[d] - box.start[d];
  return place;
}

void copy_values(const Box& part, const Box& from_box, const std::byte* from, const Box& to_box,
                 std::byte* to, std::size_t size) {
  from += place_in(from_box, part) * size;
  to += place_in(to_box, part) * size;
  // Dimensions from d on are one run: they are whole in both boxes, perhaps but for the first.
  std::size_t d = part.count.size(), run = size, from_step = size, to_step = size;
  for (bool is_whole = true; d > 0 && is_whole;) {
    d -= 1;
    is_whole = part.count[d] == from_box.count[d] && part.count[d] == to_box.count[d];
    run *= part.count[d];
    from_step *= from_box.count[d];
    to_step *= to_box.count[d];
  }
  if (d == 0) {
    std::memcpy(to, from, run);
    return;
  }
  d -= 1;
  const auto copy_runs = [&](auto bytes) { // faster if they are known when it is compiled
    const Indices counts(part.count.begin(), part.count.begin() + d);
    Indices index(d, 0);
    do {
      std::size_t f = 0, t = 0; // index of dimension d
      for (std::size_t e = 0; e < d; ++e) {
        f = (f + index[e]) * from_box.count[e + 1];
        t = (t + index[e]) * to_box.count[e + 1];
      }
      for (std::size_t n = 0; n < part.count[d]; ++n)
        std::memcpy(to + (t + n) * to_step, from + (f + n) * from_step, bytes);
    } while (next_index(index, counts));
  };
  if (run == 4) return copy_runs(std::integral_constant<std::size_t, 4>{});
  if (run == 8) return copy_runs(std::integral_constant<std::size_t, 8>{});
  copy_runs(run);
}

} // namespace nunatak::io
