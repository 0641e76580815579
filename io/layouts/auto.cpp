// See auto.hpp.
#include "io/layouts/auto.hpp"

#include "io/layouts/remap.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace nunatak::io {

namespace {

constexpr std::int64_t bytes_of_call = 64 << 10; ///< what could be sent in the time of a call

/// The elements first <= n < last of a box in row-major order, as boxes: part of a row, whole rows, part of a row.
void append_run(const Box& box, std::size_t first, std::size_t last, std::vector<Box>& boxes, std::size_t d = 0) {
  if (first >= last) return;
  std::size_t row = 1;
  for (std::size_t e = d + 1; e < box.count.size(); ++e) row *= box.count[e];
  const std::size_t whole = (first + row - 1) / row, end = last / row; // rows
  const auto part = [&](std::size_t index, std::size_t begin, std::size_t stop) {
    Box one = box;
    one.start[d] += index, one.count[d] = 1;
    append_run(one, begin, stop, boxes, d + 1);
  };
  if (whole > end) return part(end, first % row, last % row); // within one row
  if (first % row != 0) part(whole - 1, first % row, row);
  if (end > whole) {
    boxes.push_back(box);
    boxes.back().start[d] += whole, boxes.back().count[d] = end - whole;
  }
  if (last % row != 0) part(end, 0, last % row);
}

/// What all ranks add up, and the most that one rank has.
struct Counts {
  enum { native_calls, moved_calls, messages, sent, received, n };
  std::array<std::int64_t, n> sum{}, most{};
};

class Auto final : public Format {
public:
  Auto(MPI_Comm comm, const Schema& schema, const Options& options, const Topology& topology, const std::vector<int>& aggregators,
       std::unique_ptr<Format> inner)
      : m_comm(comm), m_schema(schema), m_aggregators(aggregators), m_stripe(options.stripe), m_inner(inner.get()),
        m_moves(schema.variables.size()) {
    MPI_Comm_rank(comm, &m_rank);
    const auto boxes = [this](const Schema&, std::size_t v) { return boxes_of(v); };
    m_remap = make_remap(comm, schema, options, topology, aggregators, boxes, std::move(inner));
  }

  void define() override { m_remap->define(); }
  void put(std::size_t v, const Hyperslab& slab) override {
    if (!m_moves[v]) m_moves[v] = decide(v, slab);
    (*m_moves[v] ? m_remap.get() : m_inner)->put(v, slab);
  }
  void wait() override { m_remap->wait(); }
  void flush() override { m_remap->flush(); }
  void close() override { m_remap->close(); }
  bool grows_in_place() const override { return m_remap->grows_in_place(); }
  void flush_values() override { m_remap->flush_values(); }
  void count_records() override { m_remap->count_records(); }
  std::uint64_t defined_size() const override { return m_remap->defined_size(); }
  std::uint64_t expected_size(std::uint64_t records) const override { return m_remap->expected_size(records); }
  std::optional<SparseChecksum> written() const override { return m_remap->written(); }
  Work work() const override { return m_remap->work(); }
  std::vector<OutputFile> files() const override { return m_remap->files(); }

  /// And, as "layout", what was chosen.
  std::map<std::string, std::string> hints() const override {
    std::map<std::string, std::string> hints = m_remap->hints();
    hints["layout"] = m_stay.text("stay") + "; " + m_go.text("move");
    return hints;
  }

private:
  /// Of the variables that stay, or of those that move: what a record of each costs all ranks, in both ways.
  struct Chosen {
    std::int64_t variables = 0;
    Counts counts;
    std::string text(const std::string& verb) const {
      if (variables == 0) return "no variable " + verb + "s";
      const auto n = [](std::int64_t number) { return std::to_string(number); };
      return n(variables) + " variable(s) " + verb + ": " + n(counts.sum[Counts::native_calls]) + " calls and no byte sent, or " +
             n(counts.sum[Counts::moved_calls]) + " calls and " + n(counts.sum[Counts::sent]) + " bytes sent";
    }
  };

  Boxes boxes_of(std::size_t v) const { return run_boxes(m_schema, v, m_aggregators.size(), m_stripe, m_inner->first_byte(v)); }

