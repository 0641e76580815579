// What harness.cpp offers to a solver, and what it calls.
#pragma once
#include <mpi.h>

/// Your solver, called by all ranks. `mask` (My rows of Mx cells, all of them on every rank): 1 seed, 0 other cells of the domain,
/// -1 outside. It writes the distances of the cells that this rank owns into `d`: 1 at seeds, 2 at their neighbours, ..., 0 where no
/// seed reaches, -1 outside. A serial solver may write all cells on every rank.
void distance(int My, int Mx, const int* mask, int* d);

/// The cells [ys, ys + ym) x [xs, xs + xm) of this rank, for a solver without a cut of its own: ranks in Q rows of P, rank q P + p.
/// With -ragged patches grow to the east and north. Ranks left over (p = -1) own nothing: a grid of 7 x 3 has 7 x 2 of 16 ranks.
struct Patch {
  int ys, ym, xs, xm, P, Q, p, q;
};
Patch patch(int My, int Mx);
