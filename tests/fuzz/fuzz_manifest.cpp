// Any bytes as a manifest: it is parsed, and its lines that count parse to the same files.
#include "io/durable/manifest.hpp"

#include <cstdlib>
#include <sstream>

using namespace nunatak;

namespace {

std::string lines_of(const io::Manifest& manifest) {
  std::string text;
  for (const auto& [name, lines] : manifest.files) {
    for (const io::ManifestEntry& line : lines) text += name + io::line_of(line);
  }
  return text;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const io::Manifest manifest = io::parse_manifest(text);
  std::istringstream in(text);
  const auto ranges = io::lines_that_count(in);
  if (!ranges || !manifest.bad_lines.empty()) return 0;
  std::string kept;
  for (const auto& [begin, length] : *ranges)
    kept += text.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(length));
  const io::Manifest again = io::parse_manifest(kept);
  if (!again.bad_lines.empty() || lines_of(again) != lines_of(manifest)) std::abort();
  return 0;
}
