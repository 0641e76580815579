// bench_labels: times the labelling of a mask, checks it, and prints one JSON object.
//
//   mpiexec -n 1 bench_labels -mask percolation:0.593 -M 4096        mpiexec -n 1 bench_labels -virtual 1x1,8x8,64x64
//
// With real ranks: find_segments, labels and the array of numbers, one after another; a time is that of the slowest rank, from
// a barrier on, and processor time beside it. With virtual ranks: what is sent and gathered, what the merge across seams holds,
// and how long it takes, since every rank does all of it. One repetition before those that count is dropped.
// Neighbours: labels_problem.hpp (input), compare_labels.py (beside cc3d and scipy). See perf/README.md for the JSON.
#include "kernels/grid/virtual_ranks.hpp"
#include "miniapp/base/mpi_ranks.hpp"
#include "miniapp/model/report.hpp"
#include "miniapp/model/session.hpp"
#include "perf/bandwidth.hpp"
#include "perf/labels_problem.hpp"

#include <chrono>
#include <ctime>

using namespace nunatak;
using namespace nunatak::bench;
using nlohmann::json;

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
double processor_time() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

json spread(std::vector<double> values) {
  return {{"median", median(values)},
          {"min", *std::min_element(values.begin(), values.end())},
          {"max", *std::max_element(values.begin(), values.end())}};
}

/// Virtual ranks that keep what was gathered.
class Recorder final : public Ranks {
public:
  explicit Recorder(const Decomposition& d) : Ranks(d), m_ranks(d) {}
  std::vector<std::vector<std::int64_t>> gathered;
  const Traffic& sent() const { return m_ranks.traffic(); }

  int local_size() const override { return m_ranks.local_size(); }
  int first() const override { return 0; }
  void update_ghosts(const std::vector<std::vector<Ghosted>>& arrays) override { m_ranks.update_ghosts(arrays); }
  void sum(std::vector<std::vector<std::int64_t>>& values) override { m_ranks.sum(values); }
  void max(std::vector<std::vector<std::int64_t>>& values) override { m_ranks.max(values); }
  std::vector<std::int64_t> gather_all(const std::vector<std::vector<std::int64_t>>& contributions) override {
    gathered.push_back(m_ranks.gather_all(contributions));
    return gathered.back();
  }
  std::vector<std::int64_t> gather_all(const std::vector<std::vector<std::int64_t>>& contributions,
                                       const std::vector<int>& lengths) override {
    return m_ranks.gather_all(contributions, lengths);
  }
  void exchange(const std::vector<std::vector<Packet>>& out, std::vector<std::vector<Packet>>& in) override {
    m_ranks.exchange(out, in);
  }
  std::unique_ptr<Group> group(std::vector<int> members) override { return m_ranks.group(std::move(members)); }
  std::unique_ptr<Ranks> over(const Decomposition& d) const override { return m_ranks.over(d); }

private:
  VirtualRanks m_ranks;
};

/// What a rank does with what was gathered for a batch, timed.
double merge_seconds(const Decomposition& d, const std::vector<LabelMask>& masks, const std::vector<std::int64_t>& words) {
  std::vector<SeamMerge> merge(masks.size());
  std::vector<int> west;
  const double begin = processor_time();
  for (std::size_t m = 0; m < masks.size(); ++m) merge[m].start(d, masks[m].numbered);
  const std::int64_t* at = words.data();
  for (int rank = 0; rank < d.size(); ++rank) {
    for (SeamMerge& of_mask : merge) at = of_mask.add(at, d.patch(rank), rank == 0 ? &west : nullptr);
  }
  for (SeamMerge& of_mask : merge) of_mask.merge();
  return processor_time() - begin;
}

json on_virtual_ranks(const LabelArguments& a, const std::vector<Code>& codes) {
  json all = json::array();
  std::int64_t components = -1;
  std::istringstream list(a.virtual_ranks);
  for (std::string cut_into; std::getline(list, cut_into, ',');) {
    int px = 0, py = 0;
    char x = 0;
    if (std::istringstream in(cut_into); !(in >> px >> x >> py) || x != 'x')
      throw Error("option -virtual: expected PxQ, found '" + cut_into + "'");
    const Decomposition d = Decomposition::make(a.Mx, a.My, px, py);
    Recorder ranks(d);
    std::vector<Segments> segments(static_cast<std::size_t>(d.size()));
    const std::vector<Array2<Code>> local = cut(ranks, codes);
    for (int r = 0; r < d.size(); ++r) find_segments(ranks.patch(r), local[r], segments[r]);
    Labels labels(ranks);
    std::vector<std::vector<std::int64_t>> nothing(segments.size());
    std::int64_t parts = 0, edges = 0, wholes = 0, words = 0, found = 0;
    double merge = 0.0;
    const auto sets = batches(a.masks);
    for (std::size_t b = 0; b < sets.size(); ++b) {
      const std::vector<MaskLabels>& result = labels.update(segments, sets[b], nothing);
      for (std::size_t m = 0; m < result.size(); ++m) {
        found += result[m].numbered;
        wholes += static_cast<std::int64_t>(result[m].whole.size());
        if (d.size() > 1) parts += labels.merge(m).parts(), edges += labels.merge(m).edges();
      }
      if (d.size() > 1) {
        words += static_cast<std::int64_t>(ranks.gathered[b].size());
        double best = 1e9;
        for (int n = 0; n < a.repeat; ++n) best = std::min(best, merge_seconds(d, sets[b], ranks.gathered[b]));
        merge += best;
      }
      if (b + 1 < sets.size()) classify(segments, result, a.cell_area);
    }
    if (components >= 0 && found != components)
      throw Error("wrong result: " + std::to_string(found) + " components on " + cut_into + " ranks, " +
                  std::to_string(components) + " on the first");
    components = found;
    const Traffic& t = ranks.sent();
    all.push_back({{"px", px},
                   {"py", py},
                   {"ranks", d.size()},
                   {"exchanges", t.exchanges},
                   {"messages", t.messages},
                   {"bytes", t.bytes},
                   {"collectives", t.collectives},
                   {"gathered_bytes", 8 * words},
                   {"parts", parts},
                   {"edges", edges},
                   {"whole", wholes},
                   {"merge_ms_min", 1e3 * merge},
                   {"numbered", found}});
  }
  return all;
}

