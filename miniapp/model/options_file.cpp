#include "miniapp/model/options_file.hpp"

#include "io/agree.hpp"
#include "io/durable/manifest.hpp"
#include "io/watchdog.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/base/parse.hpp"

#include <nlohmann/json.hpp>
#include <petscsys.h>
#include <yaml.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

namespace nunatak {

namespace {

class YamlOptions {
public:
  YamlOptions(const std::string& path, const std::string& text) : m_path(path), m_text(text) {
    yaml_parser_initialize(&m_parser);
    yaml_parser_set_input_string(&m_parser, reinterpret_cast<const unsigned char*>(m_text.data()),
                                 m_text.size());
  }
  ~YamlOptions() { yaml_parser_delete(&m_parser); }
  YamlOptions(const YamlOptions&) = delete;
  YamlOptions& operator=(const YamlOptions&) = delete;

  std::vector<FileOption> read() {
    next(); // start of the stream
    if (next().type != YAML_DOCUMENT_START_EVENT) return {};
    const Event first = next();
    if (first.type == YAML_MAPPING_START_EVENT) {
      read_mapping("", 1);
    } else if (!first.text.empty()) {
      fail(first.line, "expected lines of 'option: value', found something else");
    }
    next(); // end of the document
    const Event last = next();
    if (last.type != YAML_STREAM_END_EVENT) fail(last.line, "expected one document, found another");
    return m_options;
  }

private:
  struct Event {
    yaml_event_type_t type;
    int line;
    std::string text; ///< of a scalar; "" if it is null
  };
  static constexpr int deepest = 8; ///< nesting levels; no option needs more

  [[noreturn]] void fail(int line, const std::string& what) const {
    throw Error("option -options_file: '" + m_path + "', line " + std::to_string(line) + ": " +
                what);
  }

  Event next() {
    yaml_event_t event;
    if (yaml_parser_parse(&m_parser, &event) == 0) {
      const std::size_t at = m_parser.problem_mark.index;
      const int line = static_cast<int>(m_parser.problem_mark.line) + 1;
      if (m_parser.error == YAML_READER_ERROR) fail(line, "expected text, found other bytes");
      fail(line, std::string("expected YAML, found: ") +
                     (m_parser.context != nullptr ? m_parser.context + std::string(", ") : "") +
                     (m_parser.problem != nullptr ? m_parser.problem : "an error") +
                     (at < m_text.size() && m_text[at] == '\t' ? " (a tab)" : ""));
    }
    Event result{event.type, static_cast<int>(event.start_mark.line) + 1, ""};
    if (event.type == YAML_SCALAR_EVENT) {
      const auto& scalar = event.data.scalar;
      result.text.assign(reinterpret_cast<const char*>(scalar.value), scalar.length);
      const bool null = result.text == "~" || result.text == "null" || result.text == "Null" ||
                        result.text == "NULL";
      if (null && scalar.style == YAML_PLAIN_SCALAR_STYLE) result.text.clear();
    }
    yaml_event_delete(&event);
    return result;
  }

  void read_mapping(const std::string& prefix, int depth) {
    for (Event key = next(); key.type != YAML_MAPPING_END_EVENT; key = next()) {
      if (key.type != YAML_SCALAR_EVENT || key.text.empty())
        fail(key.line, "expected the name of an option, found something else");
      const std::string name = prefix + key.text;
      Event value = next();
      if (value.type == YAML_MAPPING_START_EVENT) {
        if (depth == deepest)
          fail(value.line,
               "expected names nested at most " + std::to_string(deepest) + " deep, found more");
        read_mapping(name + "_", depth + 1);
        continue;
      }
      if (value.type == YAML_SEQUENCE_START_EVENT) value = read_list(name);
      if (value.type != YAML_SCALAR_EVENT || value.text.empty())
        fail(key.line, "expected a value of option " + name + " (true for a flag), found none");
      add(name, value.text, key.line);
    }
  }

  Event read_list(const std::string& name) {
    Event list{YAML_SCALAR_EVENT, 0, ""};
    for (Event item = next(); item.type != YAML_SEQUENCE_END_EVENT; item = next()) {
      if (item.type != YAML_SCALAR_EVENT || item.text.empty())
        fail(item.line, "expected words in the list of option " + name + ", found something else");
      list.text += (list.text.empty() ? "" : ",") + item.text;
    }
    return list;
  }

  void add(const std::string& name, const std::string& value, int line) {
    std::string same = name; // PETSc's options are case-insensitive
    std::transform(same.begin(), same.end(), same.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto [first, is_new] = m_lines.emplace(same, line);
    if (!is_new)
      fail(line, "expected option " + name + " once, found it in line " +
                     std::to_string(first->second) + ", too");
    m_options.push_back({name, value, true, "'" + m_path + "', line " + std::to_string(line)});
  }

  const std::string& m_path;
  const std::string& m_text;
  yaml_parser_t m_parser;
  std::vector<FileOption> m_options;
  std::map<std::string, int> m_lines; ///< per option
};

std::vector<FileOption> read_petsc_format(const std::string& path) {
  PetscOptions scratch = nullptr;
  PetscInt n = 0;
  char **names = nullptr, **values = nullptr;
  std::vector<FileOption> options;
  const bool read =
      PetscOptionsCreate(&scratch) == 0 &&
      PetscOptionsInsertFile(PETSC_COMM_SELF, scratch, path.c_str(), PETSC_TRUE) == 0 &&
      PetscOptionsLeftGet(scratch, &n, &names, &values) == 0;
  for (PetscInt k = 0; k < n; ++k)
    options.push_back(
        {names[k], values[k] != nullptr ? values[k] : "", values[k] != nullptr, "'" + path + "'"});
  if (read) PetscOptionsLeftRestore(scratch, &n, &names, &values);
  PetscOptionsDestroy(&scratch);
  if (!read)
    throw Error("option -options_file: cannot read '" + path +
                "' (expected YAML if its name ends in .yaml or .yml, else lines of '-option "
                "value')");
  return options;
}

std::vector<FileOption> read_here(const std::string& path) {
  const std::string what = "option -options_file: '" + path + "': ";
  constexpr std::uintmax_t longest = 1 << 20; // bytes
  std::error_code none;
  if (std::filesystem::exists(path, none) && !std::filesystem::is_regular_file(path, none))
    throw Error(what + "expected a regular file, found a folder, a pipe or a device");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(what + "cannot be read");
  if (std::filesystem::file_size(path, none) > longest)
    throw Error(what + "expected at most 1 MiB, found more");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const bool yaml = ends_with(path, ".yaml") || ends_with(path, ".yml");
  std::vector<FileOption> options = yaml ? YamlOptions(path, text).read() : read_petsc_format(path);
  if (options.empty()) throw Error(what + "expected options, found none");
  for (const FileOption& o : options) {
    if (!io::is_utf8(o.name + o.value))
      throw Error(what + "expected text in UTF-8, found other bytes");
  }
  return options;
}

} // namespace

std::vector<FileOption> read_options_file(MPI_Comm comm, const std::string& path) {
  std::string all;
  const io::Watchdog::Scope scope(path, "read");
  io::on_rank_0(comm, [&] {
    nlohmann::json json = nlohmann::json::array();
    for (const FileOption& o : read_here(path))
      json.push_back({o.name, o.value, o.has_value, o.place});
    all = json.dump();
  });
  io::broadcast(all, comm);
  std::vector<FileOption> options;
  for (const auto& o : nlohmann::json::parse(all)) options.push_back({o[0], o[1], o[2], o[3]});
  return options;
}

} // namespace nunatak
