#include "miniapp/model/session.hpp"

#include "io/agree.hpp"
#include "io/durable/manifest.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/base/option_table.hpp"
#include "miniapp/base/words.hpp"
#include "miniapp/base/world_comm.hpp"
#include "miniapp/model/petsc_error.hpp"

#include <petscsys.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace nunatak {

namespace {

std::string trimmed(std::string text) {
  text.erase(0, text.find_first_not_of(" \t\r"));
  text.erase(text.find_last_not_of(" \t\r") + 1);
  return text;
}

/// Without a comment, which begins with # at the start of a word outside of quotes.
std::string without_comment(const std::string& line) {
  char quote = '\0';
  for (std::size_t n = 0; n < line.size(); ++n) {
    const char c = line[n];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#' && (n == 0 || line[n - 1] == ' ' || line[n - 1] == '\t')) {
      return line.substr(0, n);
    }
  }
  return line;
}

/// Where options of files stand: by name "'run.yaml', line 3". Of a list or braces of YAML it is
/// not known.
using Places = std::map<std::string, std::string>;

/// The options of a YAML file, line by line: nested keys joined by underscores, as PETSc names
/// them. What is not a key in a block (a list, a mapping in braces, text over several lines) is
/// left to PETSc.
class YamlKeys {
public:
  explicit YamlKeys(std::string path) : m_path(std::move(path)) {}

  void line(int number, const std::string& text) {
    const std::size_t indent = text.find_first_not_of(' ');
    const std::size_t colon = text.find(':', indent);
    if (text[indent] == '\t') fail(number, "expected blanks before a word, found a tab");
    if (text[indent] == '-' || text[indent] == '{' || colon == std::string::npos) return pass();
    if (colon + 1 < text.size() && text[colon + 1] != ' ') return pass();
    if (m_open && indent <= m_parents.back().indent) fail_without_value();
    while (!m_parents.empty() && m_parents.back().indent >= indent) m_parents.pop_back();
    std::string name = trimmed(text.substr(indent, colon - indent));
    name.erase(
        std::remove_if(name.begin(), name.end(), [](char c) { return c == '"' || c == '\''; }),
        name.end());
    if (!m_parents.empty()) name = m_parents.back().name + "_" + name;
    const auto [first, is_new] = m_lines.emplace(name, number);
    if (!is_new)
      fail(number, "expected option " + name + " once, found it in line " +
                       std::to_string(first->second) + ", too");
    m_parents.push_back({indent, name, number});
    const std::string value = trimmed(text.substr(colon + 1));
    m_open = value.empty();
    if (value == "~" || value == "null" || value == "Null" || value == "NULL" || value == "\"\"" ||
        value == "''")
      fail_without_value();
  }
  void end() const {
    if (m_open) fail_without_value();
  }
  const std::map<std::string, int>& lines() const { return m_lines; }

private:
  struct Key {
    std::size_t indent;
    std::string name;
    int line;
  };
  void pass() { m_open = false; }
  [[noreturn]] void fail(int line, const std::string& what) const {
    throw Error("option -options_file: '" + m_path + "', line " + std::to_string(line) + ": " +
                what);
  }
  [[noreturn]] void fail_without_value() const {
    fail(m_parents.back().line,
         "expected a value of option " + m_parents.back().name + " (true for a flag), found none");
  }

  std::string m_path;
  std::vector<Key> m_parents;
  std::map<std::string, int> m_lines; ///< of each option
  bool m_open = false;                ///< the last key has no value yet: deeper keys may follow
};

/// What PETSc would read without a word, or wait for, though nobody can have meant it. Throws Error
/// naming the file (and the line) if it is no regular file, holds other than text or nothing at
/// all, or, in YAML, has an option twice or one without a value. Adds its options to `places`. Not
/// collective.
void check_options_file(const std::string& path, Places& places) {
  const std::string what = "option -options_file: '" + path + "': ";
  std::error_code none;
  if (std::filesystem::exists(path, none) && !std::filesystem::is_regular_file(path, none))
    throw Error(what + "expected a regular file, found a folder, a pipe or a device");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(what + "cannot be read");
  std::ostringstream all;
  all << file.rdbuf();
  const std::string text = all.str();
  const auto is_control = [](unsigned char c) {
    return (c < ' ' && c != '\t' && c != '\n' && c != '\r') || c == 127;
  };
  if (!io::is_utf8(text) || std::any_of(text.begin(), text.end(), is_control))
    throw Error(what + "expected text, found other bytes");

  std::istringstream lines(text);
  std::string line;
  YamlKeys keys(path);
  const bool yaml = ends_with(path, ".yaml") || ends_with(path, ".yml");
  int number = 0, filled = 0;
  while (std::getline(lines, line)) {
    number += 1;
    const std::string content = without_comment(line);
    if (trimmed(content).empty() || trimmed(content) == "---") continue;
    filled += 1;
    if (yaml) {
      keys.line(number, content);
    } else if (const std::string words = trimmed(content); is_option(words)) {
      places[words.substr(1, words.find_first_of(" \t") - 1)] =
          "'" + path + "', line " + std::to_string(number);
    }
  }
  if (filled == 0) throw Error(what + "expected options, found none");
  if (yaml) keys.end();
  for (const auto& [name, at] : keys.lines())
    places[name] = "'" + path + "', line " + std::to_string(at);
  for (const char* name : {"help", "h"}) {
    const auto place = places.find(name);
    if (place != places.end())
      throw Error("option -" + place->first + ": expected it on the command line, found it in " +
                  place->second);
  }
}

