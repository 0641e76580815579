// The format `direct`: a classic NetCDF file whose header rank 0 writes by NetCDF-C, and whose values every rank writes by pwrite
// at the offsets that the header gives. See run_file.hpp and format.hpp.
//
//   rank 0: create_classic, read_classic_layout          all ranks: broadcast of the layout
//   put:    pack, big-endian, pwrite                     flush, close: rank 0 writes the number of records and sets the length
//
// The bytes are those of `serial` and `pnetcdf`. Neither MPI-IO nor a message stands between a rank and the file system.
#include "io/durable/durable.hpp"
#include "io/formats/classic.hpp"
#include "io/formats/run_file.hpp"
#include "io/read/classic_header.hpp"

#include <algorithm>

namespace nunatak::io {

namespace {

bool memory_is_big_endian() {
  const std::uint16_t one = 1;
  return *reinterpret_cast<const unsigned char*>(&one) == 0;
}

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
    std::vector<std::uint64_t> places(schema().variables.size() + 3); // of the variables, of the records, the end of the others
    on_rank_0(comm(), [&] {
      create_classic(path(), schema(), m_options);
      const ClassicLayout layout = read_classic_layout(path()).value();
      m_count_bytes = layout.count_bytes, m_header_end = layout.header_end;
      places = flat(layout);
    });
    MPI_Bcast(places.data(), static_cast<int>(places.size()), MPI_UINT64_T, 0, comm());
    m_layout.end_of_fixed = places.back(), places.pop_back();
    m_layout.record_stride = places.back(), places.pop_back();
    m_layout.record_begin = places.back(), places.pop_back();
    m_layout.begin = std::move(places);
  }

  /// The header, too, as it is now.
  std::optional<SparseChecksum> written() const override {
    std::optional<SparseChecksum> all = RunFile::written();
    if (all && rank() == 0) all->add_checksum(0, m_header_end, checksum_range(path(), 0, m_header_end));
    return all;
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

  /// After the four bytes of the magic number.
  void write_records(std::uint64_t records) override {
    const auto bytes = bytes_of_integer(records, m_count_bytes);
    write({4, bytes.size(), bytes.data()}, "the number of records");
  }

  Options m_options;
  std::size_t m_count_bytes = 0;  ///< of the number of records, on rank 0
  std::uint64_t m_header_end = 0; ///< on rank 0
};

} // namespace

std::unique_ptr<Format> open_direct(MPI_Comm comm, const std::string& path, const Schema& schema, const Options& options) {
  classic_mode(path, schema, options); // refuses before there is a file
  return std::make_unique<Direct>(comm, path, schema, options);
}

} // namespace nunatak::io
