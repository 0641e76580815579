// Small text files: reports, tables. A failed write is always an error.
#pragma once

#include <string>

namespace nunatak {

/// Writes a file, or extends it if `append`. A new file is written as <path>.tmp and renamed, so
/// that it is complete under its name. Special files (/dev/stdout, a pipe) are written directly.
/// Throws Error naming file and cause. Not collective: rank 0 calls it.
void write_text_file(const std::string& path, const std::string& text, bool append = false);

} // namespace nunatak
