// Options as rows: a name, help, and how text becomes the value of a variable, which holds the
// default.
//
//   std::size_t buffer = 0;
//   std::vector<Option> rows{size("io_buffer", buffer, "bytes of copies", 0, 1 << 30, "auto")};
//   rows[0].set("64KiB", "option -io_buffer");   // an Error begins with the second text
//
// Output has a list of them (io/methods/method.hpp), programs a table that reads a command line
// (miniapp/base/option_table.hpp), where numbers have units.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <functional>
#include <string>

namespace nunatak {

/// Made by the functions below. The bound variable must outlive it.
struct Option {
  std::string name, unit, doc;
  std::string values; ///< admissible ones, separated by |, printed after `doc`
  bool is_flag;       ///< may be given without a value, which means "yes"
  /// `what` begins the text of an Error.
  std::function<void(const std::string& value, const std::string& what)> set;
  std::function<nlohmann::json()> get;

  std::string value() const; ///< as text, which set() takes; without the unit
};

/// Without a value it is empty, for which "none" stands in help and may be given: no file of -o
/// none.
Option text(const std::string& name, std::string& target, const std::string& doc);
/// One of `values`, which are separated by |; box:N is box:1, box:2, ...
Option choice(const std::string& name, std::string& target, const std::string& values,
              const std::string& doc);
Option flag(const std::string& name, bool& target, const std::string& doc);
/// A bool with two named values, `yes` and `no`.
Option one_of_two(const std::string& name, bool& target, const std::string& yes,
                  const std::string& no, const std::string& doc);
/// Bytes: "65536", "64KiB", "1MiB". `word`: for 0; "": 0 has none.
Option size(const std::string& name, std::size_t& bytes, const std::string& doc, std::size_t min,
            std::size_t max, const std::string& word = "");
Option count(const std::string& name, int& target, const std::string& doc); ///< from 0
/// parse_duration(); 0 is empty, for which "none" stands, too.
Option duration(const std::string& name, double& seconds, const std::string& doc, double unit);

/// Throws Error, which begins with `what`, unless `value` is one of `values`, as of a choice.
void require_one_of(const std::string& values, const std::string& value, const std::string& what);

} // namespace nunatak
