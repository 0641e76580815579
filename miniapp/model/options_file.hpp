// Options files: what PETSc would read without a word, or wait for, though nobody can have meant it.
#pragma once

#include <string>
#include <vector>

namespace nunatak {

/// Throws Error naming the file (and the line) if it is no regular file, holds other than text or nothing at all, or, in YAML,
/// has an option twice or one without a value. Not collective.
void check_options_file(const std::string& path);

/// The files that PETSc reads unasked: .petscrc of the home folder, .petscrc and petscrc of this one; those that exist.
std::vector<std::string> unasked_options_files();

} // namespace nunatak
