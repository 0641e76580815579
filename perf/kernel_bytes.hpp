// The bytes that the kernels of a step must move if each reads every array that it needs once and writes every result once.
// For bench_kernels; docs/performance.md has the same as a table.
//
// Maps count 8 bytes per cell of the grid (masks 4). Columns: levels in the ice where a kernel stops at the surface, all levels
// of cells with ice where it writes above it, too, or of all cells. Not counted: what a store reads first (the line that it
// writes to), ghosts, messages.
#pragma once

#include <cstring>

namespace nunatak::bench {

struct Sizes {
  double cells = 0.0, icy_cells = 0.0;
  double points_in_ice = 0.0; ///< levels below the surface, over all icy cells
  int Mz = 0;
};

struct KernelBytes {
  const char* part;     ///< of the step, as the model times it
  const char* kernel;   ///< the label of the loop; nullptr: all of the part
  double map_bytes;     ///< per cell, in one call
  int columns_in_ice;   ///< arrays of columns, up to the surface
  int columns_of_icy;   ///< arrays of columns, all levels of cells with ice
  int columns_in_whole; ///< arrays of columns, all levels of all cells
  int calls = 1;        ///< in a step

  double per_call(const Sizes& s) const {
    return map_bytes * s.cells +
           8.0 * (columns_in_ice * s.points_in_ice + (columns_of_icy * s.icy_cells + columns_in_whole * s.cells) * s.Mz);
  }
};

constexpr const char *material_part = "stress balance: till, hardness", *sia_part = "stress balance: SIA",
                     *velocity_part = "stress balance: 3-D velocity", *energy_part = "energy", *transport_part = "mass transport",
                     *checks_part = "checks";
constexpr KernelBytes kernel_bytes[] = {
    // PICO: H, b, theta, S and 2 masks; 8 masks and 7 maps written
    {"ocean", nullptr, 4 * 8 + 2 * 4 + 8 * 4 + 7 * 8, 0, 0, 0},
    {material_part, "till", 3 * 8 + 4 + 8, 0, 0, 0},      // b, H, mask, T of the base -> tauc
    {material_part, "hardness", 2 * 8 + 2 * 8, 1, 0, 0},  // H, T_s, T -> B, A
    {material_part, "softness", 8 + 2 * 8, 0, 0, 0},      // B -> A of the SIA, B of the SSA
    {sia_part, "sia fluxes", 4 * 8 + 4 + 2 * 8, 0, 0, 0}, // 2 edges, H, mask, A -> 2 q
    // 2 edges, H, mask, A, u_b, v_b, whether it moved -> 5 maps, u, v
    {velocity_part, "horizontal velocity", 6 * 8 + 4 + 1 + 5 * 8, 0, 2, 0},
    {velocity_part, "vertical velocity", 2 * 8 + 4 + 1, 2, 1, 0},     // H, mask, melt, whether it moved, u, v -> w
    {velocity_part, "advection rate", 2 * 8 + 4, 0, 0, 0, 2},         // mask, u, v
    {energy_part, "heat flux into the base", 4 * 8 + 4 + 8, 0, 0, 0}, // G, tauc, u_b, v_b, mask -> flux
    {energy_part, "temperature", 4 * 8 + 4 + 3 * 8, 4, 1, 0}, // H, mask, T_s, flux, heating, held, u, v, w, T -> held, melted, T
    {transport_part, "total flux", 7 * 8 + 4 + 2 * 8, 0, 0, 0},   // 2 edges, H, mask, u, v, 2 q -> 2 q
    {transport_part, "outflow factor", 4 * 8, 0, 0, 0},           // H, 2 q -> f
    {transport_part, "update thickness", 6 * 8 + 4 + 8, 0, 0, 0}, // H, mask, 2 q, f, balance, melt -> H
    {transport_part, "geometry", 3 * 8 + 4, 0, 0, 0},             // b, H -> h, mask
    {transport_part, "edges", 8 + 4 + 2 * 8, 0, 0, 0},            // h, mask -> 2 edges
    {checks_part, "areas and maxima", 5 * 8 + 4, 0, 0, 1}};       // H, mask, 2 u, 2 v; T

/// Of a whole part of the step; 0 where it is not counted: the SSA.
inline double bytes_of_part(const char* part, const Sizes& sizes) {
  double bytes = 0.0;
  for (const KernelBytes& k : kernel_bytes) {
    if (std::strcmp(k.part, part) == 0) bytes += k.calls * k.per_call(sizes);
  }
  return bytes;
}

} // namespace nunatak::bench
