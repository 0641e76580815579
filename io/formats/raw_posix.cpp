// The format `posix`: every rank writes its runs with pwrite into one plain file. See run_file.hpp,
// raw.hpp and format.hpp.
#include "io/formats/run_file.hpp"

namespace nunatak::io {

namespace {

class Posix final : public RunFile {
public:
  Posix(MPI_Comm comm, const std::string& path, const Schema& schema, const Options& options)
      : RunFile(comm, path, schema, options), m_align(options.align) {}

  void define() override {
    m_layout = raw_layout(schema(), m_align);
    if (rank() == 0) write_records(0);
  }
  std::vector<OutputFile> files() const override { return {OutputFile{}, OutputFile{".json", 0}}; }

private:
  void write_records(std::uint64_t records) override {
    write_raw_json(path(), schema(), m_layout, records);
  }

  std::size_t m_align;
};

} // namespace

std::unique_ptr<Format> open_posix(MPI_Comm comm, const std::string& path, const Schema& schema,
                                   const Options& options) {
  return std::make_unique<Posix>(comm, path, schema, options);
}

} // namespace nunatak::io
