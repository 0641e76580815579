#include "io/formats/chunks.hpp"

#include "io/error.hpp"

#include <algorithm>
#include <map>

namespace nunatak::io {

namespace {

constexpr std::size_t smallest = 4096, compressed = 1 << 20, largest = (4ULL << 30) - 1; // bytes

/// Cut a chunk to at most `bytes` bytes, along its slowest dimensions.
void cut(std::vector<std::size_t>& chunk, std::size_t element, std::size_t bytes) {
  for (std::size_t d = 0; d < chunk.size(); ++d) {
    std::size_t row = element; // bytes of one index of this dimension; faster ones are still whole
    for (std::size_t n = d + 1; n < chunk.size(); ++n) row *= chunk[n];
    if (chunk[d] * row <= bytes) return;
    chunk[d] = std::max<std::size_t>(1, bytes / row);
  }
}

std::map<std::string, std::size_t> parse(const Schema& schema, const std::string& text) {
  std::map<std::string, std::size_t> lengths;
  for (const std::string& word : split(text, ',')) {
    const std::size_t equal = word.find('=');
    const std::string name = word.substr(0, equal),
                      digits = equal == std::string::npos ? "" : word.substr(equal + 1);
    const bool is_number = !digits.empty() && digits.size() < 19 &&
                           digits.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number || std::stoull(digits) == 0) {
      throw Error(
          "output chunk: expected auto, record or lengths by dimension (y=64,x=64), found '" +
          text + "'");
    }
    std::vector<std::string> names;
    for (const Dimension& d : schema.dimensions) names.push_back(d.name);
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw Error("output chunk: expected a dimension of the file (" + joined(names) +
                  "), found '" + name + "'");
    lengths[name] = std::stoull(digits);
  }
  return lengths;
}

} // namespace

std::vector<std::size_t> chunk_shape(const Schema& schema, const Variable& variable,
                                     const Options& options) {
  const bool by_name = options.chunk != "auto" && options.chunk != "record",
             has_records = schema.has_records(variable);
  const std::size_t element = bytes_of(variable.type);
  std::vector<std::size_t> chunk = schema.shape(variable);
  if (has_records) chunk[0] = 1;
  bool is_named = false;
  if (by_name) {
    const auto lengths = parse(schema, options.chunk);
    for (std::size_t d = 0; d < chunk.size(); ++d) {
      const auto found = lengths.find(variable.dimensions[d]);
      if (found == lengths.end()) continue;
      is_named = true;
      chunk[d] = d == 0 && has_records ? found->second : std::min(chunk[d], found->second);
    }
  }
  if (chunk.empty() || (!has_records && options.deflate == 0 && !is_named)) return {};
  if (options.chunk == "auto" && has_records) {
    std::size_t record = element;
    for (const std::size_t n : chunk) record *= n;
    chunk[0] = std::max<std::size_t>(1, smallest / record);
  }
  cut(chunk, element, options.chunk == "auto" && options.deflate > 0 ? compressed : largest);
  return chunk;
}

std::uint64_t bytes_of_chunks(const Schema& schema, const Variable& variable,
                              const Options& options, std::uint64_t records) {
  const std::vector<std::size_t> chunk = chunk_shape(schema, variable, options),
                                 shape = schema.shape(variable);
  std::uint64_t bytes = bytes_of(variable.type);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::uint64_t length = shape[d] == unlimited ? records : shape[d],
                        multiple = chunk.empty() ? 1 : chunk[d];
    bytes *= (length + multiple - 1) / multiple * multiple;
  }
  return bytes;
}

} // namespace nunatak::io
