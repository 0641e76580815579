// nunatak-join: one file of the pieces that -io_layout file-per-aggregator has written.
//
//   nunatak-join -i run.nc -o joined.nc          reads run.nc.0000, run.nc.0001, ...
//   mpiexec -n 4 nunatak-join -i run.nc -o joined.nc -io_format netcdf4 -io_deflate 1
//
// Neighbours: io/layouts/join.hpp (what it does), tool.hpp (main of all tools).
#include "io/error.hpp"
#include "io/layouts/join.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/base/paths.hpp"
#include "miniapp/tools/tool.hpp"

#include <iostream>

using namespace nunatak;
using namespace nunatak::tools;

namespace {

struct JoinOptions {
  std::string input, output;
  std::vector<std::string> knobs; ///< text of each of io::knobs()

  void add_to(OptionTable& table) {
    table.group("Files");
    table.add("i", &input, "", "the name without its number: run.nc for run.nc.0000, run.nc.0001, ...");
    table.add("o", &output, "", "the file to write");
    table.group("How it is written");
    for (const io::Knob& knob : io::knobs()) knobs.push_back(io::knob_text(io::Options(), knob));
    for (std::size_t k = 0; k < knobs.size(); ++k) {
      const io::Knob& knob = io::knobs()[k];
      const std::string words = knob.words;
      table.add(std::string("io_") + knob.name, &knobs[k], "", knob.doc + (words.empty() ? "" : ": " + words));
    }
  }

  io::Options how() const {
    io::Options options;
    for (std::size_t k = 0; k < knobs.size(); ++k) {
      const io::Knob& knob = io::knobs()[k];
      if (!knobs[k].empty()) io::set_knob(options, knob, knobs[k], std::string("option -io_") + knob.name);
    }
    return options;
  }
};

void run(const JoinOptions& options, MPI_Comm comm) {
  if (options.input.empty() || options.output.empty())
    throw Error("options -i and -o: expected the name of the pieces and of the file to write, found none");
  require_writable(comm, "-o", options.output);
  const io::Joined joined = io::join(comm, options.input, options.output, options.how());
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) {
    std::cout << "joined " << joined.pieces << " pieces of " << options.input << ", " << joined.records
              << " record(s): " << options.output << std::endl;
  }
}

} // namespace

int main(int argc, char** argv) {
  return run_tool(argc, argv, "nunatak-join", [&](MPI_Comm comm) {
    JoinOptions options;
    OptionTable table("nunatak-join: one file of the pieces of a layout file-per-aggregator",
                      "nunatak-join -i run.nc -o joined.nc");
    options.add_to(table);
    table.read(argc, argv);
    if (!table.help_wanted()) return run(options, comm);
    print_help(table, comm);
  });
}
