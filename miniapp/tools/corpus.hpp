// The regression kit of distance and labelling codes: a corpus of cases with answers that are
// right, and a judge of a folder of answers.
//
//   nunatak-distance -corpus cases                     cases/serpentine.nc, ..., cases/cases.json
//   nunatak-distance -check answers -junit junit.xml   answers/serpentine.nc, ...
//
// A case is a file (y, x) of integers: `mask` (1 seed, 0 other cells of the domain, -1 outside),
// `distance` (1 at seeds, 2 at their neighbours, ...; 0 where no seed reaches, -1 outside), `label`
// (1, 2, ...; 0 outside), cell types and basins where a case has them. An answer is a file of the
// same name with one variable. The judge makes the cases anew, so that it needs no corpus. Same
// values on every machine. One process. Neighbours: flood.hpp (answers), compare.hpp (differences),
// mask_fields.hpp (seeds).
#pragma once

#include "miniapp/tools/tool.hpp"

namespace nunatak::tools {

/// What is judged: the default name of the variable, "distance" or "label".
enum class Judged { distance, label };

/// Writes -corpus or judges -check. A mask that is given (-i, -mask) is one more case, or one for
/// each rule of `seeds`. Throws Difference if an answer differs, Error if one is missing.
void run_kit(const std::string& tool, const ToolOptions& options, const std::string& seeds,
             Judged judged);

} // namespace nunatak::tools
