// What nunatak-distance, nunatak-labels, nunatak-step and nunatak-check share: options, the ranks
// they run on, what is measured of a run, and answers, which are compared. Neighbours: records.hpp
// (table, JSON, CSV), mask_source.hpp, netcdf.hpp.
#pragma once

#include "kernels/grid/virtual/virtual_ranks.hpp"
#include "miniapp/base/machine.hpp"
#include "miniapp/tools/mask_source.hpp"
#include "miniapp/tools/records.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nunatak::tools {

struct RankOptions {
  std::string virtual_ranks; // -virtual_ranks
  MachineOptions machine;

  void add_to(OptionTable& table);
  /// Error if virtual ranks are asked for and there are several processes, or if the machine's file
  /// cannot be read.
  void check() const;
};

/// Error if virtual ranks are asked for and there are several processes.
void require_one_process(const std::string& virtual_ranks);

struct ToolOptions {
  MaskOptions mask;
  std::string domain; // -domain
  RankOptions ranks;
  int repeat = 1;
  bool compare = false;
  std::string expect, report, csv, output;
  bool csv_append = false;

  /// The mask's and these; `compared_with`: what -compare does.
  void add_to(OptionTable& table, const std::string& compared_with);
  /// What does not fit together, or cannot be written, is an Error at once. Collective.
  void check() const;
};

/// Ranks to run on: the processes of mpiexec, or virtual ones in one process.
struct RankSet {
  std::unique_ptr<Ranks> ranks;
  VirtualRanks* machine = nullptr; ///< the same, if virtual: it has a clock

  std::string name() const; ///< "2 x 3 virtual ranks"
  /// The rectangle whose cells this process has: its patch, or the whole grid.
  Patch rectangle() const;
};

/// The cut that a word of -virtual_ranks asks for. Throws Error if it is none, or the grid cannot
/// be cut so.
Decomposition decomposition_of(const std::string& text, int Mx, int My);

/// f for each set of -virtual_ranks in turn ("2x2,8x8"; "6": the cut into 6 patches of a DMDA), or
/// once for the processes. `recut` may move the subdomain boundaries. Throws Error if the grid
/// cannot be cut so.
using Recut = std::function<Decomposition(Decomposition)>;
void for_each_rank_set(const RankOptions& options, int Mx, int My,
                       const std::function<void(RankSet&)>& f, const Recut& recut = nullptr);

/// Runs `prepare` and `run` once to count, and -repeat times more, if that is more than 1, for the
/// time. Collective. Counts are of all ranks together: messages and bytes are sums, the others are
/// those of the rank that has most. The record has: ranks, px, py, virtual, messages, bytes,
/// collectives, lagged, work_max, work_mean, imbalance; of virtual ranks loggp_s, loggp_work_s,
/// path_messages, path_collectives (of the critical path); wall_s (median; of each run the slowest
/// rank), wall_min_s, wall_max_s, wall_mean_s (median; of each run the mean of the ranks).
Record measure(RankSet& set, int repeat, const std::function<void()>& prepare,
               const std::function<void()>& run);

/// Sum and maximum of a number over local ranks and processes.
struct Spread {
  std::int64_t sum = 0, max = 0;
  int ranks = 1;
  Record imbalance() const; ///< maximum over mean; null if all are 0
};
Spread spread_of(const RankSet& set, const std::vector<std::int64_t>& values); // collective

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

/// The runs of a tool: their records, and their answers, which are compared.
class Results {
public:
  /// `options` and `mask` must outlive this object.
  Results(std::string tool, const ToolOptions& options, const Mask& mask)
      : m_tool(std::move(tool)), m_options(options), m_mask(mask) {}

  /// Later answers are compared with this one.
  void compare_with(Answer reference) { m_references.push_back(std::move(reference)); }

  /// A run. The first answer is written to -o and opens -expect. Collective.
  void add(const Record& measured, const Answer& answer);

  bool empty() const { return m_records.empty(); }

  /// Print `heading`, the table and what was compared; write -report and -csv. Throws Error if any
  /// answer differed. Collective. The table has the columns that all tools share: ranks,
  /// `of_method`, messages, `of_work`, the critical path, times.
  void report(const std::vector<std::string>& heading, const std::vector<Column>& of_method,
              const std::vector<Column>& of_work) const;

private:
  std::string m_tool;
  const ToolOptions& m_options;
  const Mask& m_mask;
  std::vector<Record> m_records;
  std::vector<Answer> m_references;
  int m_compared = 0;
  std::optional<std::string> m_difference; // the first
};

} // namespace nunatak::tools
