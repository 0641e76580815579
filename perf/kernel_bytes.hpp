// The bytes that the kernels of a step must move if each reads its inputs once and writes its
// results once. For bench_kernels; docs/explanation/performance.md has the same as a table.
//
// Maps count 8 bytes per cell (masks 4). Columns count levels in the ice, all levels of icy cells
// if a kernel also writes above the surface, or all levels of all cells. Not counted:
// write-allocate reads, ghosts, messages.
#pragma once

#include "kernels/step/hybrid.hpp"

#include <cstring>

namespace nunatak::bench {

struct Sizes {
  double cells = 0.0, icy_cells = 0.0;
  double points_in_ice = 0.0; ///< levels below the surface, over all icy cells
  int Mz = 0;
};

struct KernelBytes {
  const char* part;     ///< of the step, named as in the model's timers
  const char* kernel;   ///< label of the loop; nullptr: the whole part
  double map_bytes;     ///< per cell, in one call
  int columns_in_ice;   ///< arrays of columns, up to the surface
  int columns_of_icy;   ///< arrays of columns, all levels of cells with ice
  int columns_in_whole; ///< arrays of columns, all levels of all cells

  double per_call(const Sizes& s) const {
    return map_bytes * s.cells +
           8.0 * (columns_in_ice * s.points_in_ice +
                  (columns_of_icy * s.icy_cells + columns_in_whole * s.cells) * s.Mz);
  }
};

constexpr KernelBytes kernel_bytes[] = {
    // PICO: H, b, theta, S and 2 masks; 8 masks and 7 maps written
    {part::ocean, nullptr, 4 * 8 + 2 * 4 + 8 * 4 + 7 * 8, 0, 0, 0},
    {part::material, "till", 3 * 8 + 4 + 8, 0, 0, 0},           // b, H, mask, T of the base -> tauc
    {part::material, "hardness", 2 * 8 + 8, 1, 0, 0},           // H, T_s, T -> B
    {part::material, "softness", 8 + 2 * 8, 0, 0, 0},           // B -> A of the SIA, B of the SSA
    {part::shearing, "sia fluxes", 4 * 8 + 4 + 2 * 8, 0, 0, 0}, // 2 edges, H, mask, A -> 2 q
    // 2 edges, H, mask, A, u_b, v_b, whether it moved -> 5 maps, u, v
    {part::velocity, "horizontal velocity", 6 * 8 + 4 + 1 + 5 * 8, 0, 2, 0},
    // H, mask, melt, whether it moved, u, v -> w
    {part::velocity, "vertical velocity", 2 * 8 + 4 + 1, 2, 1, 0},
    {part::velocity, "advection rate", 4 * 8 + 4, 0, 0, 0}, // mask, u, v of surface and base
    // G, tauc, u_b, v_b, mask -> flux
    {part::energy, "heat flux into the base", 4 * 8 + 4 + 8, 0, 0, 0},
    // H, mask, T_s, flux, heating, held, u, v, w, T -> held, melted, T
    {part::energy, "temperature", 4 * 8 + 4 + 3 * 8, 4, 1, 0},
    // 2 edges, H, mask, u, v, 2 q -> 2 q
    {part::transport, "total flux", 7 * 8 + 4 + 2 * 8, 0, 0, 0},
    {part::transport, "outflow factor", 4 * 8, 0, 0, 0}, // H, 2 q -> f
    // H, mask, 2 q, f, balance, melt -> H
    {part::transport, "update thickness", 6 * 8 + 4 + 8, 0, 0, 0},
    {part::transport, "geometry", 3 * 8 + 4, 0, 0, 0},       // b, H -> h, mask
    {part::transport, "edges", 8 + 4 + 2 * 8, 0, 0, 0},      // h, mask -> 2 edges
    {part::checks, "areas and maxima", 5 * 8 + 4, 0, 0, 1}}; // H, mask, 2 u, 2 v; T

/// Bytes of a whole part of the step; 0 for the SSA, which is not counted here.
inline double bytes_of_part(const char* part, const Sizes& sizes) {
  double bytes = 0.0;
  for (const KernelBytes& k : kernel_bytes) {
    if (std::strcmp(k.part, part) == 0) bytes += k.per_call(sizes);
  }
  return bytes;
}

/// Bytes per unknown cell of SSA solves by kernels/ssa with its defaults (single precision,
/// smoother of degree 4, 5 on coarse grids): a linear iteration, a nonlinear step (residual,
/// matrix, coarse matrices, choice of cells), a local solve (what it does in all cells, and in a
/// chosen one). There are as many elements as unknown cells, two per chosen cell; coarse grids add
/// a third of the cells. A row of the matrix takes 144 bytes and 4 for its position (on a CPU 1,
/// and what blocks of eight cells hold for cells at margins that are no unknowns).
///
/// Loops that run together row by row (kernels/multigrid/passes.hpp, kernels/ssa/loops.hpp) read
/// common data once: on one thread per rank, if a row of cells of each loop fits into the
/// cache, for the smoother degree + 1 rows of the matrix and of its vectors, of 228 bytes per cell.
struct SsaBytes {
  static constexpr double restricted = 8 + 2; // b -> the coarse b
  // the coarse x, matrix, b, inverse -> x, r, d, e
  static constexpr double smoothed = 2 + 144 + 4 + 8 + 16 + 4 * 8;
  static constexpr double cycle = 4.0 / 3.0 * (restricted + smoothed);
  // x, residual, r -> u, w; s; r, u, w, p, s, y -> p, s, y, r, b
  static constexpr double krylov = 5 * 8 + 4 + 8 + 104 + 4;
  static constexpr double iteration = cycle + krylov;
  // u, v, B H -> an element (88); load, yield stress -> r
  static constexpr double residual = 3 * 8 + 12 + 88 + 3 * 8 + 4 + 2 * 8;
  // weights: elements, u, v now and before; yield stress, direction -> row; u, v kept
  static constexpr double matrix = 88 + 8 + 4 * 8 + 12 + 5 * 8 + 8 + 144 + 4 * 8;
  // a row -> its inverse, Galerkin products
  static constexpr double coarse_matrices = 4.0 / 3.0 * (144 + 16 + 36);
  // r -> whether chosen; scans of cells and elements
  static constexpr double choice = 16 + 2 * 4 + 2 * 4 + 12 + 4;
  // d, e zeroed; residual and its sum
  static constexpr double local = 2 * 8 + residual + 16;
  // three times, loop by loop, so that elements, u and v are read twice: matrix, inverse, b,
  // smoother of degree 2 (second step: 212), y, u, v, residual; as many elements once more
  static constexpr double local_cell =
      3 * (matrix + 160 + 24 + 40 + 212 + 24 + 32 + 48 + residual + 2 * 88 + 6 * 8 + 4 * 88);
};

/// The work of one solve or of several.
struct SsaWork {
  double cells = 0.0; ///< unknown cells of a solve
  int solves = 0, steps = 0, iterations = 0, local_solves = 0;
  double local_cells = 0.0;

  double bytes() const {
    using B = SsaBytes;
    const double per_cell = iterations * B::iteration + local_solves * B::local +
                            steps * (B::matrix + B::coarse_matrices + B::choice) +
                            (solves + steps) * B::residual;
    return cells * per_cell + local_cells * B::local_cell;
  }
};

} // namespace nunatak::bench
