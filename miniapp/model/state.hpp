// The names in files of what the model carries and of what drives it (kernels/step/state.hpp).
#pragma once

#include "kernels/step/state.hpp"
#include "miniapp/model/field.hpp"

namespace nunatak {

/// What a restart file holds, each marked so: the state, and the forcing that was given.
FieldList restart_fields(const State& state, const Forcing& forcing);

} // namespace nunatak
