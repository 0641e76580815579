#include "miniapp/bench/output_model.hpp"

#include "common/error.hpp"
#include "common/text.hpp"
#include "io/formats/runs.hpp"
#include "io/layouts/partition.hpp"
#include "io/write/plan.hpp"
#include "io/write/servers.hpp"
#include "miniapp/base/variables.hpp"

#include <algorithm>
#include <map>
#include <queue>

namespace nunatak::bench {

namespace {

std::size_t size(int n) { return static_cast<std::size_t>(n); }

/// The variables of a record in the order in which nunatak puts them, without attributes.
io::Schema schema_of(const SteppedRun& run) {
  io::Schema schema;
  schema.dimensions = {{"time", io::unlimited},
                       {"y", size(run.cut.My), true},
                       {"x", size(run.cut.Mx), true},
                       {"z", size(run.Mz)}};
  const auto add = [&](const char* name, io::Type type, std::vector<std::string> dimensions) {
    schema.variables.push_back({name, type, std::move(dimensions), {}});
  };
  const io::Type real = io::Type::float64, integer = io::Type::int32;
  for (const char* axis : {"x", "y", "z"}) add(axis, real, {axis});
  add("mapping", integer, {});
  for (const char* place : {"lat", "lon", "cell_area"}) add(place, real, {"y", "x"});
  add("time", real, {"time"});
  for (const VariableInfo& v : variables()) {
    const std::string name = v.name;
    const bool of_ocean = v.role == Role::ocean || name.rfind("pico_", 0) == 0;
    if (name.rfind("ssa_residual", 0) == 0 || (of_ocean && !run.has_ocean)) continue;
    const bool is_column = v.kind == Kind::columns;
    add(v.name, v.kind == Kind::integers ? integer : real,
        is_column ? std::vector<std::string>{"time", "y", "x", "z"}
                  : std::vector<std::string>{"time", "y", "x"});
  }
  return schema;
}

/// Every rank has its patch; what is not on the map has rank 0.
io::Parts parts_of(const io::Box& whole, const Decomposition& cut) {
  if (whole.count.size() < 2) return io::make_parts({{0, whole}});
  std::vector<io::Part> parts;
  for (int r = 0; r < cut.size(); ++r) {
    const Patch p = cut.patch(r);
    io::Box& box = parts.emplace_back(io::Part{r, whole}).box;
    box.start[0] = size(p.ys);
    box.start[1] = size(p.xs);
    box.count[0] = size(p.ym);
    box.count[1] = size(p.xm);
  }
  return io::make_parts(std::move(parts));
}

/// Counts a plan and times its phases.
class Queues final : public io::PlanWatch {
public:
  struct Phase {
    double exchange = 0.0, write = 0.0; ///< s
    double bytes = 0.0;                 ///< of its messages
  };
  std::vector<Phase> phases;
  std::int64_t messages = 0, message_bytes = 0, off_node_bytes = 0, calls = 0, bytes = 0;

  Queues(const OutputOptions& o, const LogGP& machine, const io::Topology& nodes, int servers,
         std::size_t stripe)
      : m_o(o), m_machine(machine), m_nodes(nodes), m_stripe(stripe),
        m_ranks(static_cast<int>(nodes.node_of.size())), m_of_rank(size(m_ranks + servers)),
        m_sent(size(nodes.n_nodes + servers), 0.0), m_received(m_sent),
        m_busy(2 * m_sent.size() + size(o.servers), 0.0) {}

  /// See least_seconds().
  double least() const { return *std::max_element(m_busy.begin(), m_busy.end()); }

  void message(int from, int to, std::int64_t n) override {
    messages += 1;
    message_bytes += n;
    m_now.bytes += static_cast<double>(n);
    for (const int rank : {from, to}) {
      OfRank& one = touch(rank);
      one.seconds += m_machine.o + static_cast<double>(n) / m_o.copy_rate;
      m_now.exchange = std::max(m_now.exchange, one.seconds);
    }
    if (node_of(from) == node_of(to)) return;
    if (to < m_ranks) off_node_bytes += n;
    const double time = static_cast<double>(n) / m_o.card_rate;
    m_busiest =
        std::max({m_busiest, m_sent[node_of(from)] += time, m_received[node_of(to)] += time});
    m_busy[node_of(from)] += time;
    m_busy[m_sent.size() + node_of(to)] += time;
  }

