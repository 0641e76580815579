// The messages to the servers (packer.hpp), and what is cut into them, which is the same on
// clients, on servers and in a plan (plan.hpp).
//
//   values:   batch | v, record, b | box, values | box, values | ...
// Box b of the server; each box and its values begin at a multiple of 8 bytes.
#pragma once

#include "io/layouts/partition.hpp"
#include "io/options.hpp"
#include "io/pack.hpp"
#include "io/packer.hpp"

#include <cstddef>
#include <vector>

namespace nunatak::io {

/// A variable (its number) and one of its records.
struct Key {
  std::size_t v, record;
  bool operator==(const Key& other) const { return v == other.v && record == other.record; }
  bool operator<(const Key& other) const {
    return v != other.v ? v < other.v : record < other.record;
  }
};

/// Where values of a message belong: variable, record, and which of the server's boxes.
struct Place {
  std::size_t v, record, b;
};

/// What each of `n` servers writes of variable v.
Boxes server_boxes(const Options& options, const Schema& schema, std::size_t v, std::size_t n);

/// Bytes of a variable that come to each server: those of its boxes.
std::vector<std::size_t> server_bytes(const Boxes& boxes, Type type);

/// A batch, of which each server gets `share` bytes, ends before a variable of which each gets
/// `more`: else one would get more than `buffer` (-io_buffer).
bool ends_before(const std::vector<std::size_t>& share, const std::vector<std::size_t>& more,
                 std::size_t buffer);

/// `whole` in boxes of one message each: at most 4 MiB and a quarter of the ring (`pool` bytes).
std::vector<Box> message_boxes(const Box& whole, Type type, std::size_t pool);
/// What precedes the values of the first box: a multiple of 8 bytes.
Bytes message_head(int batch, const Place& place, const Box& box);
/// Appends a small hyperslab to a message for the same place, or begins one. False if the message
/// would become too long.
bool join_message(Bytes& message, int batch, const Place& place, const Hyperslab& slab, Type type,
                  std::size_t pool);

} // namespace nunatak::io
