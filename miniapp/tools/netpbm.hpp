// Pictures as masks: portable bitmaps and graymaps (PBM, PGM; plain and raw).
//
//   P1            P2             P4, P5: the same header, one white space, then bytes.
//   # comment     3 2            P4: rows of bits, padded to whole bytes.
//   3 2           255            P5: one byte per value, two (high byte first) if the largest
//   1 0 1         0 128 255      value is above 255.
//   1 1 1         7   7   7      Values: PBM 1 is black, 0 is white; PGM 0 is black.
//
// Formats: manual pages pbm(5) and pgm(5) of Netpbm. Neighbour: mask_source.hpp (uses this).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nunatak::tools {

/// Values in raster order; row 0 is the upper row of the picture. values.size() is Mx My.
struct Picture {
  int Mx = 0, My = 0;
  std::vector<std::uint16_t> values;
};

/// True if the text starts with P1, P2, P4 or P5.
bool is_netpbm(std::string_view start);

/// Throws Error naming `file`, what was expected and found: unknown format, not a number, a size of
/// zero, more cells than the file holds, a value above the maximum, bytes at the end.
Picture parse_netpbm(std::string_view bytes, const std::string& file);

} // namespace nunatak::tools
