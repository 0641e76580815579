#include "io/layouts/auto.hpp"

#include "io/agree.hpp"
#include "io/formats/runs.hpp"
#include "io/layouts/remap.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace nunatak::io {

namespace {

constexpr std::size_t page = 4096;
/// A call of the file system takes as long as sending this many bytes.
constexpr double call_cost = 8 << 10;
constexpr std::size_t runs_each = 8; ///< per aggregator and record

/// The elements first <= n < last of a box in row-major order, as boxes.
void append_run(const Box& box, std::size_t first, std::size_t last, std::vector<Box>& boxes,
                std::size_t d = 0) {
  if (first >= last) return;
  std::size_t row = 1;
  for (std::size_t e = d + 1; e < box.count.size(); ++e) row *= box.count[e];
  const std::size_t whole = (first + row - 1) / row, end = last / row; // rows
  const auto part = [&](std::size_t index, std::size_t begin, std::size_t stop) {
    Box one = box;
    one.start[d] += index;
    one.count[d] = 1;
    append_run(one, begin, stop, boxes, d + 1);
  };
  if (whole > end) return part(end, first % row, last % row); // within one row
  if (first % row != 0) part(whole - 1, first % row, row);
  if (end > whole) {
    boxes.push_back(box);
    boxes.back().start[d] += whole;
    boxes.back().count[d] = end - whole;
  }
  if (last % row != 0) part(end, 0, last % row);
}

/// Gives the one DealtFile of a file, from its definition on.
using DealtOnce = std::function<const DealtFile&()>;

class ByCost final : public Choice {
public:
  ByCost(MPI_Comm comm, const Schema& schema, const std::vector<int>& aggregators,
         std::size_t stripe, DealtOnce file)
      : m_comm(comm), m_schema(schema), m_aggregators(aggregators), m_stripe(stripe),
        m_file(std::move(file)), m_costs(schema.variables.size()) {}

  bool moves(std::size_t v, const Hyperslab& slab) override {
    const Cost*& cost = m_costs[v];
    if (cost == nullptr) {
      const auto [place, is_new] =
          m_of_shape.try_emplace({whole_box(m_schema, v).count, m_schema.variables[v].type});
      if (is_new) place->second = cost_of(v, slab);
      cost = &place->second;
      Totals& totals = cost->moves ? m_move : m_stay;
      totals.variables += 1;
      totals.calls += cost->calls;
      totals.sent += cost->sent;
    }
    return cost->moves;
  }

  std::string text() const override {
    const auto n = [](std::int64_t number) { return std::to_string(number); };
    return n(m_stay.variables) + " variable(s) stay: " + n(m_stay.calls) + " calls; " +
           n(m_move.variables) + " variable(s) move: " + n(m_move.sent) +
           " bytes sent instead of " + n(m_move.calls) + " calls; stripes of " +
           std::to_string(m_stripe) + " bytes";
  }

private:
  /// Of all ranks together.
  struct Cost {
    std::int64_t calls = 0, sent = 0; ///< native calls; bytes sent if the values move
    bool moves = false;
  };

  /// From what all ranks have of a variable: one small reduction for its shape and type.
  Cost cost_of(std::size_t v, const Hyperslab& slab) {
    const DealtFile& file = m_file();
    MoveCounts counts;
    if (slab.elements() > 0) {
      const auto own = std::find(m_aggregators.begin(), m_aggregators.end(), rank_in(m_comm));
      const auto a = static_cast<std::size_t>(own - m_aggregators.begin());
      counts =
          move_counts(m_schema, v, slab.box(m_schema.has_records(m_schema.variables[v])),
                      own == m_aggregators.end() ? std::vector<Box>() : file.boxes(m_schema, v)[a]);
    }
    MPI_Allreduce(MPI_IN_PLACE, &counts, 3, MPI_INT64_T, MPI_SUM, m_comm);
    return {counts.calls, counts.sent, pays_to_move(counts, file.deal)};
  }

  struct Totals {
    std::int64_t variables = 0, calls = 0, sent = 0;
  };
  MPI_Comm m_comm;
  const Schema& m_schema;
  std::vector<int> m_aggregators;
  std::size_t m_stripe;
  DealtOnce m_file;
  std::map<std::pair<std::vector<std::size_t>, Type>, Cost> m_of_shape;
  std::vector<const Cost*> m_costs; ///< of each variable, once it was put
  Totals m_stay, m_move;
};

} // namespace

DealtFile::DealtFile(const Schema& schema, std::vector<std::uint64_t> begin_,
                     std::size_t aggregators, std::size_t stripe)
    : begin(std::move(begin_)) {
  std::uint64_t end = 0;
  for (std::size_t v = 0; v < begin.size(); ++v)
    end = std::max<std::uint64_t>(end, begin[v] + schema.bytes(schema.variables[v]));
  deal = deal_of(end, aggregators, stripe);
}

