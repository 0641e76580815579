#include "io/formats/chunks.hpp"

#include "common/error.hpp"
#include "common/text.hpp"
#include "io/data/box.hpp"

#include <algorithm>
#include <map>

namespace nunatak::io {

namespace {

constexpr std::size_t smallest = 4096, compressed = 1 << 20, largest = (4ULL << 30) - 1; // bytes

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
          "option -io_chunk: expected auto, record or lengths by dimension (y=64,x=64), found '" +
          text + "'");
    }
    if (find(schema.dimensions, name) == nullptr)
      throw Error("option -io_chunk: expected a dimension of the file (" +
                  joined(names_of(schema.dimensions)) + "), found '" + name + "'");
    lengths[name] = std::stoull(digits);
  }
  return lengths;
}

} // namespace

Indices chunk_shape(const Schema& schema, const Variable& variable, const Storage& storage) {
  const bool by_name = storage.chunk != "auto" && storage.chunk != "record",
             has_records = schema.has_records(variable);
  const std::size_t element = bytes_of(variable.type);
  Indices chunk = schema.shape(variable);
  if (has_records) chunk[0] = 1;
  bool is_named = false;
  if (by_name) {
    const auto lengths = parse(schema, storage.chunk);
    for (std::size_t d = 0; d < chunk.size(); ++d) {
      const auto found = lengths.find(variable.dimensions[d]);
      if (found == lengths.end()) continue;
      is_named = true;
      chunk[d] = d == 0 && has_records ? found->second : std::min(chunk[d], found->second);
    }
  }
  if (chunk.empty() || (!has_records && storage.deflate == 0 && !is_named)) return {};
  if (storage.chunk == "auto" && has_records) {
    std::size_t record = element;
    for (const std::size_t n : chunk) record *= n;
    chunk[0] = std::max<std::size_t>(1, smallest / record);
  }
  const std::size_t most = storage.chunk == "auto" && storage.deflate > 0 ? compressed : largest;
  return cut({Indices(chunk.size(), 0), chunk}, most / element).front().count;
}

std::uint64_t bytes_of_chunks(const Schema& schema, const Variable& variable,
                              const Storage& storage, std::uint64_t records) {
  const Indices chunk = chunk_shape(schema, variable, storage), shape = schema.shape(variable);
  std::uint64_t bytes = bytes_of(variable.type);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::uint64_t length = shape[d] == unlimited ? records : shape[d],
                        multiple = chunk.empty() ? 1 : chunk[d];
    bytes *= (length + multiple - 1) / multiple * multiple;
  }
  return bytes;
}

} // namespace nunatak::io