json on_real_ranks(const LabelArguments& a, const std::vector<Code>& codes, const Session& session) {
  MpiRanks ranks(session.comm(), Decomposition::make(a.Mx, a.My, session.size()));
  const Patch p = ranks.patch();
  const Array2<Code> local = cut(ranks, codes)[0];
  const Array2<int> numbers = make_array<int>("numbers", p);
  std::vector<Segments> segments(1);
  std::vector<std::vector<std::int64_t>> nothing(1);
  Labels labels(ranks);
  const std::vector<LabelMask> masks = batches("nonzero")[0];
  const MaskLabels* found = nullptr;
  const char* names[] = {"segments", "label", "write", "total"};
  std::vector<double> wall[4], processor[4];
  double first_call = 0.0;
  for (int n = 0; n <= a.repeat; ++n) {
    double at[4], cpu[4];
    MPI_Barrier(session.comm());
    const auto look = [&](int k) { at[k] = now(), cpu[k] = processor_time(); };
    look(0);
    find_segments(p, local, segments[0]);
    look(1);
    found = &labels.update(segments, masks, nothing)[0];
    look(2);
    write_numbers(p, segments[0], *found, 0, numbers);
    look(3);
    double taken[8];
    for (int k = 0; k < 4; ++k) {
      const int from = k < 3 ? k : 0, to = k < 3 ? k + 1 : 3;
      taken[k] = at[to] - at[from], taken[4 + k] = cpu[to] - cpu[from];
    }
    MPI_Allreduce(MPI_IN_PLACE, taken, 8, MPI_DOUBLE, MPI_MAX, session.comm());
    const double to_ns = 1e9 / (static_cast<double>(a.Mx) * a.My);
    if (n == 0) first_call = to_ns * taken[7];
    for (int k = 0; k < 4 && n > 0; ++k) wall[k].push_back(to_ns * taken[k]), processor[k].push_back(to_ns * taken[4 + k]);
  }
  if (a.check == "fill") {
    const std::vector<int> expected = flood_fill(codes, a.Mx, a.My);
    std::int64_t wrong = 0;
    for (int j = 1; j <= p.ym; ++j) {
      for (int i = 1; i <= p.xm; ++i) wrong += numbers(j, i) != expected[static_cast<std::size_t>(p.cell(j, i))];
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT64_T, MPI_SUM, session.comm());
    if (wrong != 0) throw Error("wrong result: labels differ from a flood fill in " + std::to_string(wrong) + " cells");
  }
  if (!a.save.empty()) {
    if (session.size() > 1) throw Error("option -save: expected one rank, found " + std::to_string(session.size()));
    std::ofstream out(a.save, std::ios::binary);
    for (int j = 1; j <= p.ym; ++j) out.write(reinterpret_cast<const char*>(&numbers(j, 1)), std::streamsize{4} * p.xm);
    if (!out) throw Error("option -save: cannot write '" + a.save + "'");
  }
  json result = {{"components", found->numbered}, {"largest_cells", found->largest().cells}};
  result["first_call_processor_ns_per_cell"] = first_call;
  for (int k = 0; k < 4; ++k) {
    result["ns_per_cell"][names[k]] = spread(wall[k]);
    result["processor_ns_per_cell"][names[k]] = spread(processor[k]);
  }
  return result;
}

} // namespace

int main(int argc, char** argv) {
  Session session(argc, argv);
  try {
    if (argc > 1 && std::string(argv[1]) == "-help") {
      if (session.rank() == 0) std::cout << labels_usage;
      return 0;
    }
    const LabelArguments a = read_label_arguments(argc, argv);
    if (!a.virtual_ranks.empty() && session.size() > 1) throw Error("option -virtual: expected one process");
    const std::vector<Code> codes = read_codes(a);
    json result = {{"benchmark", "labels"}, {"started", utc_now()},    {"mask", a.mask},         {"Mx", a.Mx}, {"My", a.My},
                   {"masks", a.masks},      {"repetitions", a.repeat}, {"ranks", session.size()}};
    if (a.virtual_ranks.empty())
      result.update(on_real_ranks(a, codes, session));
    else
      result["virtual_ranks"] = on_virtual_ranks(a, codes);
    if (session.rank() == 0) std::cout << result.dump(2) << std::endl;
    return 0;
  } catch (const Error& error) { // the same on all ranks: rank 0 speaks for them
    if (session.rank() == 0) std::cerr << "bench_labels: error: " << error.what() << std::endl;
    return 1;
  } catch (const std::exception& error) { // perhaps on this rank only: nobody may wait for it
    std::cerr << "bench_labels: error: rank " << session.rank() << ": " << error.what() << std::endl;
    MPI_Abort(session.comm(), 1);
  }
  return 1;
}
