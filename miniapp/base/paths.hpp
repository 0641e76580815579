// Is there a place for a file that a run will write at its end?
#pragma once

#include <string>

namespace nunatak {

/// Throws Error, naming option and file, if `path` cannot be created: no such folder, no permission, or it is a folder itself.
/// Better before the run than after it. Nothing is created; an empty path is fine. Not collective: on_rank_0() calls it.
void require_writable(const std::string& option, const std::string& path);

} // namespace nunatak
