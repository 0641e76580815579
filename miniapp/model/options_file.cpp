#include "miniapp/model/options_file.hpp"

#include "common/error.hpp"
#include "common/text.hpp"
#include "io/base/agree.hpp"
#include "io/base/watchdog.hpp"
#include "io/data/message_bytes.hpp"
#include "miniapp/model/petsc_error.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <tuple>

namespace nunatak {

inline auto members(const GivenOption& o) { return std::tie(o.name, o.value, o.has_value); }

namespace {

std::string lower(std::string name) { // PETSc's names are case-insensitive
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

/// A monitor of PETSc's: adds the name of each option that is set. The last argument is the list.
template <class... Rest> PetscErrorCode note_name(const char name[], const char*, Rest... rest) {
  void* const list = std::get<sizeof...(Rest) - 1>(std::tuple(rest...));
  static_cast<std::vector<std::string>*>(list)->push_back(lower(name));
  return static_cast<PetscErrorCode>(0);
}

std::vector<GivenOption> read_here(const std::string& path) {
  const std::string what = "option -options_file: '" + path + "': ";
  constexpr std::uintmax_t longest = 64 << 10; // bytes; PETSc takes seconds to parse so many "["
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored))
    throw Error(what + "expected a regular file, found a folder, a pipe or a device");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(what + "cannot be read");
  if (std::filesystem::file_size(path, ignored) > longest)
    throw Error(what + "expected at most 64 KiB, found more");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!is_utf8(text) || text.find('\0') != std::string::npos)
    throw Error(what + "expected text in UTF-8, found other bytes");
  std::string lines = "\n" + lower(text); // without blanks
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  lines.erase(std::remove_if(lines.begin(), lines.end(), is_blank), lines.end());
  if (lines.find("\n-options_file") != lines.npos) // PETSc would read it, without an end
    throw Error(what + "expected -options_file on the command line, found it here");
  const bool yaml = ends_with(path, ".yaml") || ends_with(path, ".yml");
  if (!yaml && text.compare(0, 3, "\xef\xbb\xbf") == 0)
    throw Error(what + "begins with a byte order mark: save it as UTF-8 without one");
  const auto insert = yaml ? PetscOptionsInsertFileYAML : PetscOptionsInsertFile;
  PetscOptions options = nullptr;
  NUNATAK_PETSC(PetscOptionsCreate(&options));
  std::vector<std::string> names; // with repetitions, of which the last would win
  NUNATAK_PETSC(PetscOptionsPush(options));
  NUNATAK_PETSC(PetscOptionsMonitorSet(&note_name, &names, nullptr));
  NUNATAK_PETSC(PetscOptionsPop());
  const bool is_read = insert(PETSC_COMM_SELF, options, path.c_str(), PETSC_TRUE) == 0;
  const std::vector<GivenOption> found = unused_options(options);
  PetscBool help = PETSC_FALSE;
  PetscOptionsHasHelp(options, &help);
  PetscOptionsDestroy(&options);
  if (!is_read)
    throw Error(what +
                (yaml ? "expected YAML, lines of 'option: value'"
                      : "expected lines of '-option value' (YAML: a name in .yaml or .yml)") +
                ", found something else");
  std::sort(names.begin(), names.end());
  const auto again = std::adjacent_find(names.begin(), names.end());
  if (again != names.end())
    throw Error(what + "expected option -" + *again + " once, found it again");
  if (help == PETSC_TRUE) throw Error(what + "expected -help on the command line, found it here");
  if (found.empty()) throw Error(what + "expected options, found none");
  return found;
}

} // namespace

std::vector<GivenOption> unused_options(PetscOptions database) {
  PetscInt n = 0;
  char **names = nullptr, **values = nullptr;
  NUNATAK_PETSC(PetscOptionsLeftGet(database, &n, &names, &values));
  std::vector<GivenOption> all;
  for (PetscInt k = 0; k < n; ++k)
    all.push_back({names[k], values[k] != nullptr ? values[k] : "", values[k] != nullptr});
  NUNATAK_PETSC(PetscOptionsLeftRestore(database, &n, &names, &values));
  return all;
}

std::vector<GivenOption> read_options_file(MPI_Comm comm, const std::string& path) {
  std::vector<GivenOption> options;
  const io::Watchdog::Scope scope(path, "read");
  io::on_rank_0(comm, [&] { options = read_here(path); });
  io::broadcast_value(options, comm);
  return options;
}

} // namespace nunatak
