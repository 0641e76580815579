#include "miniapp/tools/io/io_report.hpp"

#include "miniapp/base/server_report.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>

namespace nunatak::tools {

namespace {

double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return quantile(values, 0.5);
}

/// f(turn) of every repetition.
template <class T, class F>
std::vector<double> over_turns(const std::vector<T>& turns, const F& f) {
  std::vector<double> values;
  for (const T& turn : turns) values.push_back(f(turn));
  return values;
}

} // namespace

Record spread_of_turns(const std::vector<double>& values) {
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  return {{"median", quantile(sorted, 0.5)},
          {"q1", quantile(sorted, 0.25)},
          {"q3", quantile(sorted, 0.75)},
          {"min", sorted.front()},
          {"max", sorted.back()},
          {"all", values}};
}

Record way_record(const WayResults& way, const std::vector<double>& probe_seconds) {
  Record record;
  record["way"] = way.named.text;
  record["order"] = way.named.order;
  for (const io::Knob& knob : io::knobs())
    record["options"][knob.name] = io::knob_text(way.named.options, knob);
  record["hints"] = way.writes.back().hints;

  const std::vector<double> seconds =
      over_turns(way.writes, [](const WriteTurn& t) { return t.seconds; });
  std::vector<double> paired;
  for (std::size_t n = 0; n < seconds.size(); ++n) paired.push_back(probe_seconds[n] / seconds[n]);
  record["seconds"] = spread_of_turns(seconds);
  record["compute_seconds"] =
      median(over_turns(way.writes, [](const WriteTurn& t) { return t.compute_seconds; }));
  record["visible_seconds"] =
      spread_of_turns(over_turns(way.writes, [](const WriteTurn& t) { return t.visible_seconds; }));
  record["drain_seconds"] = spread_of_turns(
      over_turns(way.writes, [](const WriteTurn& t) { return t.seconds - t.visible_seconds; }));
  record["servers"] = servers_record(way.writes.back().servers);
  record["share_of_probe"] = median(probe_seconds) / median(seconds);
  record["share_of_probe_paired"] = spread_of_turns(paired);

  const io::Summary& last = way.writes.back().summary; // counts are the same in every repetition
  for (std::size_t p = 0; p < io::n_phases; ++p) {
    const auto of = [&](double io::Summary::Entry::*member) {
      return median(
          over_turns(way.writes, [&](const WriteTurn& t) { return t.summary.phases[p].*member; }));
    };
    record["phases"][io::phase_names[p]] = {{"max_s", of(&io::Summary::Entry::max)},
                                            {"mean_s", of(&io::Summary::Entry::mean)},
                                            {"min_s", of(&io::Summary::Entry::min)},
                                            {"bytes", last.phases[p].bytes},
                                            {"operations", last.phases[p].operations}};
  }
  record["payload_bytes"] = last[io::Phase::post].bytes;
  record["file_bytes"] = way.file_bytes.back();
  record["written_bytes"] = last.work.written_bytes;
  record["written_operations"] = last.work.written_operations;
  record["moved_bytes"] = last.work.moved_bytes;
  record["messages"] = last.work.messages;
  record["message_bytes"] = last.work.message_bytes;
  record["off_node_bytes"] = last.work.off_node_bytes;

  for (const auto& [by, turns] : way.reads) {
    if (turns.empty()) continue;
    Record& read = record["reads"][by];
    read["seconds"] =
        spread_of_turns(over_turns(turns, [](const ReadTurn& t) { return t.seconds; }));
    read["open_s"] =
        median(over_turns(turns, [](const ReadTurn& t) { return t.summary.open.max; }));
    read["read_s"] =
        median(over_turns(turns, [](const ReadTurn& t) { return t.summary.read.max; }));
    read["scatter_s"] =
        median(over_turns(turns, [](const ReadTurn& t) { return t.summary.scatter.max; }));
    const io::ReadSummary& summary = turns.back().summary;
    read["bytes"] = turns.back().bytes;
    read["read_bytes"] = summary.bytes;
    read["operations"] = summary.operations;
    read["sent_bytes"] = summary.sent_bytes;
    read["opening_ranks"] = summary.openers;
  }
  record["join_seconds"] = way.joins.empty() ? Record() : spread_of_turns(way.joins);
  record["verified_values"] = way.verified;
  record["not_read"] = way.not_read;
  return record;
}

namespace {

void print_times(std::ostream& out, const std::vector<Record>& ways, const Record& probe) {
  std::vector<Record> times{probe["seconds"]};
  times[0]["way"] = "probe";
  times[0]["share"] = 1.0;
  for (const Record& way : ways) {
    times.push_back(way["seconds"]);
    times.back()["way"] = way["way"];
    times.back()["share"] = way["share_of_probe"];
    times.back()["paired"] = way["share_of_probe_paired"]["median"];
    if (!way["join_seconds"].is_null()) times.back()["join"] = way["join_seconds"]["median"];
  }
  out << "Seconds from open to durable; share: time of the probe over it, of medians and as the "
         "median of pairs\n\n";
  print_table(out, times,
              {{"way", "way"},
               {"median", "median"},
               {"min", "min"},
               {"q1", "q1"},
               {"q3", "q3"},
               {"max", "max"},
               {"share", "share"},
               {"paired", "paired"},
               {"join", "then join"}});
}

void print_phases(std::ostream& out, const std::vector<Record>& ways) {
  std::vector<Record> phases;
  std::vector<Column> columns{{"way", "way"}};
  for (const char* name : io::phase_names) columns.push_back({name, name});
  for (const Record& way : ways) {
    phases.push_back({{"way", way["way"]}});
    for (const char* name : io::phase_names) phases.back()[name] = way["phases"][name]["max_s"];
  }
  out << "\nSeconds per phase, slowest rank, median over turns\n\n";
  print_table(out, phases, columns);
}

void print_counts(std::ostream& out, const std::vector<Record>& ways) {
  out << "\nBytes and numbers, all ranks together\n\n";
  print_table(out, ways,
              {{"way", "way"},
               {"payload_bytes", "payload"},
               {"file_bytes", "file"},
               {"written_bytes", "written"},
               {"written_operations", "calls"},
               {"moved_bytes", "moved"},
               {"messages", "messages"},
               {"message_bytes", "message bytes"},
               {"off_node_bytes", "off node"},
               {"verified_values", "values right"}});
}

void print_reads(std::ostream& out, const std::vector<Record>& ways) {
  std::vector<Record> reads;
  for (const Record& way : ways) {
    if (!way.contains("reads")) continue;
    for (const auto& [by, read] : way["reads"].items()) {
      reads.push_back(read["seconds"]);
      reads.back()["way"] = way["way"];
      reads.back()["by"] = by;
      reads.back().update(read);
    }
  }
  if (reads.empty()) return;
  out << "\nReading: seconds; opening, the library and messages on the slowest rank; bytes asked "
         "for, read and sent\n\n";
  print_table(out, reads,
              {{"way", "way"},
               {"by", "by"},
               {"median", "median"},
               {"min", "min"},
               {"max", "max"},
               {"open_s", "open"},
               {"read_s", "read"},
               {"scatter_s", "messages"},
               {"bytes", "bytes"},
               {"read_bytes", "read"},
               {"operations", "calls"},
               {"sent_bytes", "sent"},
               {"opening_ranks", "openers"}});
}

} // namespace

void print_ways(std::ostream& out, const std::vector<Record>& ways, const Record& probe) {
  print_times(out, ways, probe);
  print_phases(out, ways);
  print_counts(out, ways);
  print_reads(out, ways);
}

} // namespace nunatak::tools
