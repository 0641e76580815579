// output_model.hpp in programs without the io room.
#include "common/error.hpp"
#include "miniapp/bench/output_model.hpp"

namespace nunatak::bench {

std::vector<Record> output_records(OutputOptions, const MachineOptions&, const SteppedRun&) {
  throw Error("option -output: this program was built without NetCDF");
}

} // namespace nunatak::bench
