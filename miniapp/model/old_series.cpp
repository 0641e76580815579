#include "miniapp/model/old_series.hpp"

#include "io/agree.hpp"
#include "io/watchdog.hpp"
#include "miniapp/base/error.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace nunatak {

namespace {

bool has(const io::Variable& variable, const std::string& dimension) {
  return std::find(variable.dimensions.begin(), variable.dimensions.end(), dimension) !=
         variable.dimensions.end();
}

std::string text_of(const io::Variable& variable, const std::string& name) {
  for (const io::Attribute& attribute : variable.attributes) {
    if (attribute.name == name) return std::get<std::string>(attribute.value);
  }
  return "";
}

std::string in_years(double days) {
  std::ostringstream text;
  text.precision(10);
  text << "year " << days / 365.0;
  return text.str();
}

} // namespace

bool OldSeries::exists(const std::string& path, MPI_Comm comm) {
  int found = 0;
  const io::Watchdog::Scope scope(path, "look");
  io::on_rank_0(comm, [&] {
    found = std::filesystem::exists(path) || std::filesystem::exists(path + ".0000") ? 1 : 0;
    if (found == 0 && std::filesystem::exists(path + ".tmp"))
      throw Error("expected its records before the start, found only '" + path +
                  ".tmp': the run that wrote them was killed before they were committed");
  });
  MPI_Bcast(&found, 1, MPI_INT, 0, comm);
  return found != 0;
}

OldSeries::OldSeries(const std::string& path, const io::Schema& schema, const Grid& grid,
                     double start, double longest_gap, MPI_Comm comm, io::ReadOptions read_options)
    : m_reader(path, comm, std::move(read_options)) {
  check_variables(schema);
  check_coordinates(grid);
  check_times(start, longest_gap);
}

void OldSeries::check_variables(const io::Schema& schema) const {
  const auto describe = [](const std::string& type, const std::vector<std::string>& axes,
                           const std::string& units) {
    std::string text = type + " (";
    for (const std::string& axis : axes) text += (text.back() == '(' ? "" : ", ") + axis;
    return text + ")" + (units.empty() ? "" : " in " + units);
  };
  for (const io::Variable& v : schema.variables) {
    if (!m_reader.has(v.name)) throw Error("it has no variable '" + v.name + "'");
    std::vector<std::string> wanted, axes;
    const std::vector<std::size_t> shape = schema.shape(v);
    for (std::size_t d = 0; d < shape.size(); ++d)
      wanted.push_back(v.dimensions[d] +
                       (shape[d] == io::unlimited ? "" : " = " + std::to_string(shape[d])));
    for (const io::Reader::Axis& axis : m_reader.dimensions(v.name))
      axes.push_back(axis.name + (axis.unlimited ? "" : " = " + std::to_string(axis.length)));
    const std::string expected =
        describe(v.type == io::Type::int32 ? "int" : "double", wanted, text_of(v, "units"));
    const std::string found =
        describe(m_reader.type(v.name), axes, m_reader.text(v.name, "units").value_or(""));
    if (found != expected)
      throw Error("variable '" + v.name + "': expected " + expected + ", found " + found);
  }
  for (const std::string& name : m_reader.variables()) {
    const auto same = [&](const io::Variable& v) { return v.name == name; };
    if (std::none_of(schema.variables.begin(), schema.variables.end(), same))
      throw Error("it has a variable '" + name + "', which this run does not write");
  }
}

void OldSeries::check_coordinates(const Grid& grid) const {
  std::vector<double> x, y;
  for (int i = 0; i < grid.Mx(); ++i) x.push_back(grid.x(i));
  for (int j = 0; j < grid.My(); ++j) y.push_back(grid.y(j));
  for (const auto& [name, values] :
       {std::pair<const char*, const std::vector<double>&>{"x", x}, {"y", y}, {"z", grid.z}}) {
    if (!m_reader.has(name)) continue;
    const std::vector<double> found = m_reader.read_all(name); // same length: see check_variables
    const double rounding = 1e-9 * (values.back() - values.front());
    for (std::size_t n = 0; n < values.size(); ++n) {
      if (!(std::fabs(found[n] - values[n]) <= rounding)) {
        throw Error(std::string("coordinate '") + name + "': expected " +
                    std::to_string(values[n]) + " m at index " + std::to_string(n) + ", found " +
                    std::to_string(found[n]));
      }
    }
  }
}

void OldSeries::check_times(double start, double longest_gap) {
  m_times = m_reader.read_all("time");
  for (std::size_t n = 0; n < m_times.size(); ++n) {
    if (!(n == 0 ? std::isfinite(m_times[0]) : m_times[n] > m_times[n - 1]))
      throw Error("its times do not increase");
  }
  const auto after = std::upper_bound(m_times.begin(), m_times.end(), start + same_time);
  m_kept = static_cast<std::size_t>(after - m_times.begin());
  if (m_times.empty()) return;
  if (m_kept == 0)
    throw Error("it begins in " + in_years(m_times[0]) + ", after the start of this run in " +
                in_years(start));
  if (last() < start - longest_gap - same_time)
    throw Error("it ends in " + in_years(last()) + ", and this run starts in " + in_years(start) +
                ": records are missing");
}

void OldSeries::copy(io::File& file, const io::Variable& v, const Patch& patch,
                     std::size_t record) const {
  const auto size = [](int n) { return static_cast<std::size_t>(n); };
  const bool records = file.schema().has_records(v), cut = has(v, "y") && has(v, "x");
  io::Block block;
  const std::vector<std::size_t> shape = file.schema().shape(v);
  for (std::size_t d = records ? 1 : 0; d < shape.size(); ++d) {
    const bool y = cut && v.dimensions[d] == "y", x = cut && v.dimensions[d] == "x";
    block.start.push_back(y ? size(patch.ys) : x ? size(patch.xs) : 0);
    block.count.push_back(y ? size(patch.ym) : x ? size(patch.xm) : shape[d]);
  }
  const auto put = [&](const auto& values) {
    if (cut) file.put(v.name, record, block, values.data());
    if (!cut) file.put_all(v.name, record, values);
  };
  const io::Box own{block.start, block.count}, box = records ? own.in_record(record) : own;
  if (v.type == io::Type::int32) {
    const std::vector<std::int64_t> values = m_reader.read_block_int(v.name, box.start, box.count);
    put(std::vector<int>(values.begin(), values.end()));
  } else {
    std::vector<double> values = m_reader.read_block(v.name, box.start, box.count);
    const auto fill = m_reader.number(v.name, "_FillValue"); // the reader returns it as NaN
    for (double& value : values) value = fill && std::isnan(value) ? *fill : value;
    put(values);
  }
}

void OldSeries::copy(io::File& file, const Patch& patch) const {
  for (const io::Variable& v : file.schema().variables) {
    if (!file.schema().has_records(v)) copy(file, v, patch, io::no_record);
  }
  for (std::size_t record = 0; record < m_kept; ++record) {
    for (const io::Variable& v : file.schema().variables) {
      if (file.schema().has_records(v)) copy(file, v, patch, record);
    }
    file.end_record();
  }
}

} // namespace nunatak
