// The reader `each`: every rank opens the file and reads its boxes with serial NetCDF-C.
#include "io/error.hpp"
#include "io/read/source.hpp"

#include <netcdf.h>

#include <algorithm>

namespace nunatak::io {

namespace {

class Each final : public ReadSource {
public:
  Each(const std::string& path, const ReadOptions& options)
      : m_path(path), m_call_bytes(options.call_bytes), m_file(path) {
    m_contents = contents_of(m_file, path);
    m_statistics.openers = 1;
  }

  void read(std::size_t v, const Box& box, std::size_t bytes, std::byte* values) override {
    const double begin = MPI_Wtime();
    for (const Box& part : cut(box, std::max<std::size_t>(1, m_call_bytes / bytes))) {
      const int status = nc_get_vara(m_file.id(), static_cast<int>(v), part.start.data(),
                                     part.count.data(), values);
      if (status != NC_NOERR)
        throw Error(read_failure(m_path, m_contents.variables[v].name, part, nc_strerror(status)));
      values += part.elements() * bytes;
      m_statistics.bytes += static_cast<std::int64_t>(part.elements() * bytes);
      m_statistics.operations += 1;
    }
    m_statistics.read_seconds += MPI_Wtime() - begin;
  }

private:
  std::string m_path;
  std::size_t m_call_bytes;
  NcFile m_file;
};

} // namespace

std::unique_ptr<ReadSource> read_each(const std::string& path, MPI_Comm,
                                      const ReadOptions& options) {
  return std::make_unique<Each>(path, options);
}

std::string read_failure(const std::string& path, const std::string& variable, const Box& box,
                         const std::string& found) {
  return "file '" + path + "': variable '" + variable + "': expected " +
         std::to_string(box.elements()) + " values at " + in_words(box.start) + " of " +
         in_words(box.count) + "; found: " + found;
}

} // namespace nunatak::io
