// The final report of a run: a table on the screen and, with -report, JSON with more detail.
#pragma once

#include "io/base/agree.hpp"
#include "io/base/watchdog.hpp"
#include "kernels/grid/array.hpp"
#include "miniapp/base/paths.hpp"
#include "miniapp/base/printed.hpp"
#include "miniapp/model/grid.hpp"
#include "miniapp/model/log.hpp"
#include "miniapp/model/options.hpp"
#include "miniapp/model/session.hpp"
#include "miniapp/model/timers.hpp"

#include <nlohmann/json.hpp>

#include <mpi.h>
#include <sys/resource.h>

#include <ctime>

namespace nunatak {

/// The current time in ISO 8601.
inline std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

class Report {
public:
  Report(const Options& options, const Grid& grid, MPI_Comm comm)
      : m_path(options.report), m_comm(comm) {
    const Decomposition& d = grid.decomposition;
    m_json["started"] = utc_now();
    for (const Versions& some : {versions(), petsc_version()}) {
      for (const auto& [name, version] : some) m_json["versions"][name] = version;
    }
    m_json["ranks"] = {
        {"size", d.size()}, {"px", d.px}, {"py", d.py}, {"execution_space", Exec::name()}};
    m_json["grid"] = {{"Mx", grid.Mx()}, {"My", grid.My()}, {"Mz", grid.Mz()},
                      {"dx", grid.dx},   {"dy", grid.dy},   {"Lz", grid.Lz()}};
    m_json["options"] = to_json(options);
    m_json["set_by_like"] = options.set_by_like;
  }

  /// Adds facts of a part of the run under their own key: report.add({{"ssa", ...}}).
  void add(const nlohmann::json& facts) { m_json.update(facts); }

  /// Reduces the timers over ranks, prints the table to the log and writes the file. Collective.
  void finish(const Timers& timers, const Log& log) {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const double memory = static_cast<double>(usage.ru_maxrss) / 1024.0; // kB on Linux
    const std::vector<io::OverRanks> used = io::over_ranks(m_comm, {timers.elapsed(), memory});
    const double wall = used[0].max;
    m_json["wall_seconds"] = wall;
    m_json["peak_resident_MiB_per_rank"] = used[1].max;
    m_json["peak_resident_MiB"] = used[1].mean * io::size_of(m_comm);

    std::vector<Timers::Summary> parts = timers.summarise(m_comm);
    m_json["pop"] = pop(parts.back());
    parts.pop_back();
    for (const Timers::Summary& s : parts) {
      nlohmann::json& json = m_json["timers"][s.name] = min_mean_max(s.time);
      json.update({{"calls", s.calls}, {"depth", s.depth}, {"pop", pop(s)}});
    }
    add_cpmip(wall, log);
    log.line("");
    log.line(printed("%-34s %8s %10s %10s %10s %8s %8s %10s", "seconds", "calls", "min", "mean",
                     "max", "in MPI", "balance", "of total"));
    double other = wall; // mean over ranks of what no timer of the first level measures
    for (const Timers::Summary& s : parts) {
      if (s.is_share) continue; // in the file alone
      const std::string name = std::string(2 * static_cast<std::size_t>(s.depth), ' ') + s.name;
      log.line(printed("%-34s %8ld %10.3f %10.3f %10.3f %6.0f %% %6.0f %%", name.c_str(), s.calls,
                       s.time.min, s.time.mean, s.time.max,
                       s.time.mean > 0.0 ? 100.0 * s.in_mpi.mean / s.time.mean : 0.0,
                       100.0 * s.load_balance()) +
               (s.depth == 0 ? share(s.time.mean, wall) : ""));
      if (s.depth == 0) other -= s.time.mean;
    }
    const auto line = [&](const char* name, double seconds) {
      log.line(printed("%-34s %8s %10s %10.3f %10s %8s %8s", name, "", "", seconds, "", "", "") +
               share(seconds, wall));
    };
    line("other", other);
    line("total", wall);

    const io::Watchdog::Scope scope(m_path, "report");
    io::on_rank_0(m_comm, [&] {
      if (!m_path.empty()) write_text_file(m_path, json_text(m_json));
    });
  }

private:
  static std::string share(double seconds, double wall) {
    return printed(" %8.1f %%", 100.0 * seconds / wall);
  }
  static nlohmann::json pop(const Timers::Summary& s) {
    return {{"load_balance", s.load_balance()},
            {"communication_efficiency", s.communication_efficiency()},
            {"parallel_efficiency", s.parallel_efficiency()},
            {"useful_seconds", min_mean_max(s.useful)},
            {"in_mpi_seconds", min_mean_max(s.in_mpi)},
            {"seconds", min_mean_max(s.time)}};
  }

  /// Metrics of CPMIP (Balaji et al. 2017, Geosci. Model Dev. 10, 19) that one run can tell.
  void add_cpmip(double wall, const Log& log) {
    double ranks = io::size_of(m_comm), loop = wall;
    double bytes = m_json["output"].value("written_bytes", 0.0);
    for (const auto& group : m_json["output"]["servers"]) {
      ranks += group["servers"].get<double>();
      bytes += group["written_bytes"].get<double>();
    }
    for (const char* outside : {"init", "output: result", "output: drain"})
      loop -= m_json["timers"].value(outside, nlohmann::json{{"max", 0.0}})["max"].get<double>();
    const double threads = loops_on_host ? Exec().concurrency() : 1, years = m_json["years"];
    const double core_hours = ranks * threads * wall / 3600.0;
    nlohmann::json& cpmip = m_json["cpmip"] = {{"parallelization", ranks * threads}};
    if (const double state = m_json.value("state_MiB", 0.0); state > 0.0)
      cpmip["memory_bloat"] = m_json["peak_resident_MiB"].get<double>() / state;
    cpmip["data_intensity"] = bytes / 1e9 / core_hours;
    if (years <= 0.0) return;
    const double of_run = 86400.0 * years / wall, hours = core_hours / years;
    cpmip.update({{"SYPD", of_run}, {"SYPD_loop", 86400.0 * years / loop}, {"CHSY", hours}});
    log.line(
        printed("%.4g simulated years per day, %.3g core-hours per simulated year", of_run, hours));
  }

  nlohmann::json m_json;
  std::string m_path;
  MPI_Comm m_comm;
};

} // namespace nunatak
