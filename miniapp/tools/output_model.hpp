// The records of a run on a modelled machine (nunatak-step -output): what the ranks send and write
// is the plan of the writer (io/plan.hpp), and queues give the time.
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

#include "kernels/grid/virtual/loggp.hpp"
#include "miniapp/base/option_table.hpp"
#include "miniapp/tools/records.hpp"

#include <string>
#include <vector>

namespace nunatak::tools {

struct OutputOptions {
  std::string methods, variables = "all"; ///< -output, ...
  double every = 0.0;                     ///< years; 0: one record at the end of the steps
  int refine = 1;
  // the machine; rates in bytes per second, times in seconds
  int ranks_per_node = 64, servers = 32;
  double card_rate = 12.5e9, server_rate = 4e9, copy_rate = 2e9, call = 50e-6, file = 0.05;

  void add_to(OptionTable& table) {
    table.section("Records of the run, modelled");
    table.add(text("output", methods,
                   "methods of output to model, a list: direct, pnetcdf, serial, async:S, "
                   "direct/box:1 (none: no output)"));
    table.add(choice("output_vars", variables, "all|state",
                     "variables of a record: those of -o or those of a snapshot"));
    table.add(number("output_every", every, "year",
                     "interval of records in a long run (0: one record after the steps)", 0));
    table.add(number("refine", refine, "",
                     "modelled run: N times as fine, on N x N times the ranks, so that patches "
                     "have as many cells",
                     1, 64));
    table.add(number("ranks_per_node", ranks_per_node, "", "ranks that share a network card", 1));
    table.add(number("servers", servers, "", "storage servers of the file system", 1));
    table.add(number("server_rate", server_rate, "", "bytes per second of a storage server", 1));
    table.add(number("card_rate", card_rate, "", "bytes per second of a node's network card", 1));
    table.add(number("copy_rate", copy_rate, "", "bytes per second that a rank packs", 1));
    table.add(number("write_call", call, "s", "time of a write call beyond that of its bytes", 0));
    table.add(number("file_time", file, "s", "time to create a file and to make it durable", 0));
  }
};

/// The modelled steps of a run.
struct SteppedRun {
  int px = 1, py = 1, Mx = 0, My = 0, Mz = 0; ///< of the run, refined
  bool has_ocean = true;
  double all = 0.0, last = 0.0;         ///< s: all steps, with what follows them; the last step
  double years = 0.0, last_years = 0.0; ///< of all steps and of the last
};

/// A record for each method of output. `machine_file`: "" or the file of -machine, whose constants
/// of output, if it has them, take precedence. Throws Error for a method that has no plan.
std::vector<Record> output_records(OutputOptions options, const std::string& machine_file,
                                   const LogGP& machine, const SteppedRun& run);

} // namespace nunatak::tools
