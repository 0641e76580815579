// The report of nunatak-io: spread, fraction of raw bandwidth, phases, counts.
#pragma once

#include "io/methods/registry.hpp"
#include "miniapp/base/io_options.hpp"
#include "miniapp/base/records.hpp"
#include "miniapp/bench/repetition.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace nunatak::bench {

/// A method of writing and its measurements, without the warm-up.
struct Method {
  std::string text, order; ///< "netcdf4/zslab/order=zyx"; of the dimensions in the file
  io::Options options;
  std::unique_ptr<io::Writer> writer = {};
  std::string file = {}; ///< its name in the folder
  std::vector<Writing> writings = {};
  std::int64_t file_bytes = 0;                               ///< of the last repetition
  std::map<std::string, std::vector<Reading>> readings = {}; ///< by method of reading
  std::vector<double> joins = {};                   ///< seconds; for subfiles that are read
  std::int64_t verified = 0;                        ///< number of values compared and correct
  std::map<std::string, std::string> not_read = {}; ///< reason, by method of reading
  double least = 0.0;                               ///< least_seconds() of its plan; 0: not known

  /// One that can be read.
  bool leaves_file() const { return io::has_features(options, io::netcdf); }
  /// A file per aggregator.
  bool leaves_subfiles() const {
    return io::has_features(options, io::subfiles | io::netcdf) && io::layout_row(options).subfiles;
  }
};

/// f of every repetition.
template <class T, class F>
std::vector<double> each(const std::vector<T>& repetitions, const F& f) {
  std::vector<double> values;
  for (const T& one : repetitions) values.push_back(f(one));
  return values;
}

/// {"median", "q1", "q3", "min", "max", "all"}; quartiles by linear interpolation.
inline Record spread_of(const std::vector<double>& values) {
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  return {{"median", quantile(sorted, 0.5)},
          {"q1", quantile(sorted, 0.25)},
          {"q3", quantile(sorted, 0.75)},
          {"min", sorted.front()},
          {"max", sorted.back()},
          {"all", values}};
}

inline Record record_of(const std::vector<Reading>& readings) {
  const Reading& last = readings.back(); // counts are the same in every repetition
  const auto of = [&](io::ReadSummary::Seconds io::ReadSummary::*member) {
    return median(each(readings, [&](const Reading& r) { return (r.summary.*member).max; }));
  };
  return {{"seconds", spread_of(each(readings, [](const Reading& r) { return r.seconds; }))},
          {"open_s", of(&io::ReadSummary::open)},
          {"read_s", of(&io::ReadSummary::read)},
          {"scatter_s", of(&io::ReadSummary::scatter)},
          {"bytes", last.bytes},
          {"read_bytes", last.summary.bytes},
          {"operations", last.summary.operations},
          {"sent_bytes", last.summary.sent_bytes},
          {"opening_ranks", last.summary.openers}};
}

