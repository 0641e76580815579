#include "miniapp/tools/io/io_report.hpp"

#include "miniapp/base/io_options.hpp"

#include <algorithm>
#include <ostream>

namespace nunatak::tools {

namespace {

double quantile(const std::vector<double>& sorted, double fraction) {
  const double place = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return quantile(values, 0.5);
}

/// f of every repetition.
template <class T, class F>
std::vector<double> each(const std::vector<T>& repetitions, const F& f) {
  std::vector<double> values;
  for (const T& one : repetitions) values.push_back(f(one));
  return values;
}

Record record_of(const std::vector<Reading>& readings) {
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

} // namespace

Record spread_of(const std::vector<double>& values) {
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  return {{"median", quantile(sorted, 0.5)},
          {"q1", quantile(sorted, 0.25)},
          {"q3", quantile(sorted, 0.75)},
          {"min", sorted.front()},
          {"max", sorted.back()},
          {"all", values}};
}

Record record_of(const MethodResults& results, const std::vector<double>& raw_seconds) {
  const std::vector<Writing>& writings = results.writings;
  const Writing& last = writings.back();
  const auto of = [&](const auto& f) { return each(writings, f); };
  Record record = {{"method", results.method.text}, {"order", results.method.order}};
  for (const io::Knob& knob : io::knobs())
    record["options"][knob.name] = io::knob_text(results.method.options, knob);
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

namespace {

void print_times(std::ostream& out, const std::vector<Record>& methods, const Record& raw) {
  std::vector<Record> times{raw["seconds"]};
  times[0]["method"] = "raw writes";
  times[0]["fraction"] = 1.0;
  for (const Record& method : methods) {
    Record row = method["seconds"];
    for (const char* key : {"limit_s", "fraction_of_limit"}) row[key] = method.value(key, Record());
    row["method"] = method["method"];
    row["fraction"] = method["fraction_of_raw"];
    row["paired"] = method["fraction_of_raw_paired"]["median"];
    if (!method["join_seconds"].is_null()) row["join"] = method["join_seconds"]["median"];
    times.push_back(row);
  }
  out << "Seconds from open to durable; fraction of raw bandwidth: of medians, and the median of "
         "pairs\n\n";
  print_table(out, times,
              {{"method", "method"},
               {"median", "median"},
               {"min", "min"},
               {"q1", "q1"},
               {"q3", "q3"},
               {"max", "max"},
               {"fraction", "fraction"},
               {"paired", "of pairs"},
               {"limit_s", "limit"},
               {"fraction_of_limit", "of limit"},
               {"join", "then join"}});
}

void print_phases(std::ostream& out, const std::vector<Record>& methods) {
  std::vector<Record> phases;
  std::vector<Column> columns{{"method", "method"}};
  for (const char* name : io::phase_names) columns.push_back({name, name});
  for (const Record& method : methods) {
    phases.push_back({{"method", method["method"]}});
    for (const char* name : io::phase_names) phases.back()[name] = method["phases"][name]["max_s"];
  }
  out << "\nSeconds per phase, slowest rank, median over repetitions\n\n";
  print_table(out, phases, columns);
}

void print_counts(std::ostream& out, const std::vector<Record>& methods) {
  out << "\nBytes and numbers, sums over ranks\n\n";
  print_table(out, methods,
              {{"method", "method"},
               {"payload_bytes", "payload"},
               {"file_bytes", "file"},
               {"written_bytes", "written"},
               {"written_operations", "calls"},
               {"moved_bytes", "moved"},
               {"messages", "messages"},
               {"message_bytes", "message bytes"},
               {"off_node_bytes", "off node"},
               {"verified_values", "values verified"}});
}

void print_reads(std::ostream& out, const std::vector<Record>& methods) {
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
              {{"method", "method"},
               {"by", "read by"},
               {"median", "median"},
               {"min", "min"},
               {"max", "max"},
               {"open_s", "open"},
               {"read_s", "library"},
               {"scatter_s", "messages"},
               {"bytes", "requested"},
               {"read_bytes", "read"},
               {"operations", "calls"},
               {"sent_bytes", "sent"},
               {"opening_ranks", "ranks that open"}});
}

} // namespace

void print_methods(std::ostream& out, const std::vector<Record>& methods, const Record& raw) {
  print_times(out, methods, raw);
  print_phases(out, methods);
  print_counts(out, methods);
  print_reads(out, methods);
}

} // namespace nunatak::tools
