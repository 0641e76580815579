// Layout of plain files and their JSON. See raw.hpp.
#include "io/formats/raw.hpp"

#include "io/error.hpp"
#include "io/formats/byte_order.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <unistd.h>

namespace nunatak::io {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* format_name = "nunatak raw 1";

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t multiple) { return (bytes + multiple - 1) / multiple * multiple; }

const char* byte_order() { return memory_is_big_endian() ? "big" : "little"; }

/// `own`: gives the value that is written.
template <class Own> Json attributes_json(const std::vector<Attribute>& attributes, const Own& own) {
  Json list = Json::array();
  for (const Attribute& a : attributes) {
    Json entry = {{"name", a.name}};
    std::visit(
        [&](const auto& value) {
          using Values = std::decay_t<decltype(value)>;
          if constexpr (!std::is_same_v<Values, std::string>) entry["type"] = name_of(type_of<typename Values::value_type>());
          entry["value"] = value;
        },
        own(a));
    list.push_back(entry);
  }
  return list;
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
    with_type(type_named(entry.at("type")),
              [&](auto zero) { attributes.emplace_back(name, value.get<std::vector<decltype(zero)>>()); });
  }
  return attributes;
}

} // namespace

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

void append_runs(const Placement& placement, const std::vector<std::size_t>& start, const std::vector<std::size_t>& count,
                 const std::byte* data, std::vector<Run>& runs) {
  const std::size_t rank = count.size();
  std::size_t elements = 1;
  for (const std::size_t n : count) elements *= n;
  if (elements == 0) return;
  std::vector<std::size_t> index(rank, 0);
  const bool is_row =
      rank > 0 && placement.stride[rank - 1] == placement.element; // else the last dimension is that of the records
  const std::size_t in_run = is_row ? count[rank - 1] : 1, run_size = placement.element * in_run;
  const std::size_t inner = is_row ? rank - 1 : rank; // dimensions that are stepped through
  for (std::size_t n = elements / in_run; n > 0; --n, data += run_size) {
    std::uint64_t begin = placement.begin;
    for (std::size_t d = 0; d < rank; ++d) begin += (start[d] + index[d]) * placement.stride[d];
    if (!runs.empty() && runs.back().begin + runs.back().size == begin && runs.back().data + runs.back().size == data) {
      runs.back().size += run_size;
    } else {
      runs.push_back({begin, run_size, data});
    }
    for (std::size_t d = inner; d-- > 0;) {
      if (++index[d] < count[d]) break;
      index[d] = 0;
    }
  }
}

Placement placement_of(std::uint64_t begin, std::size_t element, const std::vector<std::size_t>& shape,
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

void append_runs(const Schema& schema, const RawLayout& layout, std::size_t v, const Hyperslab& slab, const std::byte* data,
                 std::vector<Run>& runs) {
  if (slab.elements() == 0) return; // then it may lack start and count
  const Variable& variable = schema.variables[v];
  std::optional<std::uint64_t> record_stride;
  if (schema.has_records(variable)) record_stride = layout.record_stride;
  const Placement placement = placement_of(layout.begin[v], bytes_of(variable.type), schema.shape(variable), record_stride);
  append_runs(placement, slab.start, slab.count, data, runs);
}

void write_raw_json(const std::string& path, const Schema& schema, const RawLayout& layout, std::uint64_t records) {
  Json json = {{"format", format_name},
               {"byte_order", byte_order()},
               {"records", records},
               {"record_begin", layout.record_begin},
               {"record_stride", layout.record_stride}};
  json["dimensions"] = Json::array();
  for (const Dimension& d : schema.dimensions) json["dimensions"].push_back({{"name", d.name}, {"length", d.length}});
  json["attributes"] = attributes_json(schema.attributes, [](const Attribute& a) { return a.value; });
  json["variables"] = Json::array();
  for (std::size_t n = 0; n < schema.variables.size(); ++n) {
    const Variable& v = schema.variables[n];
    json["variables"].push_back(
        {{"name", v.name},
         {"type", name_of(v.type)},
         {"dimensions", v.dimensions},
         {"offset", layout.begin[n]},
         {"attributes", attributes_json(v.attributes, [&](const Attribute& a) { return own_type(a, v); })}});
  }
  std::ofstream out(path + ".json", std::ios::binary | std::ios::trunc);
  out << json.dump(1, ' ', false, Json::error_handler_t::replace) << "\n";
  out.flush();
  if (!out) throw Error("file '" + path + ".json': expected to write it; found: " + std::strerror(errno));
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
    for (const Json& d : json.at("dimensions")) file.schema.dimensions.push_back({d.at("name"), d.at("length")});
    file.schema.attributes = attributes_of(json.at("attributes"));
    for (const Json& v : json.at("variables")) {
      file.schema.variables.push_back(
          {v.at("name"), type_named(v.at("type")), v.at("dimensions"), attributes_of(v.at("attributes"))});
      file.layout.begin.push_back(v.at("offset"));
    }
    file.schema.validate();
  } catch (const std::exception& e) {
    throw Error("file '" + name + "': expected " + format_name + " of this machine's byte order; found: " + e.what());
  }
  std::error_code error;
  const std::uint64_t expected = file.layout.file_size(file.records), size = std::filesystem::file_size(path, error);
  if (error || size < expected) {
    throw Error("file '" + path + "': expected " + std::to_string(expected) + " bytes; found " +
                (error ? error.message() : std::to_string(size)));
  }
  return file;
}

void read_raw(const RawFile& file, const std::string& variable, const std::vector<std::size_t>& start,
              const std::vector<std::size_t>& count, std::byte* target) {
  const std::size_t v = file.schema.variable(variable);
  const auto fail = [&](const std::string& what) {
    throw Error("file '" + file.path + "': variable '" + variable + "': " + what);
  };
  std::vector<std::size_t> shape = file.schema.shape(file.schema.variables[v]);
  for (std::size_t& n : shape) n = n == unlimited ? static_cast<std::size_t>(file.records) : n;
  bool fits = start.size() == shape.size() && count.size() == shape.size();
  for (std::size_t d = 0; fits && d < shape.size(); ++d) fits = start[d] <= shape[d] && count[d] <= shape[d] - start[d];
  if (!fits) fail("expected a block within its " + std::to_string(shape.size()) + " dimensions, found another");
  Hyperslab slab;
  slab.start = start;
  slab.count = count;
  std::vector<Run> runs;
  append_runs(file.schema, file.layout, v, slab, target, runs);
  const int fd = ::open(file.path.c_str(), O_RDONLY);
  if (fd < 0) fail(std::string("expected to open it; found: ") + std::strerror(errno));
  std::string cause;
  for (const Run& run : runs) {
    std::byte* to = target + (run.data - target);
    for (std::size_t done = 0; done < run.size && cause.empty();) {
      const ssize_t n = ::pread(fd, to + done, run.size - done, static_cast<off_t>(run.begin + done));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) cause = n == 0 ? "the end of the file" : std::strerror(errno);
      if (n > 0) done += static_cast<std::size_t>(n);
    }
  }
  ::close(fd);
  if (!cause.empty()) fail("expected to read it; found: " + cause);
}

} // namespace nunatak::io
