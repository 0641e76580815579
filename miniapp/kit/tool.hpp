// Shared by the tools of the kit: options, and answers with their comparison. Neighbours:
// miniapp/base/rank_sets.hpp (ranks, measurements), mask_source.hpp, netcdf.hpp.
#pragma once

#include "miniapp/base/rank_sets.hpp"
#include "miniapp/kit/compare.hpp"
#include "miniapp/kit/mask_source.hpp"

#include <optional>
#include <string>
#include <vector>

namespace nunatak::kit {

/// See corpus.cpp.
struct KitOptions {
  std::string corpus, answers, sizes = "small", names; // -corpus, -check, -sizes, -cases
  std::string variable;                                // -expect_variable, also of -expect

  void add_to(OptionTable& table);
  bool wanted() const { return !corpus.empty() || !answers.empty(); }
};

struct ToolOptions {
  MaskOptions mask;
  KitOptions kit;
  std::string domain; // -domain
  RankOptions ranks;
  int repeat = 1;
  bool compare = false;
  std::string expect, report, output;

  /// Adds these options and the mask's; `compared_with`: the reference of -compare.
  void add_to(OptionTable& table, const std::string& compared_with);
  /// Throws Error if options contradict each other or an output cannot be written. Collective.
  void check() const;
};

/// What is judged: the default name of the variable, "distance" or "label".
enum class Judged { distance, label };

/// Writes -corpus or judges -check. A mask that is given (-i, -mask) is one more case, or one for
/// each rule of `seeds`. Throws Difference if an answer differs, Error if one is missing.
void run_kit(const std::string& tool, const ToolOptions& options, const std::string& seeds,
             Judged judged);

/// The result of a tool, the same on all ranks. Files: netcdf.hpp.
struct Answer {
  struct Field {
    std::string name, long_name; ///< of the variable
    std::vector<int> values;     ///< of all cells in raster order
  };
  std::string who;         ///< "bfs on 2 x 2 ranks", or its file
  std::string metric = ""; ///< only equal metrics are compared; "" with all
  std::vector<Field> fields;
};

/// The runs of a tool: their records, and their answers, which are compared.
class Results {
public:
  /// `options` and `mask` must outlive this object.
  Results(std::string tool, const ToolOptions& options, const Mask& mask)
      : m_tool(std::move(tool)), m_options(options), m_mask(mask) {}

  /// Sets a reference for later answers.
  void compare_with(Answer reference) { m_references.push_back(std::move(reference)); }

  /// Adds a run. The first answer is written to -o and opens -expect. Collective.
  void add(const Record& measured, const Answer& answer);

  bool empty() const { return m_records.empty(); }

  /// Prints `heading`, the table and the comparison; writes -report. Throws Difference if an answer
  /// differed. Collective. Columns: ranks, `of_method`, messages, `of_work`, path, times.
  void report(const std::vector<std::string>& heading, const std::string& of_method,
              const std::string& of_work) const;

private:
  std::string m_tool;
  const ToolOptions& m_options;
  const Mask& m_mask;
  std::vector<Record> m_records;
  std::vector<Answer> m_references;
  int m_compared = 0;
  std::optional<std::string> m_difference; // the first one
  std::vector<FieldDifference> m_fields;   // of the comparison that found it
};

} // namespace nunatak::kit
