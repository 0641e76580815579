// Layout of plain files and their JSON. See raw.hpp.
#include "io/formats/raw.hpp"

#include "io/error.hpp"
#include "io/formats/byte_order.hpp"
#include "io/formats/format.hpp"
#include "io/read/classic_file.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>

namespace nunatak::io {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* format_name = "nunatak raw 1";

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

const char* byte_order() { return memory_is_big_endian() ? "big" : "little"; }

/// `variable`: whose attributes they are; they get its type where they want that. nullptr: as they
/// are.
Json attributes_json(const std::vector<Attribute>& attributes, const Variable* variable) {
  Json list = Json::array();
  for (const Attribute& a : attributes) {
    Json entry = {{"name", a.name}};
    std::visit(
        [&](const auto& value) {
          using Values = std::decay_t<decltype(value)>;
          if constexpr (!std::is_same_v<Values, std::string>)
            entry["type"] = name_of(type_of<typename Values::value_type>());
          entry["value"] = value;
        },
        variable == nullptr ? a.value : own_type(a, *variable));
    list.push_back(entry);
  }
  return list;
}

Json schema_json(const Schema& schema, bool own_types) {
  Json json = {{"dimensions", Json::array()}, {"variables", Json::array()}};
  for (const Dimension& d : schema.dimensions) {
    json["dimensions"].push_back({{"name", d.name}, {"length", d.length}});
    if (d.distributed) json["dimensions"].back()["distributed"] = true;
  }
  json["attributes"] = attributes_json(schema.attributes, nullptr);
  for (const Variable& v : schema.variables) {
    json["variables"].push_back(
        {{"name", v.name},
         {"type", name_of(v.type)},
         {"dimensions", v.dimensions},
         {"attributes", attributes_json(v.attributes, own_types ? &v : nullptr)}});
  }
  return json;
}

Type type_named(const std::string& name) {
  for (const Type type : all_types) {
    if (name == name_of(type)) return type;
  }
  throw Error("expected a type (int8 ... float64), found '" + name + "'");
}

std::vector<Attribute> attributes_of(const Json& list) {
  std::vector<Attribute> attributes;
  for (const Json& entry : list) {
    const std::string name = entry.at("name");
    const Json& value = entry.at("value");
    if (!entry.contains("type")) {
      attributes.emplace_back(name, value.get<std::string>());
      continue;
    }
    with_type(type_named(entry.at("type")), [&](auto zero) {
      attributes.emplace_back(name, value.get<std::vector<decltype(zero)>>());
    });
  }
  return attributes;
}

Schema schema_of(const Json& json) {
  Schema schema;
  for (const Json& d : json.at("dimensions"))
    schema.dimensions.push_back({d.at("name"), d.at("length"), d.value("distributed", false)});
  schema.attributes = attributes_of(json.at("attributes"));
  for (const Json& v : json.at("variables"))
    schema.variables.push_back({v.at("name"), type_named(v.at("type")), v.at("dimensions"),
                                attributes_of(v.at("attributes"))});
  return schema;
}

} // namespace

std::vector<std::uint8_t> message_of(const Schema& schema) {
  return Json::to_cbor(schema_json(schema, false));
}
Schema schema_of(const std::vector<std::uint8_t>& message) {
  return schema_of(Json::from_cbor(message));
}

RawLayout raw_layout(const Schema& schema, std::size_t align) {
  RawLayout layout;
  layout.begin.resize(schema.variables.size());
  std::uint64_t end = 0;
  const auto place = [&](bool records) {
    for (std::size_t v = 0; v < layout.begin.size(); ++v) {
      if (schema.has_records(schema.variables[v]) != records) continue;
      layout.begin[v] = end;
      end = round_up(end + schema.bytes(schema.variables[v]), 8);
    }
  };
  const std::uint64_t multiple = std::lcm<std::uint64_t>(align, 8);
  place(false);
  layout.end_of_fixed = layout.record_begin = end = round_up(end, multiple);
  place(true);
  layout.record_stride = round_up(end - layout.record_begin, multiple);
  return layout;
}

void append_runs(const Placement& placement, const std::vector<std::size_t>& start,
                 const std::vector<std::size_t>& count, const std::byte* data,
                 std::vector<Run>& runs) {
  const std::size_t rank = count.size();
  if (Box{start, count}.elements() == 0) return;
  std::vector<std::size_t> index(rank, 0);
  const bool is_row =
      rank > 0 && placement.stride[rank - 1] ==
                      placement.element; // else the last dimension is that of the records
  const std::size_t in_run = is_row ? count[rank - 1] : 1, run_size = placement.element * in_run;
  std::vector<std::size_t> steps = count;
  if (is_row) steps.back() = 1;
  do {
    std::uint64_t begin = placement.begin;
    for (std::size_t d = 0; d < rank; ++d) begin += (start[d] + index[d]) * placement.stride[d];
    if (!runs.empty() && runs.back().begin + runs.back().size == begin &&
        runs.back().data + runs.back().size == data) {
      runs.back().size += run_size;
    } else {
      runs.push_back({begin, run_size, data});
    }
    data += run_size;
  } while (next_index(index, steps));
}