MoveCounts move_counts(const Schema& schema, std::size_t v, const Box& mine,
                       const std::vector<Box>& own) {
  const auto size = static_cast<std::int64_t>(bytes_of(schema.variables[v].type));
  MoveCounts counts;
  counts.calls = static_cast<std::int64_t>(runs_in(mine, whole_box(schema, v)));
  counts.bytes = counts.sent = static_cast<std::int64_t>(mine.elements()) * size;
  for (const Box& box : own)
    counts.sent -= static_cast<std::int64_t>(meet(mine, box).elements()) * size;
  return counts;
}

bool pays_to_move(const MoveCounts& counts, const Deal& deal) {
  const double moved_calls = static_cast<double>(counts.bytes) / static_cast<double>(deal.usual);
  return counts.calls > 1 && static_cast<double>(counts.sent) + moved_calls * call_cost <
                                 static_cast<double>(counts.calls) * call_cost;
}

Deal deal_of(std::uint64_t end, std::size_t aggregators, std::size_t stripe) {
  Deal deal;
  deal.aggregators = aggregators;
  const std::uint64_t wanted =
      std::min<std::uint64_t>(default_stripe, end / aggregators / runs_each);
  deal.run = stripe * std::max<std::size_t>(1, wanted / stripe);
  const auto up_to = [](std::uint64_t bytes, std::uint64_t unit) {
    return (bytes + unit - 1) / unit * unit;
  };
  deal.head = up_to(end % (aggregators * deal.run), deal.run);
  deal.piece = up_to(
      std::max<std::uint64_t>(1, (std::min(deal.head, end) + aggregators - 1) / aggregators), page);
  deal.usual = end < aggregators * deal.run ? deal.piece : deal.run;
  return deal;
}

Deal::Part Deal::part_at(std::uint64_t byte) const {
  if (byte < head)
    return {std::min<std::uint64_t>(head, (byte / piece + 1) * piece), byte / piece % aggregators};
  const std::uint64_t n = (byte - head) / run;
  return {head + (n + 1) * run, n % aggregators};
}

Boxes run_boxes(const Schema& schema, std::size_t v, const Deal& deal, std::uint64_t begin) {
  const Box whole = whole_box(schema, v);
  const std::size_t size = bytes_of(schema.variables[v].type), total = whole.elements();
  const std::uint64_t end = begin + total * size;
  Boxes boxes(deal.aggregators);
  if (whole.count.empty()) {
    boxes[deal.part_at(begin).aggregator] = {whole};
    return boxes;
  }
  const auto border = [&](std::uint64_t byte) { // the element that begins at or contains it
    return std::min<std::size_t>(total, (byte - begin) / size);
  };
  for (std::uint64_t byte = begin; byte < end;) {
    const Deal::Part part = deal.part_at(byte);
    append_run(whole, border(byte), border(part.end), boxes[part.aggregator]);
    byte = part.end;
  }
  return boxes;
}

Boxes auto_boxes(const Schema& schema, std::size_t v, std::size_t aggregators, std::size_t stripe) {
  return DealtFile(schema, begins_of(packed_layout(schema)), aggregators, stripe).boxes(schema, v);
}

std::size_t runs_in(const Box& box, const Box& whole) {
  std::size_t runs = box.elements(), d = box.count.size();
  while (d > 0) {
    runs /= box.count[d - 1]; // runs that are part of a row, or whole rows
    if (box.count[d - 1] != whole.count[d - 1]) break;
    --d;
  }
  return runs;
}

std::unique_ptr<Format> make_auto(MPI_Comm comm, const Schema& schema, const Options& options,
                                  const Topology& topology, const std::vector<int>& aggregators,
                                  std::unique_ptr<Format> inner, std::size_t stripe) {
  const DealtOnce file = [made = std::make_shared<std::optional<DealtFile>>(), &schema,
                          n = aggregators.size(), stripe, &native = *inner]() -> const DealtFile& {
    if (!*made) {
      std::vector<std::uint64_t> begin = begins_of(packed_layout(schema));
      for (std::size_t v = 0; v < begin.size(); ++v)
        begin[v] = native.first_byte(v).value_or(begin[v]);
      made->emplace(schema, begin, n, stripe);
    }
    return **made;
  };
  const BoxesOf boxes = [file](const Schema& of, std::size_t v) { return file().boxes(of, v); };
  auto choice = std::make_unique<ByCost>(comm, schema, aggregators, stripe, file);
  return make_remap(comm, schema, options, topology, aggregators, boxes, std::move(inner),
                    std::move(choice));
}

} // namespace nunatak::io
