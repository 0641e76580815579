// miniapp/model/output.hpp: a state variable that is missing is an error.
#include "miniapp/model/model.hpp"
#include "miniapp/model/output.hpp"
#include "miniapp/base/variables.hpp"
#include "tests/io/scratch.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace nunatak;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("a state variable that is missing is an error") {
  const Scratch scratch;
  Options options;
  options.dx = 128e3;
  options.Mz = 5;
  options.stress = "sia";
  options.output = scratch / "result.nc";
  const Log silent(0, false);
  Timers timers;
  Model model(options, MPI_COMM_WORLD, timers, silent);
  const Clock clock(options, model.start_time());
  Output output(options, model, {}, "now", timers, silent);
  model.diagnose(clock.time());
  const FieldList fields = model.fields();
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
        output.finish(clock, without),
        ContainsSubstring("variable '" + std::string(variable.name) + "' is missing"));
  }
  CHECK_FALSE(std::filesystem::exists(scratch / "result.nc"));
}
