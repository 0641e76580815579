#include "miniapp/session.hpp"

#include "io/mpi_io.hpp"
#include "miniapp/error.hpp"

#include <Kokkos_Core.hpp>
#include <petscsys.h>

#include <fstream>
#include <string>
#include <vector>

namespace nunatak {

namespace {

bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && std::isalpha(static_cast<unsigned char>(word[1]));
}

/// PETSc ignores words that belong to no option; a forgotten "-i" would go unnoticed. Returns the first such word.
std::string stray_word(int argc, char** argv) {
  for (int a = 1; a < argc; ++a) {
    if (!is_option(argv[a]) && (a == 1 || !is_option(argv[a - 1]))) return argv[a];
  }
  return "";
}

/// Name of an options file that cannot be read, or "".
std::string missing_options_file(int argc, char** argv) {
  for (int a = 1; a + 1 < argc; ++a) {
    if (std::string(argv[a]) == "-options_file" && !std::ifstream(argv[a + 1])) return argv[a + 1];
  }
  return "";
}

} // namespace

Session::Session(int argc, char** argv) {
  io::prefer_romio(); // before MPI starts
  int n_args = argc;
  char** words = argv;
  if (MPI_Init(&n_args, &words) != MPI_SUCCESS) throw std::runtime_error("MPI_Init failed");
  m_comm = MPI_COMM_WORLD;
  MPI_Comm_rank(m_comm, &m_rank);
  MPI_Comm_size(m_comm, &m_size);

  std::vector<char*> petsc_words;
  for (int a = 0; a < n_args; ++a) {
    const std::string word = words[a];
    if (word == "-help" || word == "--help" || word == "-h") {
      m_help_wanted = true;
    } else {
      petsc_words.push_back(words[a]);
    }
  }
  const std::string file = missing_options_file(n_args, words), stray = stray_word(n_args, words);
  if (!file.empty() || !stray.empty()) {
    MPI_Finalize();
    if (m_rank != 0) throw Error(""); // rank 0 speaks for all
    throw Error(!file.empty() ? "option -options_file: cannot read '" + file + "'"
                              : "'" + stray + "' on the command line belongs to no option (expected: -option value)");
  }
  petsc_words.push_back(nullptr);
  int petsc_argc = static_cast<int>(petsc_words.size()) - 1;
  char** petsc_argv = petsc_words.data();
  PETSC_COMM_WORLD = m_comm;
  if (PetscInitialize(&petsc_argc, &petsc_argv, nullptr, nullptr) != 0) {
    MPI_Finalize();
    throw Error("PETSc did not start: malformed options?");
  }
  PetscPushErrorHandler(PetscReturnErrorHandler, nullptr); // errors are reported by exceptions, see error.hpp
  m_kokkos = std::make_unique<Kokkos::ScopeGuard>(Kokkos::InitializationSettings().set_disable_warnings(true));
}

Session::~Session() {
  m_kokkos.reset();
  PetscPopErrorHandler();
  PetscFinalize();
  MPI_Finalize();
}

} // namespace nunatak
