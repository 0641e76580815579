// Any bytes as a file of options: options, or an Error that names it. The first byte: which form.
#include "common/error.hpp"
#include "miniapp/model/options_file.hpp"
#include "tests/fuzz/scratch_file.hpp"

#include <petscsys.h>

#include <cstring>

using namespace nunatak;

namespace {

/// For as long as the process lives.
struct Session {
  Session() {
    PetscPushErrorHandler(PetscReturnErrorHandler, nullptr); // as in model/session.cpp
    PetscInitializeNoArguments();
  }
  ~Session() { PetscFinalize(); }
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Session session;
  static const ScratchFile file;
  if (size < 2) return -1;
  const std::string path = file.with(data[0] % 2 == 0 ? "o.yaml" : "o.txt", data + 1, size - 1);
  try {
    read_options_file(MPI_COMM_SELF, path);
  } catch (const Error& e) {
    if (std::strstr(e.what(), path.c_str()) == nullptr) std::abort();
  }
  return 0;
}
