#include "miniapp/model/options_file.hpp"

#include "io/durable/durable.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/base/words.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

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

/// The options of a YAML file, line by line: nested keys joined by underscores, as PETSc names them. What is not a key in a block
/// (a list, a mapping in braces, text over several lines) is left to PETSc.
class YamlKeys {
public:
  explicit YamlKeys(std::string path) : m_path(std::move(path)) {}

  void line(int number, const std::string& text) {
    const std::size_t indent = text.find_first_not_of(' ');
    const std::size_t colon = text.find(':', indent);
    if (text[indent] == '-' || text[indent] == '{' || colon == std::string::npos) return pass();
    if (colon + 1 < text.size() && text[colon + 1] != ' ') return pass();
    if (m_open && indent <= m_parents.back().indent) fail_without_value();
    while (!m_parents.empty() && m_parents.back().indent >= indent) m_parents.pop_back();
    std::string name = trimmed(text.substr(indent, colon - indent));
    name.erase(std::remove_if(name.begin(), name.end(), [](char c) { return c == '"' || c == '\''; }), name.end());
    if (!m_parents.empty()) name = m_parents.back().name + "_" + name;
    const auto [first, is_new] = m_lines.emplace(name, number);
    if (!is_new) fail(number, "expected option " + name + " once, found it in line " + std::to_string(first->second) + ", too");
    m_parents.push_back({indent, name, number});
    const std::string value = trimmed(text.substr(colon + 1));
    m_open = value.empty();
    if (value == "~" || value == "null" || value == "Null" || value == "NULL" || value == "\"\"" || value == "''")
      fail_without_value();
  }
  void end() const {
    if (m_open) fail_without_value();
  }

private:
  struct Key {
    std::size_t indent;
    std::string name;
    int line;
  };
  void pass() { m_open = false; }
  [[noreturn]] void fail(int line, const std::string& what) const {
    throw Error("option -options_file: '" + m_path + "', line " + std::to_string(line) + ": " + what);
  }
  [[noreturn]] void fail_without_value() const {
    fail(m_parents.back().line, "expected a value of option " + m_parents.back().name + " (true for a flag), found none");
  }

  std::string m_path;
  std::vector<Key> m_parents;
  std::map<std::string, int> m_lines; ///< of each option
  bool m_open = false;                ///< the last key has no value yet: deeper keys may follow
};

} // namespace

void check_options_file(const std::string& path) {
  const std::string what = "option -options_file: '" + path + "': ";
  std::error_code none;
  if (std::filesystem::exists(path, none) && !std::filesystem::is_regular_file(path, none))
    throw Error(what + "expected a regular file, found a folder, a pipe or a device");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(what + "cannot be read");
  std::ostringstream all;
  all << file.rdbuf();
  const std::string text = all.str();
  const auto is_control = [](unsigned char c) { return (c < ' ' && c != '\t' && c != '\n' && c != '\r') || c == 127; };
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
    if (yaml) keys.line(number, content);
  }
  if (filled == 0) throw Error(what + "expected options, found none");
  if (yaml) keys.end();
}

std::vector<std::string> unasked_options_files() {
  std::vector<std::string> files{".petscrc", "petscrc"};
  const char* home = std::getenv("HOME");
  std::error_code none;
  if (home != nullptr && !std::filesystem::equivalent(home, ".", none))
    files.insert(files.begin(), std::string(home) + "/.petscrc");
  files.erase(std::remove_if(files.begin(), files.end(), [&](const auto& file) { return !std::filesystem::exists(file, none); }),
              files.end());
  return files;
}

} // namespace nunatak