Placement placement_of(std::uint64_t begin, std::size_t element,
                       const std::vector<std::size_t>& shape,
                       std::optional<std::uint64_t> record_stride) {
  Placement placement{begin, element, std::vector<std::uint64_t>(shape.size())};
  std::uint64_t row = element;
  for (std::size_t d = shape.size(); d-- > 0;) {
    placement.stride[d] = row;
    row *= shape[d];
  }
  if (record_stride) placement.stride[0] = *record_stride;
  return placement;
}

Placement placement_of(const Schema& schema, const RawLayout& layout, std::size_t v) {
  const Variable& variable = schema.variables[v];
  std::optional<std::uint64_t> record_stride;
  if (schema.has_records(variable)) record_stride = layout.record_stride;
  return placement_of(layout.begin[v], bytes_of(variable.type), schema.shape(variable),
                      record_stride);
}

void append_runs(const Schema& schema, const RawLayout& layout, std::size_t v,
                 const Hyperslab& slab, const std::byte* data, std::vector<Run>& runs) {
  if (slab.elements() == 0) return; // then it may lack start and count
  append_runs(placement_of(schema, layout, v), slab.start, slab.count, data, runs);
}

void write_raw_json(const std::string& path, const Schema& schema, const RawLayout& layout,
                    std::uint64_t records) {
  Json json = {{"format", format_name},
               {"byte_order", byte_order()},
               {"records", records},
               {"record_begin", layout.record_begin},
               {"record_stride", layout.record_stride}};
  json.update(schema_json(schema, true));
  for (std::size_t n = 0; n < schema.variables.size(); ++n)
    json["variables"][n]["offset"] = layout.begin[n];
  std::ofstream out(with_suffix(path, ".json"), std::ios::binary | std::ios::trunc);
  out << json.dump(1, ' ', false, Json::error_handler_t::replace) << "\n";
  out.flush();
  if (!out)
    throw Error("file '" + path + ".json': expected to write it; found: " + std::strerror(errno));
}

RawFile open_raw(const std::string& path) {
  const std::string name = path + ".json";
  RawFile file;
  file.path = path;
  try {
    std::ifstream in(name);
    if (!in) throw Error(std::strerror(errno));
    const Json json = Json::parse(in);
    if (json.at("format") != format_name || json.at("byte_order") != byte_order()) {
      throw Error(json.at("format").dump() + ", byte order " + json.at("byte_order").dump());
    }
    file.records = json.at("records");
    file.layout.end_of_fixed = file.layout.record_begin = json.at("record_begin");
    file.layout.record_stride = json.at("record_stride");
    file.schema = schema_of(json);
    for (const Json& v : json.at("variables")) file.layout.begin.push_back(v.at("offset"));
    file.schema.validate();
  } catch (const std::exception& e) {
    throw Error("file '" + name + "': expected " + format_name +
                " of this machine's byte order; found: " + e.what());
  }
  std::error_code error;
  const std::uint64_t expected = file.layout.file_size(file.records),
                      size = std::filesystem::file_size(path, error);
  if (error || size < expected) {
    throw Error("file '" + path + "': expected " + std::to_string(expected) + " bytes; found " +
                (error ? error.message() : std::to_string(size)));
  }
  return file;
}

void read_raw(const RawFile& file, const std::string& variable,
              const std::vector<std::size_t>& start, const std::vector<std::size_t>& count,
              std::byte* target) {
  const std::size_t v = file.schema.variable(variable);
  const auto fail = [&](const std::string& what) {
    throw Error("file '" + file.path + "': variable '" + variable + "': " + what);
  };
  std::vector<std::size_t> shape = file.schema.shape(file.schema.variables[v]);
  for (std::size_t& n : shape) n = n == unlimited ? static_cast<std::size_t>(file.records) : n;
  bool fits = start.size() == shape.size() && count.size() == shape.size();
  for (std::size_t d = 0; fits && d < shape.size(); ++d)
    fits = start[d] <= shape[d] && count[d] <= shape[d] - start[d];
  if (!fits)
    fail("expected a block within its " + std::to_string(shape.size()) +
         " dimensions, found another");
  try {
    ReadStatistics nobody_asks;
    ClassicFile(file.path, {placement_of(file.schema, file.layout, v)})
        .read(0, {start, count}, target, nobody_asks);
  } catch (const Error& e) {
    fail(std::string("expected to read it; found: ") + e.what());
  }
}

} // namespace nunatak::io
