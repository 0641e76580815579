// The records of a run on a modelled machine (nunatak-step -output): what the ranks send and write
// is the plan of the writer (io/write/plan.hpp), and queues give the time.
//
//   rank   --message-->  card of its node  ----------->  card of the other node
//   rank   --call----->  card of its node  ----------->  storage server of the stripe --answer-->
//   rank
//
// A rank makes one call after the other; cards and servers serve in the order of arrival, each at
// its rate, in both directions at once. Packing takes its time before a call. A call of the file
// system takes `call` more; consecutive calls of a rank below 64 KiB are taken together. Messages
// between two writes take as long as the busiest card. Output servers have cards of their own; they
// receive the next batch while they write one, and write while the next steps compute.
//
//   sync     | steps            | record     | steps            | record     |
//   async    | steps            |post| steps            |post|
//   server                      | receive, write     |   | receive, write     |
//
// Not modelled: locks and caches of the file system, other users, reads.
#pragma once

#include "kernels/grid/patch.hpp"
#include "miniapp/base/machine.hpp"
#include "miniapp/base/option_table.hpp"
#include "miniapp/base/records.hpp"

#include <functional>
#include <string>
#include <vector>

namespace nunatak::io {
class PlanWatch;
struct Topology;
} // namespace nunatak::io

namespace nunatak::bench {

struct OutputOptions {
  std::string methods; ///< -output, a list
  double every = 0.0;  ///< years; 0: one record at the end of the steps
  int refine = 1, ranks_per_node = 64, servers = 32;
  double server_rate = 4e9, call = 50e-6, file = 0.05; ///< bytes per second; s; s
  /// Bytes per second of a node's card (0: 1/G), and that a rank packs; from the file of -machine.
  double card_rate = 0.0, copy_rate = 2e9;

  void add_to(OptionTable& table) {
    table.section("Records of the run, modelled (-machine takes precedence)");
    table.add(text("output", methods,
                   "methods of output, a list: direct, direct/box:1, pnetcdf, serial, async:S"));
    table.add(number("output_every", every, "year",
                     "interval of records in a long run (0: one record after the steps)", 0));
    table.add(
        number("refine", refine, "",
               "refinement of the modelled run: N times the points along x and y, N x N times "
               "the ranks",
               1, 64));
    table.add(number("ranks_per_node", ranks_per_node, "", "ranks that share a network card", 1));
    table.add(number("servers", servers, "", "storage servers of the file system", 1, 1e6));
    table.add(number("server_rate", server_rate, "", "bytes per second of a storage server", 1));
    table.add(number("write_call", call, "s", "time of a write call beyond that of its bytes", 0));
    table.add(number("file_time", file, "s", "time to create a file and to make it durable", 0));
  }
};

/// The modelled steps of a run.
struct SteppedRun {
  Decomposition cut;
  int Mz = 0;
  bool has_ocean = true;
  double all = 0.0, last = 0.0;         ///< s: all steps, with what follows them; the last step
  double years = 0.0, last_years = 0.0; ///< of all steps and of the last
  double steps = 0.0;                   ///< that were made
};

/// A record for each method of output; `machine`: as given by options or its file. Throws Error for
/// a method that has no plan.
std::vector<Record> output_records(OutputOptions options, const MachineOptions& machine,
                                   const SteppedRun& run);

/// Seconds that the busiest card or storage server needs for what `plan` sends and writes, without
/// a pause and a card in both directions at once: the least time, in any order. `stripe`: bytes.
double least_seconds(const OutputOptions& options, const io::Topology& nodes, std::size_t stripe,
                     const std::function<void(io::PlanWatch&)>& plan);

} // namespace nunatak::bench
