// The runs of a tool: their records, and their answers, which are compared. Reported at the end:
// table, files, status.
#pragma once

#include "miniapp/tools/tool.hpp"

#include <optional>
#include <string>
#include <vector>

namespace nunatak::tools {

/// What a tool has found, in the cells of one process. Files: netcdf.hpp.
struct Answer {
  struct Field {
    std::string name, long_name; ///< of the variable
    std::vector<int> values;     ///< of the rectangle, in raster order
  };
  std::string who;         ///< "bfs on 2 x 2 ranks", or the file that it comes from
  std::string metric = ""; ///< answers of different metrics are not compared; "": with all
  Patch rectangle;         ///< of this process
  std::vector<Field> fields;
};

/// Values of all local ranks in the cells of `rectangle`.
std::vector<int> collect(const Ranks& ranks, const Patch& rectangle,
                         const std::vector<Array2<int>>& local);

/// Where two answers first differ: the smallest cell in raster order, the first field in it, both
/// values. The same on all ranks. Both have the same rectangle and the same fields. Collective.
std::optional<std::string> first_difference(const Answer& expected, const Answer& found);

class Results {
public:
  /// `options` and `mask` must outlive this object.
  Results(std::string tool, const ToolOptions& options, const Mask& mask)
      : m_tool(std::move(tool)), m_options(options), m_mask(mask) {}

  /// Answers that come from now on are compared with this one.
  void compare_with(Answer reference) { m_references.push_back(std::move(reference)); }

  /// A run. The first answer is written to -o and opens -expect. Collective.
  void add(const Record& measured, const Answer& answer);

  bool empty() const { return m_records.empty(); }

  /// Print `heading`, the table and what was compared; write -json and -csv. Throws Error if any
  /// answer differed. Collective. The table has the columns that all tools share: ranks,
  /// `of_method`, messages, `of_work`, the critical path, times.
  void report(const std::vector<std::string>& heading, const std::vector<Column>& of_method,
              const std::vector<Column>& of_work) const;

private:
  nlohmann::ordered_json to_json() const;

  std::string m_tool;
  const ToolOptions& m_options;
  const Mask& m_mask;
  std::vector<Record> m_records;
  std::vector<Answer> m_references;
  int m_compared = 0;
  std::optional<std::string> m_difference; // the first
};

} // namespace nunatak::tools
