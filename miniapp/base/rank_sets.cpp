#include "miniapp/base/rank_sets.hpp"

#include "common/error.hpp"
#include "common/text.hpp"
#include "miniapp/base/option_table.hpp"
#include "miniapp/base/records.hpp"
#include "miniapp/base/world.hpp"

#include <algorithm>

namespace nunatak {

namespace {

/// Positions in a patch are ints.
void require_small_patches(const Decomposition& d) {
  for (int rank = 0; rank < d.size(); ++rank) {
    const Patch p = d.patch(rank);
    if ((std::int64_t{p.xm} + 2) * (std::int64_t{p.ym} + 2) > largest_int) {
      throw Error("a patch of " + std::to_string(p.xm) + " x " + std::to_string(p.ym) +
                  " cells: expected at most 2^31; use more ranks");
    }
  }
}

struct Count {
  const char* name;
  std::int64_t Traffic::*of;
  bool is_sum; ///< over ranks; else the maximum
};
constexpr Count counts[] = {{"messages", &Traffic::messages, true},
                            {"bytes", &Traffic::bytes, true},
                            {"exchanges", &Traffic::exchanges, false},
                            {"collectives", &Traffic::collectives, false},
                            {"lagged", &Traffic::lagged, false},
                            {"collective_bytes", &Traffic::collective_bytes, true}};

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
  if (machine.given.measured_work && (virtual_ranks.empty() || !loops_on_host))
    throw Error("option -work: measured needs -virtual_ranks and loops on the host");
  machine.machine();
}

void require_one_process(const std::string& virtual_ranks) {
  if (virtual_ranks.empty() || World().size() == 1) return;
  throw Error("option -virtual_ranks: expected one process, found " +
              std::to_string(World().size()));
}

std::string RankSet::name() const {
  const Decomposition& d = ranks->decomposition();
  return std::to_string(d.px) + " x " + std::to_string(d.py) +
         (machine != nullptr ? " virtual ranks" : " ranks");
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
  std::vector<Decomposition> cuts; // validated before the first run
  for (const std::string& word : split(options.virtual_ranks, ','))
    cuts.push_back(decomposition_of(word, Mx, My));
  for (const Decomposition& d : cuts) require_small_patches(d);
  const LogGP machine = options.machine.machine();
  for (const Decomposition& d : cuts) {
    auto ranks = std::make_unique<VirtualRanks>(cut(d), machine, options.halo);
    VirtualRanks* const with_clock = ranks.get();
    RankSet set{std::move(ranks), with_clock};
    f(set);
  }
}

Spread spread_of(const RankSet& set, const std::vector<std::int64_t>& values) {
  Spread spread;
  spread.ranks = set.ranks->decomposition().size();
  for (const std::int64_t v : values) {
    spread.sum += v;
    spread.max = std::max(spread.max, v);
  }
  spread.sum = World().sum(spread.sum);
  spread.max = World().max(spread.max);
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
    if (set.machine != nullptr) set.machine->restart_clock(n < 2); // 0: warm-up
    const Traffic before = set.ranks->traffic();
    World().barrier();
    const Kokkos::Timer timer;
    run();
    const double time = timer.seconds();
    set.ranks->start_turn(); // what came after the last turn is work, too
    const double slowest = World().max(time);
    const auto nanoseconds = World().sum(static_cast<std::int64_t>(1e9 * time));
    if (n > 0 || runs == 1) {
      seconds.push_back(slowest);
      means.push_back(1e-9 * static_cast<double>(nanoseconds) / World().size());
    }
    if (n > 0) continue;

    const Decomposition& d = set.ranks->decomposition();
    const Traffic after = set.ranks->traffic();
    record = {{"ranks", d.size()}, {"px", d.px}, {"py", d.py}, {"virtual", set.machine != nullptr}};
    for (const Count& c : counts) {
      const Spread spread = spread_of(set, {after.*c.of - before.*c.of});
      record[c.name] = c.is_sum ? spread.sum : spread.max;
    }
    const Spread work =
        spread_of(set, set.machine != nullptr ? set.machine->work_of_ranks()
                                              : std::vector{after.work - before.work});
    record.update({{"work", work.sum},
                   {"work_max", work.max},
                   {"work_mean", static_cast<double>(work.sum) / d.size()},
                   {"imbalance", work.imbalance()}});
  }
  const bool is_virtual = set.machine != nullptr;
  const auto path = is_virtual ? set.machine->clock()->critical() : VirtualClock::Path{};
  const auto modelled = [&](auto value) { return is_virtual ? Record(value) : Record(); };
  record.update({{"loggp_s", modelled(path.time)},
                 {"loggp_work_s", modelled(path.work)},
                 {"path_messages", modelled(path.messages)},
                 {"path_collectives", modelled(path.collectives)}});
  std::sort(seconds.begin(), seconds.end());
  record["wall_s"] = quantile(seconds, 0.5);
  record["wall_mean_s"] = median(means);
  const bool several = seconds.size() > 1;
  record["wall_min_s"] = several ? Record(seconds.front()) : Record();
  record["wall_max_s"] = several ? Record(seconds.back()) : Record();
  return record;
}

} // namespace nunatak
