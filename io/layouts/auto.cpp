#include "io/layouts/auto.hpp"

#include "io/agree.hpp"
#include "io/formats/runs.hpp"
#include "io/layouts/format_around.hpp"
#include "io/layouts/remap.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace nunatak::io {

namespace {

constexpr std::size_t page = 4096;
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

/// Cost of a record of a variable. Native: calls. Moved: bytes sent, and calls for all bytes.
struct Counts {
  std::int64_t native_calls = 0, sent = 0, bytes = 0;
};
constexpr int n_counts = sizeof(Counts) / sizeof(std::int64_t);

/// Wraps a Remap; values that stay go to the inner format of the Remap.
class Auto final : public FormatAround {
public:
  Auto(MPI_Comm comm, const Schema& schema, const Options& options, const Topology& topology,
       const std::vector<int>& aggregators, std::unique_ptr<Format> inner, const Stripe& stripe)
      : Auto(comm, schema, options, topology, aggregators, *inner.get(), std::move(inner), stripe) {
  }

  void put(std::size_t v, const Hyperslab& slab) override {
    (moves(v, slab) ? *m_inner : m_native).put(v, slab);
  }

  /// Adds the choice as "layout".
  std::map<std::string, std::string> hints() const override {
    std::map<std::string, std::string> hints = FormatAround::hints();
    hints["layout"] =
        m_stay.text("stay", run()) + "; " + m_go.text("move", run()) + "; " + m_stripe.text();
    return hints;
  }

private:
  Auto(MPI_Comm comm, const Schema& schema, const Options& options, const Topology& topology,
       const std::vector<int>& aggregators, Format& native, std::unique_ptr<Format>&& inner,
       const Stripe& stripe)
      : FormatAround(make_remap(
            comm, schema, options, topology, aggregators,
            [this](const Schema&, std::size_t v) { return boxes_of(v); }, std::move(inner))),
        m_comm(comm), m_schema(schema), m_aggregators(aggregators), m_stripe(stripe),
        m_call(static_cast<double>(options.call_cost)), m_native(native),
        m_choices(schema.variables.size()) {}

  /// Totals of the variables that stay, or of those that move.
  struct Chosen {
    std::int64_t variables = 0;
    Counts counts;
    void add(const Counts& more) {
      variables += 1;
      counts.native_calls += more.native_calls;
      counts.sent += more.sent;
      counts.bytes += more.bytes;
    }
    std::string text(const std::string& verb, std::size_t run) const {
      if (variables == 0) return "no variable " + verb + "s";
      const auto n = [](std::int64_t number) { return std::to_string(number); };
      return n(variables) + " variable(s) " + verb + ": " + n(counts.native_calls) +
             " calls and no byte sent, or " +
             n((counts.bytes + static_cast<std::int64_t>(run) - 1) /
               static_cast<std::int64_t>(run)) +
             " calls and " + n(counts.sent) + " bytes sent";
    }
  };

  /// Where the format does not report the offset of a variable: as in packed_layout().
  std::uint64_t begin_of(std::size_t v) const {
    return m_native.first_byte(v).value_or(m_begin[v]);
  }

  /// The boxes of variable v, once the format has defined the file.
  Boxes boxes_of(std::size_t v) {
    if (!m_deal) {
      std::uint64_t end = 0;
      for (std::size_t w = 0; w < m_schema.variables.size(); ++w)
        end = std::max(end, begin_of(w) + m_schema.bytes(m_schema.variables[w]));
      m_deal = deal_of(end, m_aggregators.size(), m_stripe.bytes);
    }
    return run_boxes(m_schema, v, *m_deal, begin_of(v));
  }
  std::size_t run() const { return m_deal ? m_deal->usual : 1; }

  /// Cost on this rank.
  Counts count(std::size_t v, const Hyperslab& slab) {
    Counts counts;
    if (slab.elements() == 0) return counts;
    const Box mine = slab.box(m_schema.has_records(m_schema.variables[v]));
    counts.native_calls = static_cast<std::int64_t>(runs_in(mine, whole_box(m_schema, v)));
    const auto size = static_cast<std::int64_t>(bytes_of(m_schema.variables[v].type));
    counts.bytes = counts.sent = static_cast<std::int64_t>(mine.elements()) * size;
    const auto own = std::find(m_aggregators.begin(), m_aggregators.end(), m_rank);
    if (own == m_aggregators.end()) return counts;
    const Boxes boxes = boxes_of(v);
    for (const Box& box : boxes[static_cast<std::size_t>(own - m_aggregators.begin())])
      counts.sent -= static_cast<std::int64_t>(meet(mine, box).elements()) * size;
    return counts;
  }

  struct Choice {
    Counts counts;
    bool moves = false;
  };

  /// Whether the values of this variable move. Decided once for its shape and type.
  bool moves(std::size_t v, const Hyperslab& slab) {
    const Choice*& choice = m_choices[v];
    if (choice == nullptr) {
      const auto [place, is_new] =
          m_of_shape.try_emplace({whole_box(m_schema, v).count, m_schema.variables[v].type});
      if (is_new) place->second = choose(v, slab);
      choice = &place->second;
      (choice->moves ? m_go : m_stay).add(choice->counts);
    }
    return choice->moves;
  }

  Choice choose(std::size_t v, const Hyperslab& slab) {
    Counts all = count(v, slab);
    MPI_Allreduce(MPI_IN_PLACE, &all, n_counts, MPI_INT64_T, MPI_SUM, m_comm);
    const double native = static_cast<double>(all.native_calls),
                 moved = static_cast<double>(all.bytes) / static_cast<double>(run());
    return {all, native > 1 && static_cast<double>(all.sent) + moved * m_call < native * m_call};
  }

  MPI_Comm m_comm;
  int m_rank = rank_in(m_comm);
  const Schema& m_schema;
  std::vector<int> m_aggregators;
  Stripe m_stripe;
  double m_call;              ///< cost of a call in bytes sent
  std::optional<Deal> m_deal; ///< once the file is defined
  std::vector<std::uint64_t> m_begin = packed_layout(m_schema).begin;
  Format& m_native; ///< the inner format of the remap
  std::map<std::pair<std::vector<std::size_t>, Type>, Choice> m_of_shape;
  std::vector<const Choice*> m_choices; ///< by variable, once it was put
  Chosen m_stay, m_go;
};

} // namespace

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
  const RunLayout layout = packed_layout(schema);
  return run_boxes(schema, v, deal_of(layout.file_size(1), aggregators, stripe), layout.begin[v]);
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
                                  std::unique_ptr<Format> inner, const Stripe& stripe) {
  return std::make_unique<Auto>(comm, schema, options, topology, aggregators, std::move(inner),
                                stripe);
}

} // namespace nunatak::io
