#include "miniapp/tools/tool.hpp"

#include "miniapp/base/error.hpp"
#include "miniapp/base/parse.hpp"
#include "miniapp/base/paths.hpp"
#include "miniapp/base/world.hpp"
#include "miniapp/tools/netcdf.hpp"

#include <algorithm>
#include <chrono>
#include <iostream>

namespace nunatak::tools {

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

std::vector<std::int64_t> numbers_of(const Traffic& t) {
  return {t.messages, t.bytes, t.exchanges, t.collectives, t.lagged, t.collective_bytes, t.work};
}

/// Writes the mask and the answer. Collective.
void write_answer(const std::string& path, const Mask& mask, const Answer& answer) {
  std::vector<Answer::Field> fields = {
      {mask.cell_types ? "mask" : "values", mask.name, mask.values()}};
  fields.insert(fields.end(), answer.fields.begin(), answer.fields.end());
  write_fields(path, mask.grid(), fields,
               {{"Conventions", "CF-1.8"}, {"title", mask.name}, {"source", answer.who}});
}

/// The fields of `like` in a file, where they may have other names, a list. Collective.
Answer read_answer(const std::string& path, const std::string& names, const Grid& grid,
                   const Answer& like) {
  Answer answer = like;
  answer.who = "the file '" + path + "'";
  answer.metric = "";
  if (!names.empty()) {
    const std::vector<std::string> words = split(names, ',');
    if (words.size() != like.fields.size())
      throw Error("option -expect_variable: expected names of " +
                  std::to_string(like.fields.size()) + " variables, found '" + names + "'");
    for (std::size_t f = 0; f < words.size(); ++f) answer.fields[f].name = words[f];
  }
  for (Answer::Field& field : answer.fields) {
    const GridValues values = read_field(path, field.name, grid);
    std::transform(values.begin(), values.end(), field.values.begin(), [](double v) {
      // no int: a value that never compares equal
      return std::fabs(v) < largest_int && v == std::rint(v) ? static_cast<int>(v) : -largest_int;
    });
  }
  return answer;
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
  if (machine.given.measured_work && (virtual_ranks.empty() || !loops_on_host))
    throw Error("option -work: measured needs -virtual_ranks and loops on the host");
  machine.machine();
}

void require_one_process(const std::string& virtual_ranks) {
  if (virtual_ranks.empty() || World().size() == 1) return;
  throw Error("option -virtual_ranks: expected one process, found " +
              std::to_string(World().size()));
}

void KitOptions::add_to(OptionTable& table) {
  table.section("Regression kit: a corpus of cases, and a judge of answers");
  table.add(text("corpus", corpus, "folder to write cases with expected answers into"));
  table.add(text("check", answers, "folder of answers to judge; status 1 if one differs"));
  table.add(text("expect_variable", variable, "name of the variable in -check or -expect"));
  table.add(choice("sizes", sizes, "small|large", "extent of the corpus"));
  table.add(text("cases", names, "names of the cases to use, separated by commas (none: all)"));
  table.add(text("junit", junit, "JUnit XML file of the verdicts, for CI"));
}

void ToolOptions::add_to(OptionTable& table, const std::string& compared_with) {
  mask.add_to(table);
  table.add(
      text("domain", domain, "mask values of the domain: 0+2 (none: 3 for cell types, else 1)"));
  table.section("Ranks");
  ranks.add_to(table);
  table.section("Checks and output");
  table.add(
      flag("compare", compare, "comparison of " + compared_with + "; status 1 if they differ"));
  table.add(text("expect", expect,
                 "file of an earlier -o to compare with; status 1 if the results differ"));
  table.add(number("repeat", repeat, "", "timed runs, after a warm-up if more than 1", 1));
  table.add(text("o", output, "NetCDF file of the mask and the result"));
  table.add(text("report", report, "JSON file of all counts and times"));
  kit.add_to(table);
}

void ToolOptions::check() const {
  if (!output.empty()) require_netcdf("option -o");
  if (!expect.empty()) require_netcdf("option -expect");
  World().on_rank_0([&] {
    check_files({{"-i", mask.file, FileUse::read},
                 {"-expect", expect, FileUse::read},
                 {"-machine", ranks.machine.file, FileUse::read},
                 {"-o", output, FileUse::netcdf},
                 {"-report", report},
                 {"-junit", kit.junit}});
  });
  ranks.check();
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
    if (set.machine != nullptr) set.machine->restart_clock(n == 0);
    const std::vector<std::int64_t> before = numbers_of(set.ranks->traffic());
    World().barrier();
    const auto begin = std::chrono::steady_clock::now();
    run();
    const double time =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const double slowest = World().max(time);
    const auto nanoseconds = World().sum(static_cast<std::int64_t>(1e9 * time));
    if (n > 0 || runs == 1) {
      seconds.push_back(slowest);
      means.push_back(1e-9 * static_cast<double>(nanoseconds) / World().size());
    }
    if (n > 0) continue;

    const Decomposition& d = set.ranks->decomposition();
    std::vector<std::int64_t> counts = numbers_of(set.ranks->traffic());
    for (std::size_t k = 0; k < counts.size(); ++k) counts[k] -= before[k];
    const Spread work =
        spread_of(set, set.machine != nullptr ? set.machine->work_of_ranks()
                                              : std::vector<std::int64_t>{counts[6]});
    record = {{"ranks", d.size()},
              {"px", d.px},
              {"py", d.py},
              {"virtual", set.machine != nullptr},
              {"messages", spread_of(set, {counts[0]}).sum},
              {"bytes", spread_of(set, {counts[1]}).sum},
              {"exchanges", spread_of(set, {counts[2]}).max},
              {"collectives", spread_of(set, {counts[3]}).max},
              {"lagged", spread_of(set, {counts[4]}).max},
              {"collective_bytes", spread_of(set, {counts[5]}).sum},
              {"work", work.sum},
              {"work_max", work.max},
              {"work_mean", static_cast<double>(work.sum) / d.size()},
              {"imbalance", work.imbalance()}};
  }
  const bool is_virtual = set.machine != nullptr;
  const auto path = is_virtual ? set.machine->clock()->critical() : VirtualClock::Path{};
  const auto modelled = [&](auto value) { return is_virtual ? Record(value) : Record(); };
  record.update({{"loggp_s", modelled(path.time)},
                 {"loggp_work_s", modelled(path.work)},
                 {"path_messages", modelled(path.messages)},
                 {"path_collectives", modelled(path.collectives)}});
  const auto median = [](std::vector<double>& values) {
    std::sort(values.begin(), values.end());
    return 0.5 * (values[values.size() / 2] + values[(values.size() - 1) / 2]);
  };
  record["wall_s"] = median(seconds);
  record["wall_mean_s"] = median(means);
  const bool several = seconds.size() > 1;
  record["wall_min_s"] = several ? Record(seconds.front()) : Record();
  record["wall_max_s"] = several ? Record(seconds.back()) : Record();
  return record;
}