  void write(int rank, std::uint64_t begin, std::uint64_t n) override {
    constexpr double together = 64 << 10;
    calls += 1;
    bytes += static_cast<std::int64_t>(n);
    m_busy[node_of(rank)] += static_cast<double>(n) / m_o.card_rate;
    std::vector<Request>& requests = touch(rank).requests;
    for (const std::uint64_t end = begin + n; begin < end;) {
      const std::uint64_t stop = std::min(end, (begin / m_stripe + 1) * m_stripe);
      const auto part = static_cast<double>(stop - begin);
      const int ended = stop == end ? 1 : 0; // a call may have several stripes
      const std::size_t server = begin / m_stripe % size(m_o.servers);
      m_busy[2 * m_sent.size() + server] += part / m_o.server_rate;
      if (!requests.empty() && requests.back().bytes + part <= together) {
        requests.back().bytes += part;
        requests.back().calls += ended;
      } else {
        requests.push_back({part, ended, server});
      }
      begin = stop;
    }
  }

  void next() override {
    if (m_busiest > 0.0) m_busiest += m_machine.L;
    m_now.exchange = std::max(m_now.exchange, m_busiest);
    m_now.write = serve();
    if (m_now.exchange + m_now.write > 0.0) phases.push_back(m_now);
    for (const int rank : m_touched) {
      m_of_rank[static_cast<std::size_t>(rank)] = {};
      m_sent[node_of(rank)] = m_received[node_of(rank)] = 0.0;
    }
    m_touched.clear();
    m_now = {};
    m_busiest = 0.0;
  }

private:
  struct Request {
    double bytes;
    int calls;
    std::size_t server;
  };
  struct OfRank {
    double seconds = 0.0; ///< of its messages
    std::vector<Request> requests;
    std::size_t done = 0;
    bool is_touched = false;
  };

  std::size_t node_of(int rank) const {
    return size(rank < m_ranks ? m_nodes.node_of[size(rank)] : m_nodes.n_nodes + rank - m_ranks);
  }
  OfRank& touch(int rank) {
    OfRank& one = m_of_rank[static_cast<std::size_t>(rank)];
    if (!std::exchange(one.is_touched, true)) m_touched.push_back(rank);
    return one;
  }

  /// The time until all requests are answered.
  double serve() {
    using Event = std::pair<double, int>; // a rank is free
    std::priority_queue<Event, std::vector<Event>, std::greater<>> free;
    std::vector<double> card(m_sent.size(), 0.0),
        server(static_cast<std::size_t>(m_o.servers), 0.0);
    for (const int rank : m_touched) free.push({0.0, rank});
    double end = 0.0;
    while (!free.empty()) {
      const auto [time, rank] = free.top();
      free.pop();
      OfRank& one = m_of_rank[static_cast<std::size_t>(rank)];
      if (one.done == one.requests.size()) continue;
      const Request& request = one.requests[one.done++];
      double &sent = card[node_of(rank)], &stored = server[request.server];
      const double begin = std::max(time + request.bytes / m_o.copy_rate, sent);
      sent = begin + request.bytes / m_o.card_rate;
      stored = std::max(sent, std::max(begin, stored) + request.bytes / m_o.server_rate);
      free.push({stored + request.calls * m_o.call, rank});
      end = std::max(end, stored + request.calls * m_o.call);
    }
    return end;
  }

