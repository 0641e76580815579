// nunatak-join: joins the subfiles written with -io_layout file-per-aggregator into one file.
//
//   nunatak-join -i run.nc -o joined.nc          reads run.nc.0000, run.nc.0001, ...
//   mpiexec -n 4 nunatak-join -i run.nc -o joined.nc -io_format netcdf4 -io_deflate 1
//
// Neighbour: io/write/join.hpp.
#include "common/error.hpp"
#include "io/durable/manifest.hpp"
#include "io/write/join.hpp"
#include "miniapp/base/io_options.hpp"
#include "miniapp/base/mpi_ranks.hpp"
#include "miniapp/base/paths.hpp"
#include "miniapp/base/program.hpp"

#include <iostream>

using namespace nunatak;

namespace {

struct JoinOptions {
  std::string input, output;
  bool verify = true;
  io::Options how;
};

void run(const JoinOptions& options) {
  if (options.input.empty() || options.output.empty())
    throw Error("options -i and -o: expected both, found '" + options.input + "' and '" +
                options.output + "'");
  World().on_rank_0([&] {
    check_files(
        {{"-i", options.input, FileUse::subfiles}, {"-o", options.output, FileUse::netcdf}});
  });
  if (options.verify) {
    try {
      io::require_intact(world_comm(), options.input, true);
    } catch (const Error& error) { // on all ranks
      throw Error(std::string(error.what()) + "; -i_verify no joins it all the same");
    }
  }
  const io::Joined joined = io::join(world_comm(), options.input, options.output, options.how);
  if (World().rank() == 0) {
    std::cout << "joined " << joined.subfiles << " subfiles of " << options.input << ", "
              << joined.records << " record(s): " << options.output << std::endl;
  }
}

} // namespace

int main(int argc, char** argv) {
  return run_program(argc, argv, "nunatak-join", [&](Libraries&) {
    JoinOptions options;
    OptionTable table(
        "nunatak-join: joins the subfiles of -io_layout file-per-aggregator into one file",
        "nunatak-join -i run.nc -o joined.nc");
    table.section("Files");
    table.add(text("i", options.input,
                   "name without its number: run.nc for run.nc.0000, run.nc.0001, ..."));
    table.add(flag("i_verify", options.verify,
                   "verification of the subfiles against the checksums in manifest.jsonl, if there "
                   "are any"));
    table.add(text("o", options.output, "file to write"));
    add_io_options(table, options.how);
    if (table.read(argc, argv)) run(options);
  });
}
