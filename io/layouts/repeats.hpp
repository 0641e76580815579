// Messages whose repeated values are sent once: land that a rank fills, ice that is not there, a
// mask. Used by remap.cpp.
//
//   in memory   a b c 0 0 0 0 0 0 d                 words of 8 bytes
//   sent        |3, 6| a b c 0 |1, 0| d             words as they are, times that the next one is
//   repeated
//
// A word is repeated that comes four times or more, so that a message gets shorter or stays as it
// is; the receiver, who knows its length, sees by that which. In place: the price is to look at
// each word once.
#pragma once

#include "io/layouts/exchange.hpp"

namespace nunatak::io {

constexpr std::size_t repeat_room = 8; ///< bytes

/// The message as it is sent, in the same place. Its size is a multiple of 8; the repeat_room bytes
/// before it are overwritten.
Message shorten(Message message);
/// The values of a message that was received, in its place. The repeat_room bytes behind it are
/// overwritten.
void restore(const Message& message);

} // namespace nunatak::io
