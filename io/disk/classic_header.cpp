// The header of classic NetCDF files. See classic_header.hpp.
//
//   header = magic numrecs dim_list gatt_list var_list
//   magic  = 'C' 'D' 'F' version    1: sizes and offsets of 32 bits; 2: offsets of 64; 5: both
//   list   = tag count element*     tag 10: dimensions, 11: variables, 12: attributes, 0: absent
#include "io/disk/classic_header.hpp"

#include "common/error.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace nunatak::io {

namespace {

constexpr std::uint64_t longest_name = 256;     ///< NC_MAX_NAME: the size of NetCDF-C's buffers
constexpr std::uint64_t most_dimensions = 1024; ///< of a variable: NC_MAX_VAR_DIMS

/// Limit of a file size: sums of a few such numbers do not overflow.
constexpr std::uint64_t largest_file = std::uint64_t{1} << 60;

std::uint64_t round_up(std::uint64_t bytes) { return (bytes + 3) / 4 * 4; }

/// Reads the header. Each size in it is checked against the bytes that are left before it is used.
class Header {
public:
  explicit Header(const std::string& path) : m_path(path), m_in(path, std::ios::binary) {
    std::error_code none;
    m_size = std::filesystem::file_size(path, none);
    if (none) m_size = 0;
  }

  /// The version in the magic number; nullopt if this is no classic file.
  std::optional<int> version() {
    char magic[4] = {};
    if (!m_in.read(magic, 4) || magic[0] != 'C' || magic[1] != 'D' || magic[2] != 'F')
      return std::nullopt;
    if (magic[3] != 1 && magic[3] != 2 && magic[3] != 5) return std::nullopt;
    count_bytes = magic[3] == 5 ? 8 : 4;
    offset_bytes = magic[3] == 1 ? 4 : 8;
    m_position = 4;
    return magic[3];
  }
  int count_bytes = 4, offset_bytes = 4;

  /// An unsigned big-endian integer.
  std::uint64_t integer(int bytes) {
    unsigned char raw[8];
    if (!m_in.read(reinterpret_cast<char*>(raw), bytes))
      fail("the file ends inside its header: it is truncated");
    m_position += static_cast<std::uint64_t>(bytes);
    std::uint64_t value = 0;
    for (int n = 0; n < bytes; ++n) value = value << 8 | raw[n];
    return value;
  }

  /// A number of items that follow, each of at least this many bytes.
  std::uint64_t count(const std::string& things, std::uint64_t bytes) {
    const std::uint64_t n = integer(count_bytes), left = m_size - std::min(m_size, m_position);
    if (n > left / bytes) {
      fail("header: expected at most " + std::to_string(left / bytes) + " " + things +
           " in the rest of the file, found " + std::to_string(n));
    }
    return n;
  }

  /// Uses the stream's buffer, which a seek would discard.
  void skip(std::uint64_t bytes) {
    m_in.ignore(static_cast<std::streamsize>(round_up(bytes)));
    m_position += round_up(bytes);
  }

  void skip_name() {
    const std::uint64_t length = count("characters of a name", 1);
    if (length == 0 || length > longest_name) {
      fail("header: expected names of 1 to " + std::to_string(longest_name) +
           " characters, found " + std::to_string(length));
    }
    skip(length);
  }

  void skip_attributes() {
    integer(4);
    for (std::uint64_t n = count("attributes", 12); n > 0; --n) {
      skip_name();
      const std::uint64_t size = type_size();
      skip(count("values of an attribute", size) * size);
    }
  }

  std::uint64_t type_size() {
    const std::uint64_t type = integer(4);
    if (type < 1 || type > 11)
      fail("expected a type from 1 to 11 in the header, found " + std::to_string(type));
    return classic_type_bytes[type];
  }

  /// Sizes that the header implies: a sum, a product.
  std::uint64_t sum(std::uint64_t a, std::uint64_t b) const {
    return promised(a <= largest_file && b <= largest_file - a, a + b);
  }
  std::uint64_t product(std::uint64_t a, std::uint64_t b) const {
    return promised(b == 0 || a <= largest_file / b, a * b);
  }

  std::uint64_t position() const { return m_position; }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error("file '" + m_path + "': " + what);
  }

private:
  std::uint64_t promised(bool fits, std::uint64_t bytes) const {
    if (!fits) fail("truncated: its header promises more than 2^60 bytes");
    return bytes;
  }

  std::string m_path;
  std::ifstream m_in;
  std::uint64_t m_size = 0, m_position = 0;
};

} // namespace

