// Any bytes as a manifest: it is parsed, and its lines, written again, parse to the same files.
#include "io/durable/manifest.hpp"

#include <cstdlib>

using namespace nunatak;

namespace {

std::string lines_of(const io::Manifest& manifest) {
  std::string text;
  for (const auto& [name, lines] : manifest.files) {
    for (const io::ManifestEntry& line : lines) text += io::line_of(line);
  }
  return text;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const io::Manifest manifest =
      io::parse_manifest(std::string(reinterpret_cast<const char*>(data), size));
  const std::string lines = lines_of(manifest);
  const io::Manifest again = io::parse_manifest(lines);
  if (!again.bad_lines.empty() || lines_of(again) != lines) std::abort();
  return 0;
}
