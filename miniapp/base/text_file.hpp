// Small text files: reports, tables. None is lost without a word.
#pragma once

#include <string>

namespace nunatak {

/// Write a file, or go on at its end if `append`. A new one is written as <path>.tmp and renamed:
/// under its name it is whole. What is no regular file (/dev/stdout, a pipe) is written as it is.
/// Throws Error naming file and cause. Not collective: rank 0 calls it.
void write_text_file(const std::string& path, const std::string& text, bool append = false);

} // namespace nunatak