  const OutputOptions& m_o;
  const LogGP& m_machine;
  const io::Topology& m_nodes;
  std::size_t m_stripe;
  int m_ranks;
  std::vector<OfRank> m_of_rank;
  std::vector<double> m_sent, m_received; ///< by node: s of its card in this phase
  std::vector<double> m_busy; ///< s in all: cards that send, that receive, storage servers
  std::vector<int> m_touched; ///< ranks with something in this phase
  double m_busiest = 0.0;
  Phase m_now;
};

/// What a run sees of a record, and how long until it is durable after that.
struct Times {
  double visible = 0.0, drain = 0.0;
};

Times sync_times(const Queues& queues, double file) {
  Times times{file, 0.0};
  for (const Queues::Phase& phase : queues.phases) times.visible += phase.exchange + phase.write;
  return times;
}

/// `post`: s in which a rank packs; `pools`: bytes that all ranks can have on their way.
Times async_times(const Queues& queues, double file, double post, double pools) {
  double left = -pools, received = 0.0, written = file, visible = post;
  double free = 0.0, last = 0.0; // when the batch before the last one was written, and the last one
  for (const Queues::Phase& phase : queues.phases) left += phase.bytes;
  for (const Queues::Phase& phase : queues.phases) {
    received = std::max(received, free) + phase.exchange;
    if (left > 0.0) visible = std::max(visible, received);
    left -= phase.bytes;
    written = std::max(written, received) + phase.write;
    free = std::exchange(last, written);
  }
  return {visible, std::max(0.0, written - visible)};
}

} // namespace

std::vector<Record> output_records(OutputOptions o, const MachineOptions& machine_options,
                                   const SteppedRun& run) {
  const LogGP machine = machine_options.machine();
  machine_options.read_output("card_rate", o.card_rate);
  machine_options.read_output("server_rate", o.server_rate);
  machine_options.read_output("copy_rate", o.copy_rate);
  machine_options.read_output("write_call_s", o.call, true);
  machine_options.read_output("file_s", o.file, true);
  if (o.card_rate == 0.0) o.card_rate = 1.0 / machine.G;
  const io::Schema schema = schema_of(run);
  const Decomposition& d = run.cut;
  const io::Topology nodes = io::runs_of_nodes(d.size(), o.ranks_per_node);
  std::vector<io::Parts> parts;
  std::map<io::Indices, io::Parts> of_shape;
  for (std::size_t v = 0; v < schema.variables.size(); ++v) {
    const io::Box whole = io::whole_box(schema, v);
    io::Parts& same = of_shape[whole.count];
    if (same == nullptr) same = parts_of(whole, d);
    parts.push_back(same);
  }
  const double steps = o.every > 0.0 ? o.every / run.last_years : 0.0;
  const double years = steps > 0.0 ? o.every : run.years,
               compute = steps > 0.0 ? steps * run.last : run.all;
  std::vector<Record> records;
  for (const std::string& method : split(o.methods, ',')) {
    const bool is_async = method.rfind("async:", 0) == 0;
    const io::Options options =
        io::parse_method(is_async ? "direct/transport=" + method : method, {});
    const int servers = io::parse_transport(options.transport);
    const io::Stripes stripes{io::stripe_of(options.stripe)};
    Queues queues(o, machine, nodes, servers, stripes.bytes);
    if (!io::plan_records(schema, io::packed_layout(schema), options, nodes, stripes, parts, 1,
                          queues))
      throw Error("option -output: expected direct into one file, serial, pnetcdf, hybrid or "
                  "async:S, whose messages and writes are known, found '" +
                  method + "'");
    const double post = static_cast<double>(queues.bytes) / d.size() / o.copy_rate;
    const Times t = servers > 0 ? async_times(queues, o.file, post,
                                              static_cast<double>(options.pool) * d.size())
                                : sync_times(queues, o.file);
    // a long run waits for the last record if it takes longer than the steps
    const double durable = compute + t.visible + t.drain,
                 whole = steps > 0.0 ? std::max(compute + t.visible, t.drain) : durable;
    const double longest = std::max(9.0 * t.visible, 0.9 * t.drain); // steps with 10 % of output
    records.push_back({{"ranks", d.size()},
                       {"px", d.px},
                       {"py", d.py},
                       {"method", method},
                       {"servers", servers},
                       {"written_bytes", queues.bytes},
                       {"written_operations", queues.calls},
                       {"messages", queues.messages},
                       {"message_bytes", queues.message_bytes},
                       {"off_node_bytes", queues.off_node_bytes},
                       {"compute_s", compute},
                       {"output_s", t.visible},
                       {"drain_s", t.drain},
                       {"least_s", queues.least()},
                       {"run_s", durable},
                       {"years", years},
                       {"steps", steps > 0.0 ? steps : run.steps},
                       {"sypd_without_output", 86400.0 * years / compute},
                       {"sypd", 86400.0 * years / whole},
                       {"output_percent", 100.0 * (whole - compute) / whole},
                       {"years_for_10_percent", years / compute * longest}});
  }
  return records;
}

double least_seconds(const OutputOptions& options, const io::Topology& nodes, std::size_t stripe,
                     const std::function<void(io::PlanWatch&)>& plan) {
  const LogGP no_matter;
  Queues queues(options, no_matter, nodes, 0, stripe);
  plan(queues);
  return queues.least();
}

} // namespace nunatak::bench