std::optional<ClassicLayout> read_classic_layout(const std::string& path) {
  Header in(path);
  if (!in.version()) return std::nullopt;
  ClassicLayout layout;
  layout.count_bytes = static_cast<std::size_t>(in.count_bytes);
  layout.records = in.integer(in.count_bytes);
  if (layout.records == (in.count_bytes == 8 ? ~0ULL : 0xffffffffULL)) {
    in.fail("header: expected the number of records, found none ('streaming': the program that "
            "wrote the file has not closed it)");
  }
  const std::uint64_t count_bytes = layout.count_bytes;
  in.integer(4);
  std::vector<std::uint64_t> dimensions;
  for (std::uint64_t n = in.count("dimensions", 2 * count_bytes); n > 0; --n) {
    in.skip_name();
    dimensions.push_back(in.integer(in.count_bytes)); // 0: the record dimension
  }
  if (std::count(dimensions.begin(), dimensions.end(), 0) > 1)
    in.fail("header: expected at most one record dimension, found more");
  in.skip_attributes();
  in.integer(4);
  for (std::uint64_t n = in.count("variables", 5 * count_bytes); n > 0; --n) {
    in.skip_name();
    const std::uint64_t rank = in.count("dimensions of a variable", count_bytes);
    if (rank > most_dimensions) {
      in.fail("header: expected at most " + std::to_string(most_dimensions) +
              " dimensions of a variable, found " + std::to_string(rank));
    }
    std::vector<std::uint64_t> shape(static_cast<std::size_t>(rank));
    for (auto& length : shape) {
      const std::uint64_t id = in.integer(in.count_bytes);
      if (id >= dimensions.size()) {
        in.fail("header: expected a dimension below " + std::to_string(dimensions.size()) +
                " of a variable, found " + std::to_string(id));
      }
      length = dimensions[static_cast<std::size_t>(id)];
    }
    if (!shape.empty() && std::count(shape.begin() + 1, shape.end(), 0) > 0)
      in.fail("header: expected the record dimension as the first of a variable, found it later");
    in.skip_attributes();
    std::uint64_t size = in.type_size();
    in.integer(in.count_bytes); // vsize: redundant, and wrong by design if it does not fit
    const std::uint64_t begin = in.integer(in.offset_bytes);
    const bool is_record = !shape.empty() && shape[0] == 0;
    for (std::size_t d = is_record ? 1 : 0; d < shape.size(); ++d)
      size = in.product(size, shape[d]);
    layout.variables.push_back({in.sum(begin, 0), size, is_record});
  }
  layout.header_end = in.position();
  for (const ClassicLayout::Extent& v : layout.variables) {
    if (v.is_record) layout.record_size = in.sum(layout.record_size, round_up(v.size));
  }
  const auto is_record = [](const ClassicLayout::Extent& v) { return v.is_record; };
  const auto lone = std::find_if(layout.variables.begin(), layout.variables.end(), is_record);
  if (std::count_if(layout.variables.begin(), layout.variables.end(), is_record) == 1)
    layout.record_size = lone->size; // not padded
  in.sum(in.product(layout.record_size, layout.records), 0);
  return layout;
}

std::int64_t count_moved(ClassicLayout& layout, const std::string& path, bool all_records) {
  ClassicLayout after = read_classic_layout(path).value();
  std::uint64_t bytes = 0;
  const bool grown = all_records && after.record_size > layout.record_size;
  for (std::size_t v = 0; v < layout.variables.size(); ++v) {
    const auto &old = layout.variables[v], &now = after.variables[v];
    const std::uint64_t n = old.is_record ? after.records : 1;
    for (std::uint64_t r = 0; r < n; ++r) {
      const bool same_place =
          old.begin + r * layout.record_size == now.begin + r * after.record_size;
      if (!same_place || (old.is_record && grown)) bytes += old.size;
    }
  }
  layout = std::move(after);
  return static_cast<std::int64_t>(bytes);
}

std::uint64_t ClassicLayout::size(std::uint64_t of_records) const {
  std::uint64_t end = 0;
  for (const Extent& v : variables) {
    if (v.is_record && of_records == 0) continue;
    end = std::max(end, v.begin + (v.is_record ? (of_records - 1) * record_size : 0) + v.size);
  }
  return end;
}

std::uint64_t ClassicLayout::padded_size(std::uint64_t of_records) const {
  std::uint64_t end_of_fixed = header_end, record_begin = ~std::uint64_t{0};
  for (const Extent& place : variables) {
    if (place.is_record) {
      record_begin = std::min(record_begin, place.begin);
    } else {
      end_of_fixed = std::max(end_of_fixed, round_up(place.begin + place.size));
    }
  }
  const std::uint64_t bytes = of_records * record_size;
  return bytes == 0 ? end_of_fixed : record_begin + bytes;
}

void end_after(const std::string& path, std::uint64_t records) {
  const auto layout = read_classic_layout(path);
  if (!layout) return;
  if (std::filesystem::file_size(path) < layout->size(records))
    throw Error("file '" + path + "': expected " + std::to_string(records) +
                " records, found fewer");
  const std::uint64_t size = layout->padded_size(records);
  std::string count(layout->count_bytes, '\0'); // big-endian
  for (std::size_t k = count.size(); k-- > 0; records >>= 8)
    count[k] = static_cast<char>(records & 0xff);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(4); // behind the magic number
  if (!file.write(count.data(), static_cast<std::streamsize>(count.size())).flush())
    throw Error("file '" + path + "': cannot write its number of records");
  file.close();
  std::filesystem::resize_file(path, size);
}

void zero_padding(const std::string& path) {
  const auto layout = read_classic_layout(path);
  if (!layout) return;
  using Range = std::pair<std::uint64_t, std::uint64_t>;
  std::vector<Range> ranges{{0, layout->header_end}}; // begin and end of what is not padding
  std::uint64_t end = layout->header_end;             // with the last padding
  for (const auto& v : layout->variables) {
    for (std::uint64_t r = 0; r < (v.is_record ? layout->records : 1); ++r) {
      const std::uint64_t begin = v.begin + r * layout->record_size;
      ranges.emplace_back(begin, begin + v.size);
      end = std::max(end, v.is_record && layout->record_size == v.size ? begin + v.size
                                                                       : begin + round_up(v.size));
    }
  }
  std::sort(ranges.begin(), ranges.end());
  ranges.emplace_back(end, end);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  for (std::size_t n = 1; n < ranges.size(); ++n) {
    if (ranges[n].first <= ranges[n - 1].second) continue;
    const std::vector<char> zeros(ranges[n].first - ranges[n - 1].second, 0);
    file.seekp(static_cast<std::streamoff>(ranges[n - 1].second));
    file.write(zeros.data(), static_cast<std::streamsize>(zeros.size()));
  }
  file.flush();
  if (!file) throw Error("file '" + path + "': cannot write the padding between its variables");
}

} // namespace nunatak::io
