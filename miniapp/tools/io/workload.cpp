// Names, schema and ownership, common to all workloads. See workload.hpp.
#include "miniapp/tools/io/workload.hpp"

#include "miniapp/base/error.hpp"

#include <algorithm>
#include <numeric>

namespace nunatak::tools {

namespace {

/// Begin and end of part p of `parts` of `length`.
std::array<std::size_t, 2> part_of(std::size_t length, std::size_t p, std::size_t parts) {
  return {length * p / parts, length * (p + 1) / parts};
}

/// The box of a rank by its position in the rank grid, land or not.
Box plain_box(const Workload& workload, const WorkloadVariable& variable, std::size_t rank,
              std::size_t ranks) {
  const auto parts = workload.grid ? workload.grid(ranks) : std::vector<std::size_t>{ranks};
  std::vector<std::size_t> at(parts.size());
  for (std::size_t a = parts.size(), rest = rank; a-- > 0; rest /= parts[a])
    at[a] = rest % parts[a];
  std::vector<bool> met(parts.size(), false);
  Box box;
  for (const std::string& name : variable.dimensions) {
    const WorkloadDimension& d = workload.dimension(name);
    std::array<std::size_t, 2> range{0, d.length};
    if (d.cut_along >= 0) {
      const auto axis = static_cast<std::size_t>(d.cut_along);
      range = part_of(d.length, at[axis], parts[axis]);
      met[axis] = true;
    }
    box.start.push_back(range[0]);
    box.count.push_back(range[1] - range[0]);
  }
  for (std::size_t a = 0; a < parts.size(); ++a) {
    if (!met[a] && at[a] != 0) std::fill(box.count.begin(), box.count.end(), 0);
  }
  return box;
}

bool is_all_missing(const Workload& workload, const Box& box) {
  const std::size_t y = box.count.size() - 2, x = y + 1;
  for (std::size_t j = box.start[y]; j < box.start[y] + box.count[y]; ++j) {
    for (std::size_t i = box.start[x]; i < box.start[x] + box.count[x]; ++i) {
      if (!workload.is_missing(j, i)) return false;
    }
  }
  return true;
}

/// The runs of a scattered variable: of one or two cut dimensions, which follow one another.
std::vector<Box> scattered_boxes(const Workload& workload, const WorkloadVariable& variable,
                                 std::size_t rank, std::size_t ranks) {
  Box whole{Indices(variable.dimensions.size(), 0), workload.shape(variable)};
  std::vector<std::size_t> cut;
  for (std::size_t d = 0; d < variable.dimensions.size(); ++d) {
    if (workload.dimension(variable.dimensions[d]).cut_along >= 0) cut.push_back(d);
  }
  const std::size_t row = whole.count[cut.back()];
  const std::vector<std::size_t> owner = workload.owners(variable.dimensions[cut[0]], ranks);
  std::vector<std::size_t> n_runs(ranks, 0);
  std::vector<Box> boxes;
  for (std::size_t begin = 0, end = 0; begin < owner.size(); begin = end) {
    end = begin + 1;
    while (end % row != 0 && owner[end] == owner[begin]) ++end;
    n_runs[owner[begin]] += 1;
    if (owner[begin] != rank) continue;
    Box box = whole;
    box.start[cut[0]] = begin / row;
    box.count[cut[0]] = 1;
    box.start[cut.back()] = begin % row;
    box.count[cut.back()] = end - begin;
    boxes.push_back(box);
  }
  whole.count.assign(whole.count.size(), 0);
  boxes.resize(*std::max_element(n_runs.begin(), n_runs.end()), whole);
  return boxes;
}

} // namespace

const WorkloadDimension& Workload::dimension(const std::string& name_) const {
  const auto found = std::find_if(dimensions.begin(), dimensions.end(),
                                  [&](const auto& d) { return d.name == name_; });
  if (found == dimensions.end())
    throw Error("workload '" + name + "': no dimension '" + name_ + "'");
  return *found;
}

Indices Workload::shape(const WorkloadVariable& variable) const {
  Indices lengths;
  for (const std::string& d : variable.dimensions) lengths.push_back(dimension(d).length);
  return lengths;
}

std::uint64_t Workload::bytes_per_record() const {
  return io::bytes_of(io::Type::float64) + bytes(true);
} // time first
std::uint64_t Workload::fixed_bytes() const { return bytes(false); }

std::uint64_t Workload::bytes(bool of_record) const {
  std::uint64_t sum = 0;
  for (const WorkloadVariable& v : variables) {
    if (v.records == of_record) sum += Box{{}, shape(v)}.elements() * io::bytes_of(v.type);
  }
  return sum;
}

std::vector<std::size_t> file_order(const Workload& workload, const WorkloadVariable& variable,
                                    const std::string& order) {
  std::vector<std::size_t> places(variable.dimensions.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::stable_partition(places.begin(), places.end(), [&](std::size_t d) {
    return workload.dimension(variable.dimensions[d]).vertical == (order == "zyx");
  });
  return places;
}

Box in_file_order(const Workload& workload, const WorkloadVariable& variable,
                  const std::string& order, const Box& box) {
  Box in_file;
  for (const std::size_t d : file_order(workload, variable, order)) {
    in_file.start.push_back(box.start[d]);
    in_file.count.push_back(box.count[d]);
  }
  return in_file;
}

io::Schema schema_of(const Workload& workload, const std::string& order) {
  io::Schema schema;
  schema.dimensions = {{"time", io::unlimited}};
  for (const WorkloadDimension& d : workload.dimensions) {
    schema.dimensions.push_back({d.name, d.length});
    schema.dimensions.back().distributed = d.cut_along >= 0;
  }
  schema.variables = {{"time",
                       io::Type::float64,
                       {"time"},
                       {{"units", "days since 1-1-1"}, {"calendar", "365_day"}}}};
  for (const WorkloadVariable& v : workload.variables) {
    io::Variable variable{v.name, v.type, {}, {}};
    if (v.records) variable.dimensions.push_back("time");
    for (const std::size_t d : file_order(workload, v, order))
      variable.dimensions.push_back(v.dimensions[d]);
    if (v.content == Content::coordinate) {
      const std::string& units = workload.dimension(v.name).units;
      if (!units.empty()) variable.attributes.emplace_back("units", units);
    } else {
      variable.attributes.emplace_back("long_name", "values that encode their position");
    }
    if (v.content == Content::masked) variable.attributes.emplace_back("_FillValue", -1.0);
    schema.variables.push_back(variable);
  }
  schema.attributes = {{"Conventions", "CF-1.8"},
                       {"title", "nunatak-io, workload " + workload.name}};
  return schema;
}

std::vector<Box> boxes_of(const Workload& workload, const WorkloadVariable& variable,
                          std::size_t rank, std::size_t ranks) {
  if (workload.owners) return scattered_boxes(workload, variable, rank, ranks);
  if (variable.content != Content::masked) return {plain_box(workload, variable, rank, ranks)};
  std::vector<Box> plain;
  std::vector<bool> land;
  for (std::size_t r = 0; r < ranks; ++r) {
    plain.push_back(plain_box(workload, variable, r, ranks));
    land.push_back(is_all_missing(workload, plain[r]));
  }
  std::vector<std::vector<Box>> boxes(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    std::size_t owner = r;
    while (land[owner] && (owner + ranks - 1) % ranks != r) owner = (owner + ranks - 1) % ranks;
    if (land[owner]) owner = r; // there is no ocean
    boxes[owner].insert(owner == r ? boxes[owner].begin() : boxes[owner].end(), plain[r]);
  }
  std::size_t most = 0;
  for (const auto& of_rank : boxes) most = std::max(most, of_rank.size());
  const Indices none(variable.dimensions.size(), 0);
  boxes[rank].resize(most, Box{none, none});
  return boxes[rank];
}

} // namespace nunatak::tools
