#include "miniapp/base/io_options.hpp"

namespace nunatak {

void add_io_options(OptionTable& table, io::Options& options) {
  table.section("How files are written: see docs/explanation/output.md");
  for (const io::Knob& knob : io::knobs()) {
    const auto set = [&](const std::string& value, const std::string& what) {
      io::set_knob(options, knob, value, what);
    };
    const auto get = [&] { return nlohmann::json(io::knob_text(options, knob)); };
    const bool is_flag = std::holds_alternative<bool io::Options::*>(knob.member);
    const bool is_word = std::holds_alternative<std::string io::Options::*>(knob.member);
    table.add({std::string("io_") + knob.name, "", knob.doc, is_word ? knob.words : "", is_flag,
               set, get});
  }
}

} // namespace nunatak
