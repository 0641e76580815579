// Any bytes as a NetCDF file: each method of reading gives the same values, or an Error that names
// the file; PnetCDF may refuse more. The inputs are classic files (HDF5 reads its own header).
#include "io/read/reader.hpp"
#include "tests/fuzz/scratch_file.hpp"

#include <mpi.h>

#include <cstring>

using namespace nunatak;

namespace {

/// What a Reader finds, as text; of numbers the bits.
std::string read_all(const std::string& path, io::ReadBy by) {
  constexpr std::size_t most = 1 << 16; // values that are read of a variable
  std::string found;
  io::ReadOptions options;
  options.by = by;
  try {
    const io::Reader in(path, MPI_COMM_SELF, options);
    found = std::to_string(in.records());
    for (const std::string& variable : in.variables()) {
      found += variable + in.type(variable) + in.shape(variable);
      try {
        double elements = 1.0;
        for (const auto& axis : in.dimensions(variable))
          elements *= static_cast<double>(axis.length);
        found += in.text(variable, "units").value_or("no units");
        if (elements > static_cast<double>(most)) continue;
        const std::vector<double> values = in.read_all(variable);
        found.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
      } catch (const Error& e) {
        if (std::strstr(e.what(), path.c_str()) == nullptr) std::abort();
        found += "error";
      }
    }
  } catch (const Error& e) {
    if (std::strstr(e.what(), path.c_str()) == nullptr) std::abort();
    found = "error";
  }
  return found;
}

/// For as long as the process lives.
struct Session {
  Session() { MPI_Init(nullptr, nullptr); }
  ~Session() { MPI_Finalize(); }
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Session session;
  static const ScratchFile file;
  if (size < 4 || std::memcmp(data, "CDF", 3) != 0) return -1; // not into the corpus
  const std::string path = file.with("f.nc", data, size);
  const std::string found = read_all(path, io::ReadBy::each);
  for (const io::ReadBy by : {io::ReadBy::serial, io::ReadBy::direct}) {
    if (read_all(path, by) != found) std::abort();
  }
  const std::string parallel = read_all(path, io::ReadBy::parallel);
  if (parallel != found && parallel != "error") std::abort();
  return 0;
}
