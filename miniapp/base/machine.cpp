#include "miniapp/base/machine.hpp"

#include "common/error.hpp"
#include "miniapp/base/option_table.hpp"

#include <fstream>

namespace nunatak {

namespace {

/// f(key, constant) for every constant; used for writing and for reading.
template <class Machine, class F> void for_each_constant(Machine& m, const F& f) {
  f("L_s", m.L);
  f("o_s", m.o);
  f("g_s", m.g);
  f("G_s_per_byte", m.G);
  f("cores", m.cores);
  f("reduction_step_s", m.step.reduction);
  f("lagged_step_s", m.step.lagged);
  f("gather_all_step_s", m.step.gather_all);
  f("reduction_step_s_per_byte", m.step.reduction_byte);
}

} // namespace

nlohmann::ordered_json to_json(const LogGP& machine) {
  nlohmann::ordered_json json;
  json["work"] = machine.measured_work ? "measured" : "counted";
  for_each_constant(machine, [&](const char* key, const auto& value) { json[key] = value; });
  for (std::size_t n = 0; n < work_kinds; ++n) json["visit_s"][work_names[n]] = machine.visit[n];
  return json;
}

void MachineOptions::add_to(OptionTable& table) {
  table.add(text(
      "machine", file,
      "JSON file of the machine's constants, as printed by calibrate, instead of the four below"));
  table.add(number("loggp_L", given.L, "s", "latency of the network", 0));
  table.add(number("loggp_o", given.o, "s",
                   "overhead of a message, at the sender and at the receiver", 0));
  table.add(number("loggp_g", given.g, "s", "gap: least time between two messages of a rank", 0));
  table.add(number("loggp_G", given.G, "s", "time per byte", 0));
  table.add(one_of_two("work", given.measured_work, "measured", "counted",
                       "work of virtual ranks: the time of their loops in this process, or visits "
                       "of cells"));
}

nlohmann::json MachineOptions::contents() const {
  std::ifstream stream(file);
  if (!stream) throw Error("file '" + file + "': cannot be read");
  nlohmann::json json = nlohmann::json::parse(stream, nullptr, false);
  if (json.is_discarded())
    throw Error("file '" + file + "': expected the constants of a machine, found no JSON");
  return json;
}

LogGP MachineOptions::machine() const {
  if (file.empty()) return given;
  const nlohmann::json json = contents();
  LogGP machine;
  machine.measured_work = given.measured_work;
  try {
    const nlohmann::json& constants = json.at("machine");
    for_each_constant(machine, [&](const char* key, auto& value) {
      constants.at(key).get_to(value);
      if (!(value >= 0)) throw Error(std::string(key) + ": expected 0 or more");
    });
    if (!constants.contains("visit_s")) return machine; // calibrate measures the network alone
    const nlohmann::json& visits = constants.at("visit_s");
    for (std::size_t n = 0; n < work_kinds; ++n) {
      const auto& one = visits.is_number() ? visits : visits.at(work_names[n]); // number: of all
      one.get_to(machine.visit[n]);
      if (!(machine.visit[n] >= 0)) throw Error("visit_s: expected 0 or more");
    }
  } catch (const std::exception& e) {
    throw Error("file '" + file + "': expected the constants of a machine, found: " + e.what());
  }
  return machine;
}

void MachineOptions::read_output(const char* key, double& value, bool zero) const {
  if (file.empty()) return;
  const nlohmann::json json = contents();
  if (!json.is_object() || !json.contains("output") || !json["output"].contains(key)) return;
  const nlohmann::json& found = json["output"][key];
  if (!found.is_number() || !(found.get<double>() > 0.0 || (zero && found.get<double>() == 0.0)))
    throw Error("file '" + file + "', output, " + key + ": expected a number " +
                (zero ? "of 0 or more" : "above 0") + ", found " + found.dump());
  value = found.get<double>();
}

} // namespace nunatak
