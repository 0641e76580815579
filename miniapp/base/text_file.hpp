// Small text files: reports, tables. A failed write is always an error.
#pragma once

#include <string>

namespace nunatak {

/// Writes a file as <path>.tmp and renames it, so that it is complete under its name. Special files
/// (/dev/stdout, a pipe) are written directly. Throws Error naming file and cause. On rank 0.
void write_text_file(const std::string& path, const std::string& text);

} // namespace nunatak
