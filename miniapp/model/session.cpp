#include "miniapp/model/session.hpp"

#include "io/agree.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/base/option_table.hpp"
#include "miniapp/base/world_comm.hpp"
#include "miniapp/model/options_file.hpp"
#include "miniapp/model/petsc_error.hpp"

#include <petscsys.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <string>
#include <vector>

namespace nunatak {

namespace {

/// Read an options file into PETSc's database. PETSc reads it on rank 0 and lets the others wait for ever if that fails: so rank
/// 0 tries first.
void insert_options_file(MPI_Comm comm, const std::string& file) {
  io::on_rank_0(comm, [&] {
    check_options_file(file);
    PetscOptions scratch = nullptr;
    const bool failed =
        PetscOptionsCreate(&scratch) != 0 || PetscOptionsInsertFile(PETSC_COMM_SELF, scratch, file.c_str(), PETSC_TRUE) != 0;
    PetscOptionsDestroy(&scratch);
    if (failed) {
      throw Error("option -options_file: cannot read '" + file +
                  "' (expected YAML if its name ends in .yaml or .yml, else lines of '-option value')");
    }
  });
  NUNATAK_PETSC(PetscOptionsInsertFile(comm, nullptr, file.c_str(), PETSC_TRUE));
}

struct Given {
  std::string name, value;
  bool has_value;
};

/// All options of PETSc's database that nobody has asked for yet.
std::vector<Given> unused_options() {
  PetscInt n = 0;
  char **names = nullptr, **values = nullptr;
  NUNATAK_PETSC(PetscOptionsLeftGet(nullptr, &n, &names, &values));
  std::vector<Given> all;
  for (PetscInt k = 0; k < n; ++k) all.push_back({names[k], values[k] != nullptr ? values[k] : "", values[k] != nullptr});
  NUNATAK_PETSC(PetscOptionsLeftRestore(nullptr, &n, &names, &values));
  return all;
}

bool starts_with(const std::string& name, const std::vector<std::string>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const std::string& p) { return name.compare(0, p.size(), p) == 0; });
}

/// Options that PETSc asks for later: the solver's, the DMDA's, and its own that it looks at when it ends.
bool belongs_to_petsc(const std::string& name) {
  return starts_with(name, {"ssa_", "da_", "dm_"}) || name == "options_left" || name == "options_view" || name == "skip_petscrc";
}

} // namespace

/// The words of the command line for PETSc, and what is taken out of them.
struct Session::CommandLine {
  std::vector<char*> words;
  std::vector<std::string> options_files;
  bool help = false;
  std::string error;

  CommandLine(int argc, char** argv) {
    for (int a = 0; a < argc; ++a) {
      const std::string word = argv[a];
      if (word == "-help" || word == "--help" || word == "-h") {
        help = true;
      } else if (word == "-options_file") {
        if (a + 1 == argc || is_option(argv[a + 1])) error = "option -options_file: expected the name of a file, found none";
        if (a + 1 < argc) options_files.emplace_back(argv[++a]);
      } else {
        if (a > 0 && !is_option(word) && (a == 1 || !is_option(argv[a - 1]))) {
          error = "'" + word + "' on the command line belongs to no option (expected: -option value)";
        }
        words.push_back(argv[a]);
      }
    }
    words.push_back(nullptr);
  }
};

Session::Session(int argc, char** argv) : m_libraries(argc, argv), m_comm(world_comm()) {
  MPI_Comm_rank(m_comm, &m_rank);
  MPI_Comm_size(m_comm, &m_size);
  m_command_line = std::make_unique<CommandLine>(argc, argv);

  int petsc_argc = static_cast<int>(m_command_line->words.size()) - 1;
  char** petsc_argv = m_command_line->words.data();
  PETSC_COMM_WORLD = m_comm;
  PetscPushErrorHandler(PetscReturnErrorHandler, nullptr); // errors are reported by exceptions, see petsc_error.hpp
  if (PetscInitialize(&petsc_argc, &petsc_argv, nullptr, nullptr) != 0) MPI_Abort(m_comm, 1);
  std::signal(SIGPIPE, SIG_IGN); // nobody reads what the run prints (| head): its files are written all the same
}

const std::vector<std::string>& Session::options_files() const { return m_command_line->options_files; }

bool Session::read(OptionTable& table) {
  if (m_command_line->help) {
    if (m_rank == 0) table.print_help(std::cout);
    return false;
  }
  if (!m_command_line->error.empty()) throw Error(m_command_line->error);
  PetscBool skipped = PETSC_FALSE;
  NUNATAK_PETSC(PetscOptionsHasName(nullptr, nullptr, "-skip_petscrc", &skipped));
  if (m_rank == 0 && skipped == PETSC_FALSE) {
    for (const std::string& file : unasked_options_files())
      std::cout << "options: read " << file << ", as PETSc does" << std::endl;
  }
  for (const std::string& file : m_command_line->options_files) insert_options_file(m_comm, file);
  int petsc_argc = static_cast<int>(m_command_line->words.size()) - 1;
  char** petsc_argv = m_command_line->words.data();
  NUNATAK_PETSC(PetscOptionsInsert(nullptr, &petsc_argc, &petsc_argv, nullptr)); // the command line overrides the files
  for (const Given& given : unused_options()) {
    if (!table.knows(given.name)) {
      if (belongs_to_petsc(given.name)) continue; // see check_petsc_options
      table.fail_unknown(given.name);
    }
    PetscBool is_set = PETSC_FALSE;
    NUNATAK_PETSC(PetscOptionsHasName(nullptr, nullptr, ("-" + given.name).c_str(), &is_set)); // marks it as used
    table.set(given.name, given.has_value ? &given.value : nullptr);
  }
  return true;
}

void check_petsc_options(const std::vector<std::string>& prefixes, const std::string& user) {
  for (const Given& given : unused_options()) {
    if (starts_with(given.name, prefixes))
      throw Error("unknown option -" + given.name + ": " + user + " does not use it (-help lists the model's options)");
  }
}

void check_solver_options() { check_petsc_options({"ssa_"}, "the solver of the stress balance"); }

Session::~Session() {
  PetscFinalize();
  PetscPopErrorHandler();
}

} // namespace nunatak
