// Parses the header of classic NetCDF files. See classic_header.hpp.
//
//   header = magic numrecs dim_list gatt_list var_list
//   magic  = 'C' 'D' 'F' version     version 1: 32-bit sizes and offsets; 2: 64-bit offsets;
//                                    5: 64-bit sizes and offsets
//   list   = tag count element*      tag 10 dimensions, 11 variables, 12 attributes, 0 if absent
#include "io/read/classic_header.hpp"

#include "io/error.hpp"

#include <algorithm>
#include <fstream>
#include <vector>

namespace nunatak::io {

namespace {

class Header {
public:
  explicit Header(const std::string& path) : m_path(path), m_in(path, std::ios::binary) {}

  /// The first four bytes; nothing if this is no classic file.
  std::optional<int> version() {
    char magic[4] = {};
    if (!m_in.read(magic, 4) || magic[0] != 'C' || magic[1] != 'D' || magic[2] != 'F')
      return std::nullopt;
    if (magic[3] != 1 && magic[3] != 2 && magic[3] != 5) return std::nullopt;
    return magic[3];
  }

  /// An unsigned big-endian integer.
  std::uint64_t integer(int bytes) {
    unsigned char raw[8];
    if (!m_in.read(reinterpret_cast<char*>(raw), bytes))
      fail("the file ends inside its header: it is truncated");
    std::uint64_t value = 0;
    for (int n = 0; n < bytes; ++n) value = value << 8 | raw[n];
    return value;
  }

  std::uint64_t position() { return static_cast<std::uint64_t>(m_in.tellg()); }
  /// Through the stream's buffer: a seek would throw it away.
  void skip(std::uint64_t bytes) { m_in.ignore(static_cast<std::streamsize>((bytes + 3) / 4 * 4)); }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error("file '" + m_path + "': " + what);
  }

private:
  std::string m_path;
  std::ifstream m_in;
};

std::uint64_t type_size(const Header& header, std::uint64_t type) {
  if (type < 1 || type > 11)
    header.fail("expected a type from 1 to 11 in the header, found " + std::to_string(type));
  return classic_type_bytes[type];
}

std::uint64_t round_up(std::uint64_t bytes) { return (bytes + 3) / 4 * 4; }

std::uint64_t record_size(const std::vector<ClassicLayout::Place>& variables) {
  std::uint64_t n_record = 0, lone = 0, size = 0;
  for (const auto& v : variables) {
    if (!v.is_record) continue;
    n_record += 1;
    lone = v.size;
    size += round_up(v.size);
  }
  return n_record == 1 ? lone : size; // a lone record variable is not padded
}

} // namespace

std::optional<ClassicLayout> read_classic_layout(const std::string& path) {
  Header in(path);
  const std::optional<int> version = in.version();
  if (!version) return std::nullopt;
  const int count_bytes = version == 5 ? 8 : 4;
  const int offset_bytes = version == 1 ? 4 : 8;
  const auto count = [&] { return in.integer(count_bytes); };
  const auto skip_attributes = [&] {
    in.integer(4);
    for (std::uint64_t n = count(); n > 0; --n) {
      in.skip(count());
      const std::uint64_t size = type_size(in, in.integer(4));
      in.skip(count() * size);
    }
  };

  ClassicLayout layout;
  layout.count_bytes = static_cast<std::size_t>(count_bytes);
  layout.records = count();
  if (layout.records == (version == 5 ? ~0ULL : 0xffffffffULL))
    layout.records = 0; // "streaming": their number is not stated
  in.integer(4);
  std::vector<std::uint64_t> dimensions;
  for (std::uint64_t n = count(); n > 0; --n) {
    in.skip(count());
    dimensions.push_back(count()); // 0: the record dimension
  }
  skip_attributes();
  in.integer(4);
  for (std::uint64_t n = count(); n > 0; --n) {
    in.skip(count());
    std::vector<std::uint64_t> shape(
        static_cast<std::size_t>(std::min<std::uint64_t>(count(), 1024)));
    for (auto& length : shape) {
      const std::uint64_t id = count();
      if (id >= dimensions.size()) {
        in.fail("the header refers to dimension " + std::to_string(id) + ", but there are " +
                std::to_string(dimensions.size()));
      }
      length = dimensions[static_cast<std::size_t>(id)];
    }
    skip_attributes();
    std::uint64_t size = type_size(in, in.integer(4));
    count(); // vsize: redundant, and wrong by design where it does not fit
    const std::uint64_t begin = in.integer(offset_bytes);
    const bool is_record = !shape.empty() && shape[0] == 0;
    for (std::size_t d = is_record ? 1 : 0; d < shape.size(); ++d) size *= shape[d];
    layout.variables.push_back({begin, size, is_record});
  }
  layout.header_end = in.position();
  layout.record_size = record_size(layout.variables);
  return layout;
}

std::int64_t MovedBytes::count(const std::string& path, bool all_records) {
  ClassicLayout after = read_classic_layout(path).value();
  std::uint64_t bytes = 0;
  const bool grown = all_records && after.record_size > m_before.record_size;
  for (std::size_t v = 0; v < m_before.variables.size(); ++v) {
    const auto &old = m_before.variables[v], &now = after.variables[v];
    const std::uint64_t n = old.is_record ? after.records : 1;
    for (std::uint64_t r = 0; r < n; ++r) {
      const bool same_place =
          old.begin + r * m_before.record_size == now.begin + r * after.record_size;
      if (!same_place || (old.is_record && grown)) bytes += old.size;
    }
  }
  m_before = std::move(after);
  return static_cast<std::int64_t>(bytes);
}

std::optional<std::uint64_t> classic_file_size(const std::string& path) {
  const auto layout = read_classic_layout(path);
  if (!layout) return std::nullopt;
  return layout->size(layout->records);
}

std::uint64_t ClassicLayout::size(std::uint64_t of_records) const {
  std::uint64_t end = 0;
  for (const Place& v : variables) {
    if (v.is_record && of_records == 0) continue;
    end = std::max(end, v.begin + (v.is_record ? (of_records - 1) * record_size : 0) + v.size);
  }
  return end;
}

void zero_padding(const std::string& path) {
  const auto layout = read_classic_layout(path);
  if (!layout) return;
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  std::uint64_t at = layout->header_end; // everything before is a value, or zero
  const auto fill_up_to = [&](std::uint64_t begin) {
    if (begin <= at) return;
    const std::vector<char> zeros(static_cast<std::size_t>(begin - at), 0);
    file.seekp(static_cast<std::streamoff>(at));
    file.write(zeros.data(), static_cast<std::streamsize>(zeros.size()));
  };
  std::vector<ClassicLayout::Place> fixed, record;
  for (const auto& v : layout->variables) (v.is_record ? record : fixed).push_back(v);
  const auto by_place = [](const auto& a, const auto& b) { return a.begin < b.begin; };
  std::sort(fixed.begin(), fixed.end(), by_place);
  std::sort(record.begin(), record.end(), by_place);
  for (const auto& v : fixed) {
    fill_up_to(v.begin);
    at = v.begin + v.size;
  }
  if (record.empty() || layout->records == 0) {
    fill_up_to(round_up(at));
  }
  for (std::uint64_t r = 0; r < layout->records && !record.empty(); ++r) {
    for (const auto& v : record) {
      fill_up_to(v.begin + r * layout->record_size);
      at = v.begin + r * layout->record_size + v.size;
    }
    fill_up_to(record[0].begin + (r + 1) * layout->record_size);
  }
  file.flush();
  if (!file)
    throw Error("file '" + path + "': expected to write the padding between its variables");
}

} // namespace nunatak::io