/// The record of one method, with the raw write baseline of the same repetitions.
inline Record record_of(const Method& results, const std::vector<double>& raw_seconds) {
  const Writing& last = results.writings.back();
  const auto of = [&](const auto& f) { return each(results.writings, f); };
  Record record = {{"method", results.text}, {"order", results.order}};
  record["options"] = io::texts_of(results.options);
  record["hints"] = last.hints;

  const std::vector<double> seconds = of([](const Writing& w) { return w.seconds; });
  std::vector<double> paired;
  for (std::size_t n = 0; n < seconds.size(); ++n) paired.push_back(raw_seconds[n] / seconds[n]);
  record["seconds"] = spread_of(seconds);
  record["compute_seconds"] = median(of([](const Writing& w) { return w.compute_seconds; }));
  record["visible_seconds"] = spread_of(of([](const Writing& w) { return w.visible_seconds; }));
  record["drain_seconds"] =
      spread_of(of([](const Writing& w) { return w.seconds - w.visible_seconds; }));
  record["servers"] = servers_record(last.servers);
  record["fraction_of_raw"] = median(raw_seconds) / median(seconds);
  record["fraction_of_raw_paired"] = spread_of(paired);

  for (std::size_t p = 0; p < io::n_phases; ++p) {
    const auto phase = [&](double io::Summary::Entry::*member) {
      return median(of([&](const Writing& w) { return w.summary.phases[p].*member; }));
    };
    record["phases"][io::phase_names[p]] = {{"max_s", phase(&io::Summary::Entry::max)},
                                            {"mean_s", phase(&io::Summary::Entry::mean)},
                                            {"min_s", phase(&io::Summary::Entry::min)},
                                            {"bytes", last.summary.phases[p].bytes},
                                            {"operations", last.summary.phases[p].operations}};
  }
  const io::Work& work = last.summary.work; // counts are the same in every repetition
  record["payload_bytes"] = last.summary[io::Phase::post].bytes;
  record["file_bytes"] = results.file_bytes;
  record["written_bytes"] = work.written_bytes;
  record["written_operations"] = work.written_operations;
  record["moved_bytes"] = work.moved_bytes;
  record["messages"] = work.messages;
  record["message_bytes"] = work.message_bytes;
  record["off_node_bytes"] = work.off_node_bytes;
  for (const auto& [by, readings] : results.readings) record["reads"][by] = record_of(readings);
  record["join_seconds"] = results.joins.empty() ? Record() : spread_of(results.joins);
  record["verified_values"] = results.verified;
  record["not_read"] = results.not_read;
  if (results.least > 0.0) {
    record["limit_s"] = results.least;
    record["fraction_of_limit"] = results.least / median(seconds);
  }
  return record;
}

/// Prints tables of record_of() results: times, phases, counts, reads.
inline void print_methods(std::ostream& out, const std::vector<Record>& methods,
                          const Record& raw) {
  std::vector<Record> times;
  for (const Record& way : raw["ways"]) {
    times.push_back(way["seconds"]);
    times.back()["method"] = "raw: " + way["way"].get<std::string>();
    times.back()["fraction"] =
        raw["seconds"]["median"].get<double>() / way["seconds"]["median"].get<double>();
  }
  for (const Record& method : methods) {
    Record row = method["seconds"];
    for (const char* key : {"limit_s", "fraction_of_limit"}) row[key] = method.value(key, Record());
    row["method"] = method["method"];
    row["fraction"] = method["fraction_of_raw"];
    row["paired"] = method["fraction_of_raw_paired"]["median"];
    if (!method["join_seconds"].is_null()) row["join"] = method["join_seconds"]["median"];
    times.push_back(row);
  }
  out << "Seconds from open to durable; fraction of the fastest raw writes: of medians, and the "
         "median of pairs\n\n";
  print_table(out, times,
              "method, median, min, q1, q3, max, fraction, paired: of pairs, limit_s: limit, "
              "fraction_of_limit: of limit, join: then join");

  std::vector<Record> phases;
  std::string columns = "method";
  for (const char* name : io::phase_names) columns += std::string(", ") + name;
  for (const Record& method : methods) {
    phases.push_back({{"method", method["method"]}});
    for (const char* name : io::phase_names) phases.back()[name] = method["phases"][name]["max_s"];
  }
  out << "\nSeconds per phase, slowest rank, median over repetitions\n\n";
  print_table(out, phases, columns);

  out << "\nBytes and numbers, sums over ranks\n\n";
  print_table(out, methods,
              "method, payload_bytes: payload, file_bytes: file, written_bytes: written, "
              "written_operations: calls, moved_bytes: moved, messages, "
              "message_bytes: message bytes, off_node_bytes: off node, "
              "verified_values: values verified");

  std::vector<Record> reads;
  for (const Record& method : methods) {
    if (!method.contains("reads")) continue;
    for (const auto& [by, read] : method["reads"].items()) {
      reads.push_back(read["seconds"]);
      reads.back()["method"] = method["method"];
      reads.back()["by"] = by;
      reads.back().update(read);
    }
  }
  if (reads.empty()) return;
  out << "\nReading: seconds; open, library and messages on the slowest rank; bytes requested, "
         "read and sent\n\n";
  print_table(out, reads,
              "method, by: read by, median, min, max, open_s: open, read_s: library, "
              "scatter_s: messages, bytes: requested, read_bytes: read, operations: calls, "
              "sent_bytes: sent, opening_ranks: ranks that open");
}

} // namespace nunatak::bench