void Results::add(const Record& measured, const Answer& answer) {
  if (m_records.empty()) {
    if (!m_options.output.empty()) write_answer(m_options.output, m_mask, answer);
    if (!m_options.expect.empty())
      compare_with(read_answer(m_options.expect, m_options.kit.variable, m_mask.grid(), answer));
  }
  for (const Answer& reference : m_references) {
    if (!reference.metric.empty() && reference.metric != answer.metric) continue;
    m_compared += 1;
    if (m_difference) continue;
    m_fields.clear();
    for (std::size_t f = 0; f < answer.fields.size(); ++f) {
      const Answer::Field& expected = reference.fields[f];
      const FieldDifference d = compare(expected.name, expected.values, answer.fields[f].values);
      m_fields.push_back(d);
      if (d.wrong.empty() || m_difference) continue;
      m_difference = answer.who + " and " + reference.who + " differ in " + d.name + ", first in " +
                     located(d.wrong[0], m_mask.grid());
    }
  }
  Record record = {{"mask", m_mask.name}, {"Mx", m_mask.Mx}, {"My", m_mask.My}};
  record.update(measured);
  m_records.push_back(record);
}

void Results::report(const std::vector<std::string>& heading, const std::string& of_method,
                     const std::string& of_work) const {
  const bool compares = m_options.compare || !m_options.expect.empty();
  if (World().rank() == 0) {
    std::cout << m_mask.name << ": " << m_mask.Mx << " x " << m_mask.My << " cells\n";
    for (const std::string& line : heading) std::cout << line << "\n";
    std::cout << "\n";
    print_table(
        std::cout, m_records,
        "ranks, px: P, py: Q, " + of_method +
            ", messages, bytes, collectives, "
            "collective_bytes: coll. bytes, " +
            of_work +
            ", path_messages: path msgs, "
            "path_collectives: path coll., loggp_work_s*1e6: work us, loggp_s*1e6: LogGP us, "
            "wall_s*1e3: wall ms, wall_min_s*1e3: min, wall_max_s*1e3: max");
    if (compares && !m_difference) std::cout << "\nall equal (comparisons: " << m_compared << ")\n";
    if (m_difference) {
      std::cout << "\n";
      print_differences(std::cout, m_fields, m_mask.grid());
    }
    std::cout << std::flush;
  }
  write_json(m_options.report, {{"tool", m_tool},
                                {"version", NUNATAK_VERSION},
                                {"machine", to_json(m_options.ranks.machine.machine())},
                                {"comparisons", m_compared},
                                {"difference", m_difference ? Record(*m_difference) : Record()},
                                {"runs", m_records}});
  if (m_difference) throw Difference(*m_difference);
  if (compares && m_compared == 0) {
    throw Error("option -compare: expected at least two results (-solvers, -virtual_ranks, "
                "-expect), found one");
  }
}

} // namespace nunatak::tools
