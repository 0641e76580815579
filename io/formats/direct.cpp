// The format `direct`: a classic NetCDF file whose header rank 0 writes by NetCDF-C, and whose
// values every rank writes by pwrite at the offsets that the header gives. See run_file.hpp and
// format.hpp.
//
//   rank 0: create_classic, read_classic_layout          all ranks: broadcast of the layout
//   put:    pack, big-endian, pwrite                     flush, close: rank 0 sets the length,
//   writes the number of records
//
// The bytes are those of `serial` and `pnetcdf`. Neither MPI-IO nor a message stands between a rank
// and the file system. The header does not change except for that number, so that the file grows in
// place.
#include "io/durable/durable.hpp"
#include "io/formats/byte_order.hpp"
#include "io/formats/classic.hpp"
#include "io/formats/run_file.hpp"
#include "io/read/classic_header.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace nunatak::io {

namespace {

/// Big-endian.
std::vector<std::byte> bytes_of_integer(std::uint64_t value, std::size_t n) {
  std::vector<std::byte> bytes(n);
  for (std::size_t k = n; k-- > 0; value >>= 8) bytes[k] = static_cast<std::byte>(value & 0xff);
  return bytes;
}

class Direct final : public RunFile {
public:
  Direct(MPI_Comm comm, const std::string& path, const Schema& schema, const Options& options)
      : RunFile(comm, path, schema, options), m_options(options) {
    m_is_swapped = !memory_is_big_endian();
  }

  void define() override {
    std::vector<std::uint64_t> places(schema().variables.size() +
                                      3); // of the variables, of the records, the end of the others
    on_rank_0(comm(), [&] {
      create_classic(path(), schema(), m_options);
      const ClassicLayout layout = read_classic_layout(path()).value();
      m_count_bytes = layout.count_bytes;
      m_header.resize(layout.header_end);
      if (!std::ifstream(path(), std::ios::binary)
               .read(m_header.data(), static_cast<std::streamsize>(m_header.size())))
        fail("expected to read its header");
      places = flat(layout);
    });
    MPI_Bcast(places.data(), static_cast<int>(places.size()), MPI_UINT64_T, 0, comm());
    m_layout.end_of_fixed = places.back(), places.pop_back();
    m_layout.record_stride = places.back(), places.pop_back();
    m_layout.record_begin = places.back(), places.pop_back();
    m_layout.begin = std::move(places);
  }

  bool grows_in_place() const override { return true; }

  Reopened reopen(const std::string& path, std::uint64_t records) override {
    Reopened reopened{"", m_layout.file_size(records)};
    on_rank_0(comm(), [&] { reopened.why_not = different_header(path, reopened.size); });
    broadcast(reopened.why_not, comm());
    if (reopened.why_not.empty()) go_on_with(path, records);
    return reopened;
  }

private:
  static std::vector<std::uint64_t> flat(const ClassicLayout& layout) {
    std::vector<std::uint64_t> places;
    std::uint64_t record_begin = ~std::uint64_t{0}, end_of_fixed = layout.header_end;
    for (const ClassicLayout::Place& place : layout.variables) {
      places.push_back(place.begin);
      if (place.is_record) {
        record_begin = std::min(record_begin, place.begin);
      } else {
        end_of_fixed = std::max(end_of_fixed, (place.begin + place.size + 3) / 4 * 4);
      }
    }
    places.insert(places.end(), {record_begin, layout.record_size, end_of_fixed});
    return places;
  }

  /// Where `history` has its text in the header: begin and size.
  std::pair<std::size_t, std::size_t> history() const {
    for (const Attribute& attribute : schema().attributes) {
      if (attribute.name != "history") continue;
      const auto& text = std::get<std::string>(attribute.value);
      return {m_header.find(text), text.size()};
    }
    return {0, 0};
  }

  /// Of a file, which must have at least `size` bytes; "" if there is no difference that matters.
  /// Local, rank 0 only.
  std::string different_header(const std::string& path, std::uint64_t size) {
    if (std::filesystem::file_size(path) < size) return "it is shorter than its records";
    std::string found(m_header.size(), '\0');
    if (!std::ifstream(path, std::ios::binary)
             .read(found.data(), static_cast<std::streamsize>(found.size())))
      return "its header cannot be read";
    const auto [begin, length] = history();
    std::memcpy(found.data() + count_begin, m_header.data() + count_begin, m_count_bytes);
    m_has_new_history = found.compare(begin, length, m_header, begin, length) != 0;
    found.replace(begin, length, m_header, begin, length);
    return found == m_header ? ""
                             : "it has another header, or no room for the new line of 'history'";
  }

  /// The new history is on the disk before the number of records: a line of the manifest says both.
  void write_records(std::uint64_t records) override {
    if (m_has_new_history) {
      const auto [begin, length] = history();
      write({begin, length, reinterpret_cast<const std::byte*>(m_header.data() + begin)});
      fsync_path(path());
      m_has_new_history = false;
    }
    const auto bytes = bytes_of_integer(records, m_count_bytes);
    write({count_begin, bytes.size(), bytes.data()});
  }

  static constexpr std::size_t count_begin =
      4; ///< of the number of records, behind the magic number

  Options m_options;
  std::size_t m_count_bytes = 0;  ///< of that number, on rank 0
  std::string m_header;           ///< as it was defined, on rank 0
  bool m_has_new_history = false; ///< which the file, reopened, does not have yet; on rank 0
};

} // namespace

std::unique_ptr<Format> open_direct(MPI_Comm comm, const std::string& path, const Schema& schema,
                                    const Options& options) {
  classic_mode(path, schema, options); // refuses before there is a file
  return std::make_unique<Direct>(comm, path, schema, options);
}

} // namespace nunatak::io