  /// Of this rank.
  std::array<std::int64_t, Counts::n> count(std::size_t v, const Hyperslab& slab) const {
    std::array<std::int64_t, Counts::n> counts{};
    const std::ptrdiff_t lead = m_schema.has_records(m_schema.variables[v]) ? 1 : 0;
    const auto bytes = static_cast<std::int64_t>(bytes_of(m_schema.variables[v].type));
    const Boxes boxes = boxes_of(v);
    Box mine;
    if (slab.elements() > 0) {
      mine = {{slab.start.begin() + lead, slab.start.end()}, {slab.count.begin() + lead, slab.count.end()}};
      counts[Counts::native_calls] = static_cast<std::int64_t>(runs_in(mine, whole_box(m_schema, v)));
    }
    for (std::size_t a = 0; a < boxes.size(); ++a) {
      const bool is_here = m_aggregators[a] == m_rank;
      std::int64_t common = 0;
      for (const Box& box : boxes[a]) {
        if (slab.elements() > 0) common += static_cast<std::int64_t>(meet(mine, box).elements()) * bytes;
        if (is_here) counts[Counts::received] += static_cast<std::int64_t>(box.elements()) * bytes;
      }
      if (is_here) counts[Counts::moved_calls] = static_cast<std::int64_t>(boxes[a].size()), counts[Counts::received] -= common;
      if (!is_here) counts[Counts::sent] += common, counts[Counts::messages] += common > 0 ? 1 : 0;
    }
    return counts;
  }

  /// Does it pay to move the values of this variable?
  bool decide(std::size_t v, const Hyperslab& slab) {
    Counts c;
    c.sum = c.most = count(v, slab);
    MPI_Allreduce(MPI_IN_PLACE, c.sum.data(), Counts::n, MPI_INT64_T, MPI_SUM, m_comm);
    MPI_Allreduce(MPI_IN_PLACE, c.most.data(), Counts::n, MPI_INT64_T, MPI_MAX, m_comm);
    const std::int64_t native = c.most[Counts::native_calls] * bytes_of_call;
    const std::int64_t moved = std::max(c.most[Counts::sent], c.most[Counts::received]) +
                               (c.most[Counts::messages] + c.most[Counts::moved_calls]) * bytes_of_call;
    Chosen& chosen = moved < native ? m_go : m_stay;
    chosen.variables += 1;
    for (std::size_t n = 0; n < Counts::n; ++n) chosen.counts.sum[n] += c.sum[n];
    return moved < native;
  }

  MPI_Comm m_comm;
  int m_rank = 0;
  const Schema& m_schema;
  std::vector<int> m_aggregators;
  std::size_t m_stripe;
  Format* m_inner; ///< the remap's
  std::unique_ptr<Format> m_remap;
  std::vector<std::optional<bool>> m_moves; ///< of each variable, once it was put
  Chosen m_stay, m_go;
};

} // namespace

Boxes run_boxes(const Schema& schema, std::size_t v, std::size_t aggregators, std::size_t stripe, std::uint64_t begin) {
  const Box whole = whole_box(schema, v);
  const std::size_t size = bytes_of(schema.variables[v].type), total = whole.elements();
  const auto border = [&](std::size_t a) { // the element at which run `a` begins
    if (a == 0 || a == aggregators) return a == 0 ? std::size_t{0} : total;
    const std::uint64_t ideal = begin + total * size * a / aggregators, nearest = (ideal + stripe / 2) / stripe * stripe;
    return std::min<std::size_t>(total, nearest <= begin ? 0 : (nearest - begin) / size);
  };
  Boxes boxes(aggregators);
  for (std::size_t a = 0; a < aggregators; ++a) {
    auto& run = boxes[total * size < stripe ? (a + v) % aggregators : a];
    if (whole.count.empty()) {
      if (a == 0) run.push_back(whole);
    } else {
      append_run(whole, border(a), border(a + 1), run);
    }
  }
  return boxes;
}

std::size_t runs_in(const Box& box, const Box& whole) {
  std::size_t runs = box.elements(), d = box.count.size();
  while (d > 0) {
    runs /= box.count[d - 1]; // of which each is a part of a row, or whole rows
    if (box.count[d - 1] != whole.count[d - 1]) break;
    --d;
  }
  return runs;
}

std::unique_ptr<Format> make_auto(MPI_Comm comm, const Schema& schema, const Options& options, const Topology& topology,
                                  const std::vector<int>& aggregators, std::unique_ptr<Format> inner) {
  return std::make_unique<Auto>(comm, schema, options, topology, aggregators, std::move(inner));
}

} // namespace nunatak::io