/// The files that PETSc reads unasked: .petscrc of the home folder, .petscrc and petscrc of this
/// one; those that exist.
std::vector<std::string> unasked_options_files() {
  std::vector<std::string> files{".petscrc", "petscrc"};
  const char* home = std::getenv("HOME");
  std::error_code none;
  if (home != nullptr && !std::filesystem::equivalent(home, ".", none))
    files.insert(files.begin(), std::string(home) + "/.petscrc");
  files.erase(
      std::remove_if(files.begin(), files.end(),
                     [&](const auto& file) { return !std::filesystem::exists(file, none); }),
      files.end());
  return files;
}

/// Read an options file into PETSc's database. PETSc reads it on rank 0 and lets the others wait
/// for ever if that fails: so rank 0 tries first.
void insert_options_file(MPI_Comm comm, const std::string& file, Places& places) {
  io::on_rank_0(comm, [&] {
    check_options_file(file, places);
    PetscOptions scratch = nullptr;
    const bool failed =
        PetscOptionsCreate(&scratch) != 0 ||
        PetscOptionsInsertFile(PETSC_COMM_SELF, scratch, file.c_str(), PETSC_TRUE) != 0;
    PetscOptionsDestroy(&scratch);
    if (failed) {
      throw Error(
          "option -options_file: cannot read '" + file +
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
  for (PetscInt k = 0; k < n; ++k)
    all.push_back({names[k], values[k] != nullptr ? values[k] : "", values[k] != nullptr});
  NUNATAK_PETSC(PetscOptionsLeftRestore(nullptr, &n, &names, &values));
  return all;
}

bool starts_with(const std::string& name, const std::vector<std::string>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const std::string& p) { return name.compare(0, p.size(), p) == 0; });
}

/// Options that PETSc asks for later: the solver's, the DMDA's, and its own that it looks at when
/// it ends. What is nearly one of the model's ssa_ is not left for PETSc to refuse after a solve.
bool belongs_to_petsc(const std::string& name, const OptionTable& table) {
  if (starts_with(name, {"ssa_snes_", "ssa_ksp_", "ssa_pc_", "ssa_mat_", "ssa_mg_", "ssa_sub_",
                         "ssa_da_", "ssa_dm_", "da_", "dm_"}))
    return true;
  if (starts_with(name, {"ssa_"})) return !starts_with(table.nearest_name(name), {"ssa_"});
  return name == "options_left" || name == "options_view" || name == "skip_petscrc";
}

} // namespace

/// The words of the command line for PETSc, and what is taken out of them.
struct Session::CommandLine {
  std::vector<char*> words;
  std::vector<std::string> options_files;
  bool help = false;
  std::string error;
  Places places; ///< of the options that stand in files and not here; on rank 0

  CommandLine(int argc, char** argv) {
    for (int a = 0; a < argc; ++a) {
      const std::string word = argv[a];
      if (word == "-help" || word == "--help" || word == "-h") {
        help = true;
      } else if (word == "-options_file") {
        if (a + 1 == argc || is_option(argv[a + 1]))
          error = "option -options_file: expected the name of a file, found none";
        if (a + 1 < argc) options_files.emplace_back(argv[++a]);
      } else {
        if (error.empty() && a > 0 && !is_option(word) && (a == 1 || !is_option(argv[a - 1]))) {
          error = no_option(word);
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
  PetscPushErrorHandler(PetscReturnErrorHandler,
                        nullptr); // errors are reported by exceptions, see petsc_error.hpp
  if (PetscInitialize(&petsc_argc, &petsc_argv, nullptr, nullptr) != 0) MPI_Abort(m_comm, 1);
  std::signal(
      SIGPIPE,
      SIG_IGN); // nobody reads what the run prints (| head): its files are written all the same
}

const std::vector<std::string>& Session::options_files() const {
  return m_command_line->options_files;
}

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
  Places& places = m_command_line->places;
  for (const std::string& file : m_command_line->options_files)
    insert_options_file(m_comm, file, places);
  int petsc_argc = static_cast<int>(m_command_line->words.size()) - 1;
  char** petsc_argv = m_command_line->words.data();
  NUNATAK_PETSC(PetscOptionsInsert(nullptr, &petsc_argc, &petsc_argv,
                                   nullptr)); // the command line overrides the files
  for (const char* word : m_command_line->words) {
    if (word != nullptr && is_option(word)) places.erase(word + 1);
  }
  for (const Given& given : unused_options()) {
    try {
      if (!table.knows(given.name)) {
        if (belongs_to_petsc(given.name, table)) continue; // see check_petsc_options
        table.fail_unknown(given.name);
      }
      PetscBool is_set = PETSC_FALSE;
      NUNATAK_PETSC(PetscOptionsHasName(nullptr, nullptr, ("-" + given.name).c_str(),
                                        &is_set)); // marks it as used
      table.set(given.name, given.has_value ? &given.value : nullptr);
    } catch (const Error& error) {
      const auto place = places.find(given.name);
      throw Error(error.what() + (place == places.end() ? "" : " (" + place->second + ")"));
    }
  }
  return true;
}

void check_petsc_options(const std::vector<std::string>& prefixes, const std::string& user) {
  for (const Given& given : unused_options()) {
    if (starts_with(given.name, prefixes))
      throw Error("unknown option -" + given.name + ": " + user +
                  " does not use it (-help lists the model's options)");
  }
}

void check_solver_options() { check_petsc_options({"ssa_"}, "the solver of the stress balance"); }

Session::~Session() {
  PetscFinalize();
  PetscPopErrorHandler();
}

} // namespace nunatak
