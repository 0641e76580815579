#include "miniapp/tools/tool.hpp"

#include "miniapp/base/error.hpp"
#include "miniapp/base/paths.hpp"
#include "miniapp/base/words.hpp"
#include "miniapp/base/world.hpp"
#include "miniapp/tools/netcdf.hpp"

#include <algorithm>
#include <chrono>

namespace nunatak::tools {

namespace {

/// Positions in a patch are numbered by ints.
void require_small_patches(const Decomposition& d) {
  for (int rank = 0; rank < d.size(); ++rank) {
    const Patch p = d.patch(rank);
    if ((std::int64_t{p.xm} + 2) * (std::int64_t{p.ym} + 2) > largest_int) {
      throw Error("a patch of " + std::to_string(p.xm) + " x " + std::to_string(p.ym) +
                  " cells: expected at most 2^31; use more ranks");
    }
  }
}

std::vector<std::int64_t> numbers_of(const Traffic& t) {
  return {t.messages, t.bytes, t.exchanges, t.collectives, t.lagged, t.collective_bytes, t.work};
}

} // namespace

Decomposition decomposition_of(const std::string& text, int Mx, int My) {
  const std::vector<std::string> words = split(text, 'x');
  const std::string what = "option -virtual_ranks '" + text + "'";
  if (words.size() > 2) throw Error(what + ": expected PxQ or a number of ranks");
  const int first = static_cast<int>(whole_number(words[0], 1, largest_int, what));
  return words.size() == 1
             ? Decomposition::make(Mx, My, first)
             : Decomposition::make(Mx, My, first,
                                   static_cast<int>(whole_number(words[1], 1, largest_int, what)));
}

void RankOptions::add_to(OptionTable& table) {
  table.add(
      text("virtual_ranks", virtual_ranks,
           "P x Q ranks in one process, a list: 1x1,4x4,64 (none: the processes of mpiexec)"));
  machine.add_to(table);
}

void RankOptions::check() const {
  require_one_process(virtual_ranks);
  machine.machine();
}

void require_one_process(const std::string& virtual_ranks) {
  if (virtual_ranks.empty() || World().size() == 1) return;
  throw Error("option -virtual_ranks: expected one process, found " +
              std::to_string(World().size()));
}

void ToolOptions::add_to(OptionTable& table, const std::string& compared_with) {
  mask.add_to(table);
  table.add(text("domain", domain, "values of the domain, e.g. 0+2 (3 for cell types, else 1)"));
  table.section("Ranks");
  ranks.add_to(table);
  table.section("Checks and output");
  table.add(
      flag("compare", compare, "comparison of " + compared_with + "; status 1 if they differ"));
  table.add(text("expect", expect,
                 "file of an earlier -o to compare with; status 1 if the answers differ"));
  table.add(
      number("repeat", repeat, "", "timed runs, after one that is not timed if more than 1", 1));
  table.add(text("o", output, "NetCDF file of the mask and the answer"));
  table.add(text("json", json, "JSON file of all counts and times"));
  table.add(text("csv", csv, "CSV file of the same, one line per run"));
  table.add(flag("csv_append", csv_append, "lines are appended to the file of -csv"));
}

void ToolOptions::check() const {
  if (csv_append && csv.empty())
    throw Error("option -csv_append: expected a file by -csv, found none");
  if (!output.empty()) require_netcdf("option -o");
  if (!expect.empty()) require_netcdf("option -expect");
  World().on_rank_0([&] {
    check_files({{"-i", mask.file, FileUse::read},
                 {"-expect", expect, FileUse::read},
                 {"-machine", ranks.machine.file, FileUse::read},
                 {"-o", output, FileUse::netcdf},
                 {"-json", json},
                 {"-csv", csv}});
    require_writable("-o", output);
    require_writable("-json", json);
    require_writable("-csv", csv);
  });
  ranks.check();
}

std::string RankSet::name() const {
  const Decomposition& d = ranks->decomposition();
  return std::to_string(d.px) + " x " + std::to_string(d.py) +
         (machine != nullptr ? " virtual ranks" : " ranks");
}

Patch RankSet::rectangle() const {
  const Decomposition& d = ranks->decomposition();
  return machine != nullptr ? Patch{d.Mx, d.My, 0, 0, d.Mx, d.My} : ranks->patch(0);
}

void for_each_rank_set(const RankOptions& options, int Mx, int My,
                       const std::function<void(RankSet&)>& f, const Recut& recut) {
  const auto cut = [&](const Decomposition& d) { return recut ? recut(d) : d; };
  if (options.virtual_ranks.empty()) {
    const Decomposition d = Decomposition::make(Mx, My, World().size());
    require_small_patches(d);
    RankSet set{World().ranks(cut(d)), nullptr};
    return f(set);
  }
  std::vector<Decomposition> cuts; // all of them, before the first run
  for (const std::string& word : split(options.virtual_ranks, ','))
    cuts.push_back(decomposition_of(word, Mx, My));
  for (const Decomposition& d : cuts) require_small_patches(d);
  const LogGP machine = options.machine.machine();
  for (const Decomposition& d : cuts) {
    auto ranks = std::make_unique<VirtualRanks>(cut(d), machine);
    VirtualRanks* const with_clock = ranks.get();
    RankSet set{std::move(ranks), with_clock};
    f(set);
  }
}

Spread spread_of(const RankSet& set, const std::vector<std::int64_t>& values) {
  Spread spread;
  spread.ranks = set.ranks->decomposition().size();
  for (const std::int64_t v : values) spread.sum += v, spread.max = std::max(spread.max, v);
  spread.sum = World().sum(spread.sum), spread.max = World().max(spread.max);
  return spread;
}

Record Spread::imbalance() const {
  return sum > 0 ? Record(static_cast<double>(max) * ranks / static_cast<double>(sum)) : Record();
}

Record measure(RankSet& set, int repeat, const std::function<void()>& prepare,
               const std::function<void()>& run) {
  Record record;
  std::vector<double> seconds, means;
  const int runs = repeat > 1 ? repeat + 1 : 1;
  for (int n = 0; n < runs; ++n) {
    prepare();
    if (set.machine != nullptr) set.machine->restart_clock();
    const std::vector<std::int64_t> before = numbers_of(set.ranks->traffic());
    World().barrier();
    const auto begin = std::chrono::steady_clock::now();
    run();
    const double time =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const double slowest = World().max(time);
    const auto nanoseconds = World().sum(static_cast<std::int64_t>(1e9 * time));
    if (n > 0 || runs == 1)
      seconds.push_back(slowest),
          means.push_back(1e-9 * static_cast<double>(nanoseconds) / World().size());
    if (n > 0) continue;

    const Decomposition& d = set.ranks->decomposition();
    std::vector<std::int64_t> counts = numbers_of(set.ranks->traffic());
    for (std::size_t k = 0; k < counts.size(); ++k) counts[k] -= before[k];
    const Spread work =
        spread_of(set, set.machine != nullptr ? set.machine->work_of_ranks()
                                              : std::vector<std::int64_t>{counts[6]});
    record["ranks"] = d.size();
    record["px"] = d.px, record["py"] = d.py;
    record["virtual"] = set.machine != nullptr;
    record["messages"] = spread_of(set, {counts[0]}).sum;
    record["bytes"] = spread_of(set, {counts[1]}).sum;
    record["exchanges"] = spread_of(set, {counts[2]}).max;
    record["collectives"] = spread_of(set, {counts[3]}).max;
    record["lagged"] = spread_of(set, {counts[4]}).max;
    record["collective_bytes"] = spread_of(set, {counts[5]}).sum;
    record["work"] = work.sum, record["work_max"] = work.max;
    record["work_mean"] = static_cast<double>(work.sum) / d.size();
    record["imbalance"] = work.imbalance();
    record["loggp_s"] = record["loggp_work_s"] = record["path_messages"] =
        record["path_collectives"] = Record();
    if (set.machine != nullptr) {
      const VirtualClock::Path path = set.machine->clock()->critical();
      record["loggp_s"] = path.time, record["loggp_work_s"] = path.work;
      record["path_messages"] = path.messages, record["path_collectives"] = path.collectives;
    }
  }
  const auto median = [](std::vector<double>& values) {
    std::sort(values.begin(), values.end());
    return 0.5 * (values[values.size() / 2] + values[(values.size() - 1) / 2]);
  };
  record["wall_s"] = median(seconds), record["wall_mean_s"] = median(means);
  const bool several = seconds.size() > 1;
  record["wall_min_s"] = several ? Record(seconds.front()) : Record();
  record["wall_max_s"] = several ? Record(seconds.back()) : Record();
  return record;
}

} // namespace nunatak::tools
