#include "miniapp/model/session.hpp"

#include "common/error.hpp"
#include "common/text.hpp"
#include "io/base/watchdog.hpp"
#include "io/methods/method.hpp"
#include "miniapp/base/mpi_ranks.hpp"
#include "miniapp/model/options_file.hpp"
#include "miniapp/model/petsc_error.hpp"

#include <petscsys.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>

namespace nunatak {

namespace {

/// The files that PETSc reads by default, if they exist: ~/.petscrc, .petscrc and petscrc.
std::vector<std::string> files_of_petsc() {
  std::vector<std::string> files;
  std::error_code none;
  const char* home = std::getenv("HOME");
  if (home != nullptr && !std::filesystem::equivalent(home, ".", none))
    files.push_back(std::string(home) + "/.petscrc");
  files.insert(files.end(), {".petscrc", "petscrc"});
  files.erase(
      std::remove_if(files.begin(), files.end(),
                     [&](const auto& file) { return !std::filesystem::exists(file, none); }),
      files.end());
  return files;
}

bool starts_with(const std::string& name, const std::vector<std::string>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const std::string& p) { return name.compare(0, p.size(), p) == 0; });
}

/// True for options that PETSc uses later: the solver's, the DMDA's, those read at PetscFinalize.
/// Names similar to the model's ssa_ options are refused now, not after a solve.
bool belongs_to_petsc(const std::string& name, const OptionTable& table) {
  if (table.knows(name)) return false;
  if (starts_with(name, {"ssa_snes_", "ssa_ksp_", "ssa_pc_", "ssa_mat_", "ssa_mg_", "ssa_sub_",
                         "ssa_da_", "ssa_dm_", "da_", "dm_"}))
    return true;
  if (starts_with(name, {"ssa_"})) return !starts_with(table.nearest_name(name), {"ssa_"});
  return name == "options_left" || name == "options_view" || name == "skip_petscrc";
}

} // namespace

Versions petsc_version() {
  return {{"PETSc", std::to_string(PETSC_VERSION_MAJOR) + "." +
                        std::to_string(PETSC_VERSION_MINOR) + "." +
                        std::to_string(PETSC_VERSION_SUBMINOR)}};
}

Session::Session(int argc, char** argv)
    : m_argc(argc), m_argv(argv), m_libraries(argc, argv), m_comm(world_comm()) {
  MPI_Comm_rank(m_comm, &m_rank);
  MPI_Comm_size(m_comm, &m_size);
  for (int a = 0; a < argc; ++a) {
    const std::string word = argv[a];
    if (word == "-help" || word == "--help" || word == "-h" || word == "-version" ||
        word == "--version" || word == alone_option) {
      continue; // read() answers them, and run_program() has heard the last
    } else if (word == "-options_file") {
      if (a + 1 == argc || is_option(argv[a + 1]))
        m_error = "option -options_file: expected the name of a file, found none";
      if (a + 1 < argc) m_options_files.emplace_back(argv[++a]);
    } else {
      if (m_error.empty() && a > 0 && !is_option(word) && (a == 1 || !is_option(argv[a - 1])))
        m_error = no_option(word);
      m_words.push_back(argv[a]);
    }
  }
  watch();
  int petsc_argc = static_cast<int>(m_words.size());
  m_words.push_back(nullptr);
  char** petsc_argv = m_words.data();
  PETSC_COMM_WORLD = m_comm;
  PetscPushErrorHandler(PetscReturnErrorHandler, nullptr); // see petsc_error.hpp
  const int failed = io::watched(".petscrc", "start of PETSc", [&] {
    return static_cast<int>(PetscInitialize(&petsc_argc, &petsc_argv, nullptr, nullptr));
  });
  if (failed != 0)
    throw std::runtime_error("PETSc did not start: its error is " + std::to_string(failed) +
                             ". Look at ~/.petscrc, .petscrc, petscrc and "
                             "PETSC_OPTIONS: each must be readable and hold '-option value'");
  std::signal(SIGPIPE, SIG_IGN); // with `| head` the files of the run are still written
}

/// By the command line, before any file of options is read, which may hang.
void Session::watch() const {
  const std::string patience = value_on_command_line(m_argc, m_argv, "io_patience");
  io::Options options;
  if (!patience.empty())
    io::find(io::rows_of(options), "patience")->set(patience, "option -io_patience");
  io::Watchdog::of_process().set(m_comm, options.patience);
}

bool Session::read(OptionTable& table) {
  if (table.answer(m_argc, m_argv, petsc_version())) {
    NUNATAK_PETSC(PetscOptionsSetValue(nullptr, "-options_left", "no")); // none was read
    return false;
  }
  if (!m_error.empty()) throw Error(m_error);
  PetscBool skipped = PETSC_FALSE;
  NUNATAK_PETSC(PetscOptionsHasName(nullptr, nullptr, "-skip_petscrc", &skipped));
  if (m_rank == 0 && skipped == PETSC_FALSE) {
    for (const std::string& file : files_of_petsc())
      std::cout << "options: read " << file << ", as PETSc does" << std::endl;
  }
  const auto take = [&](const GivenOption& given) {
    const std::string name = "-" + given.name;
    if (belongs_to_petsc(given.name, table)) {
      NUNATAK_PETSC(PetscOptionsSetValue(nullptr, name.c_str(),
                                         given.has_value ? given.value.c_str() : nullptr));
      return;
    }
    table.set(given.name, given.has_value ? &given.value : nullptr);
    PetscBool is_set = PETSC_FALSE; // the query marks it as used
    NUNATAK_PETSC(PetscOptionsHasName(nullptr, nullptr, name.c_str(), &is_set));
  };
  // 1. PETSc's database: its files, PETSC_OPTIONS, the command line
  for (const GivenOption& given : unused_options()) take(given);
  // 2. options files override PETSC_OPTIONS
  for (const std::string& file : m_options_files) {
    for (const GivenOption& given : read_options_file(m_comm, file)) {
      try {
        take(given);
      } catch (const Error& error) {
        throw Error(error.what() + (" ('" + file + "')"));
      }
    }
  }
  // 3. the command line overrides all
  int argc = static_cast<int>(m_words.size()) - 1;
  char** argv = m_words.data();
  NUNATAK_PETSC(PetscOptionsInsert(nullptr, &argc, &argv, nullptr));
  for (int a = 1; a < argc; ++a) {
    if (!is_option(m_words[a]) || !table.knows(m_words[a] + 1)) continue;
    const bool has_value = a + 1 < argc && !is_option(m_words[a + 1]);
    take({m_words[a] + 1, has_value ? m_words[a + 1] : "", has_value});
  }
  return true;
}

void check_petsc_options(const std::vector<std::string>& prefixes, const std::string& user) {
  for (const GivenOption& given : unused_options()) {
    if (starts_with(given.name, prefixes))
      throw Error("unknown option -" + given.name + ": " + user +
                  " does not use it (-help lists the model's options)");
  }
}

void check_solver_options() { check_petsc_options({"ssa_"}, "the solver of the stress balance"); }

Session::~Session() {
  io::watched("-log_view", "finish", [] { PetscFinalize(); });
  PetscPopErrorHandler();
}

} // namespace nunatak
