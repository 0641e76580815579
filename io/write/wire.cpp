// The messages with values to the servers, and what is cut into them: the same on clients, on
// servers and in a plan (plan.hpp).
//
//   batch | v, record, b | box, values | box, values | ...
//
// Box b of the server; each box and its values begin at a multiple of 8 bytes.
#include "io/methods/registry.hpp"
#include "io/write/servers.hpp"

#include <algorithm>

namespace nunatak::io {

constexpr std::size_t most_message = std::size_t{4} << 20, most_head = 4096; ///< bytes

Boxes server_boxes(const Options& options, const Schema& schema, std::size_t v, std::size_t n) {
  const LayoutRow& chosen = layout_row(options);
  const LayoutRow& row =
      chosen.subfiles ? layout_row("box") : chosen; // what several files need, the servers exchange
  return row.boxes == nullptr ? slab_boxes(schema, v, n)
                              : row.boxes(schema, v, n, stripe_of(options.stripe));
}

std::vector<std::size_t> server_bytes(const Boxes& boxes, Type type) {
  std::vector<std::size_t> bytes(boxes.size(), 0);
  for (std::size_t s = 0; s < boxes.size(); ++s) bytes[s] = elements_of(boxes[s]) * bytes_of(type);
  return bytes;
}

bool ends_before(const std::vector<std::size_t>& share, const std::vector<std::size_t>& more,
                 std::size_t buffer) {
  for (std::size_t s = 0; s < share.size(); ++s) {
    if (share[s] > 0 && share[s] + more[s] > buffer) return true;
  }
  return false;
}

std::vector<Box> message_boxes(const Box& whole, Type type, std::size_t pool) {
  return cut(whole, std::min(pool / 4 - most_head, most_message) / bytes_of(type));
}

Bytes message_head(int batch, const Place& place, const Box& box) {
  return Packer(batch, 0, place, box).bytes(); // 0: the rest lies at multiples of 8 bytes
}

bool join_message(Bytes& message, int batch, const Place& place, const Hyperslab& slab, Type type,
                  std::size_t pool) {
  const Box& box = slab;
  const Bytes head = message.empty() ? message_head(batch, place, box) : Packer(box).bytes();
  const std::size_t begin = message.size() + head.size(),
                    end = begin + (box.elements() * bytes_of(type) + 7) / 8 * 8;
  if (end > std::min(pool / 4, most_message)) return false;
  message.insert(message.end(), head.begin(), head.end());
  message.resize(end);
  pack(slab, type, message.data() + begin);
  return true;
}

} // namespace nunatak::io
