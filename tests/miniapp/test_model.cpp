// miniapp/model/model.hpp with output.hpp: a few steps, a file, and a run that goes on from it. A
// state variable that is missing from what is to be written is an error; the labels of arrays do
// not matter.
#include "io/reader.hpp"
#include "miniapp/model/model.hpp"
#include "miniapp/model/output.hpp"
#include "miniapp/model/summary.hpp"
#include "miniapp/model/variables.hpp"
#include "tests/io/scratch.hpp"
#include "tests/kernels/cells.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace nunatak;
using Catch::Matchers::ContainsSubstring;

namespace {

const Log silent(0, false);

Options marine(const std::string& output) {
  Options options;
  options.dx = 128e3;
  options.Mz = 5;
  options.stress = "sia";
  options.run_steps = 3;
  options.output = output;
  return options;
}

/// A model and its output after the steps that `options` ask for; the volume of ice in `scalars`.
struct Run {
  explicit Run(Options wanted)
      : options(std::move(wanted)), model(options, MPI_COMM_WORLD, timers, silent),
        clock(options, model.start_time()), output(options, model, {}, "now", timers, silent) {
    Summary summary(model.grid(), model.ranks(), model.state());
    while (!clock.finished()) {
      model.diagnose(clock.time());
      const double dt = clock.longest_step(model.stable_step().dt);
      model.advance(dt);
      clock.advance(dt);
      summary.add(model.hybrid(), dt); // throws if the mass budget does not close
    }
    model.diagnose(clock.time());
  }
  Options options;
  Timers timers;
  Model model;
  Clock clock;
  Output output;
};

/// The largest difference of two arrays in owned cells, over all ranks.
double difference(const Patch& p, const Array2<double>& a, const Array2<double>& b) {
  double most = 0.0;
  for (const auto& [j, i] : cells_of(p)) most = std::max(most, std::fabs(a(j, i) - b(j, i)));
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

} // namespace

TEST_CASE("a model goes on from its own file as if it had not stopped") {
  const Scratch scratch;
  Run first(marine(scratch / "first.nc"));
  first.output.finish(first.clock, [&] { return first.model.fields(); });

  Options more = marine("");
  more.input = scratch / "first.nc";
  more.dx = 0.0;
  const Run second(more);
  Options longer = marine("");
  longer.run_steps = 6;
  const Run whole(longer);
  const State &a = second.model.state(), &b = whole.model.state();
  const Patch patch = first.model.grid().decomposition.patch(rank_in(MPI_COMM_WORLD));
  CHECK(second.clock.time() == whole.clock.time());
  CHECK(difference(patch, a.thk, b.thk) == 0.0);
  CHECK(difference(patch, a.usurf, b.usurf) == 0.0);
  CHECK(difference(patch, a.thk, first.model.state().thk) > 0.0);
}

TEST_CASE("a state variable that is missing is an error, whatever arrays are called") {
  const Scratch scratch;
  Run run(marine(scratch / "result.nc"));
  const FieldList fields = run.model.fields();
  for (const VariableInfo& variable : variables()) {
    if (variable.role == Role::diagnostic) continue;
    INFO(variable.name);
    REQUIRE(find(fields, variable.name) != nullptr);
    const auto without = [&] {
      FieldList rest;
      for (const Field& field : fields) {
        if (field.name != variable.name) rest.push_back(field);
      }
      return rest;
    };
    CHECK_THROWS_WITH(
        run.output.finish(run.clock, without),
        ContainsSubstring("variable '" + std::string(variable.name) + "' is missing"));
  }
  CHECK_FALSE(std::filesystem::exists(scratch / "result.nc"));

  // the same arrays under other labels: what a scratch array is called decides nothing
  const auto relabelled = [&] {
    FieldList other = run.model.fields();
    const auto thk = std::get<Array2<double>>(find(other, "thk")->array);
    const Array2<double> copy("topg", thk.extent(0), thk.extent(1));
    Kokkos::deep_copy(copy, thk);
    for (Field& field : other) {
      if (field.name == "thk") field.array = copy;
    }
    return other;
  };
  run.output.finish(run.clock, relabelled);
  const Patch p = run.model.ranks().patch();
  const auto size = [](int n) { return static_cast<std::size_t>(n); };
  const io::Reader in(scratch / "result.nc", MPI_COMM_WORLD);
  const auto thk = in.read_record("thk", {size(p.ys), size(p.xs)}, {size(p.ym), size(p.xm)});
  int wrong = 0;
  for (const auto& [j, i] : points_of(p.xm, p.ym))
    wrong += thk[size(j * p.xm + i)] != run.model.state().thk(j + 1, i + 1);
  CHECK(wrong == 0);
}
