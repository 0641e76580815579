// The format that discards values, for the cost of a run without output. See format.hpp.
#include "io/formats/format.hpp"

namespace nunatak::io {

namespace {

class Null final : public Format {
public:
  Null(MPI_Comm, const std::string&, const Schema&, const Options&) {}
  void define() override {}
  void put(std::size_t, std::size_t, const Slabs&) override {}
  void wait() override {}
  void close() override {}
  Work work() const override { return {}; }
  std::vector<OutputFile> files() const override { return {}; }
};

} // namespace

FormatRow null_format() {
  return {"null", "no rank", open_as<Null>, late_define | many_writers | subfiles};
}

} // namespace nunatak::io
