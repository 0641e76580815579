#include "miniapp/tools/answers.hpp"

#include "io/reader.hpp"
#include "io/writer.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace nunatak::tools {

namespace {

std::vector<int> count_from_zero(int n) {
  std::vector<int> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

std::vector<std::size_t> start_of(const Patch& p) { return {static_cast<std::size_t>(p.ys), static_cast<std::size_t>(p.xs)}; }
std::vector<std::size_t> count_of(const Patch& p) { return {static_cast<std::size_t>(p.ym), static_cast<std::size_t>(p.xm)}; }

} // namespace

std::vector<int> collect(const Ranks& ranks, const Patch& rectangle, const std::vector<Array2<int>>& local) {
  std::vector<int> values(static_cast<std::size_t>(rectangle.cells()));
  for (int r = 0; r < ranks.local_size(); ++r) {
    const Patch p = ranks.patch(r);
    const Array2<int>& from = local[static_cast<std::size_t>(r)];
    for (int j = 1; j <= p.ym; ++j) {
      const std::int64_t row = p.global_j(j) - rectangle.ys, first = row * rectangle.xm + p.xs - rectangle.xs;
      for (int i = 1; i <= p.xm; ++i) values[static_cast<std::size_t>(first + i - 1)] = from(j, i);
    }
  }
  return values;
}

std::optional<std::string> first_difference(const Answer& expected, const Answer& found, MPI_Comm comm) {
  const Patch& p = expected.rectangle;
  const auto fields = static_cast<std::int64_t>(expected.fields.size());
  constexpr std::int64_t nowhere = std::numeric_limits<std::int64_t>::max();
  std::int64_t mine = nowhere; // cell * fields + field
  std::int64_t values[2] = {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::min()};
  for (std::int64_t f = 0; f < fields; ++f) {
    const auto &a = expected.fields[static_cast<std::size_t>(f)].values, &b = found.fields[static_cast<std::size_t>(f)].values;
    const auto [at, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    if (at == a.end()) continue;
    const std::int64_t n = at - a.begin(), cell = (p.ys + n / p.xm) * p.Mx + p.xs + n % p.xm;
    if (cell * fields + f >= mine) continue;
    mine = cell * fields + f;
    values[0] = *at, values[1] = *other;
  }
  std::int64_t first = mine;
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT64_T, MPI_MIN, comm);
  if (first == nowhere) return std::nullopt;
  if (mine != first) values[0] = values[1] = std::numeric_limits<std::int64_t>::min();
  MPI_Allreduce(MPI_IN_PLACE, values, 2, MPI_INT64_T, MPI_MAX, comm);
  const std::int64_t cell = first / fields;
  return found.who + " and " + expected.who + " differ first at j = " + std::to_string(cell / p.Mx) +
         ", i = " + std::to_string(cell % p.Mx) + " in " + expected.fields[static_cast<std::size_t>(first % fields)].name +
         ": found " + std::to_string(values[1]) + ", expected " + std::to_string(values[0]);
}

void write_answer(const std::string& path, const Mask& mask, const Answer& answer, MPI_Comm comm) {
  if (path.empty()) return;
  const Patch& p = answer.rectangle;
  const std::string name = mask.cell_types ? "mask" : "values";
  io::Schema schema;
  schema.dimensions = {{"y", static_cast<std::size_t>(p.My)}, {"x", static_cast<std::size_t>(p.Mx)}};
  schema.variables = {{"y", io::Type::int32, {"y"}, {{"long_name", "row"}}},
                      {"x", io::Type::int32, {"x"}, {{"long_name", "column"}}},
                      {name, io::Type::int32, {"y", "x"}, {{"long_name", mask.name}}}};
  for (const Answer::Field& field : answer.fields) {
    schema.variables.push_back({field.name, io::Type::int32, {"y", "x"}, {{"long_name", field.long_name}}});
  }
  schema.attributes = {{"Conventions", "CF-1.8"}, {"title", mask.name}, {"source", answer.who}};

  io::Options options;
  options.format = "serial";
  const auto writer = io::make_writer(comm, options);
  const auto file = writer->open(path, schema);
  file->put_all("y", count_from_zero(p.My));
  file->put_all("x", count_from_zero(p.Mx));
  const io::Block block{start_of(p), count_of(p), {}};
  std::vector<int> values;
  for (int j = 0; j < p.ym; ++j) {
    for (int i = 0; i < p.xm; ++i) values.push_back(mask.value(p.ys + j, p.xs + i));
  }
  file->put(name, block, values.data());
  for (const Answer::Field& field : answer.fields) file->put(field.name, block, field.values.data());
  file->close();
}

Answer read_answer(const std::string& path, const Answer& like, MPI_Comm comm) {
  const io::Reader file(path, comm);
  const Patch& p = like.rectangle;
  Answer answer;
  answer.who = "the file '" + path + "'";
  answer.rectangle = p;
  for (const Answer::Field& field : like.fields) {
    if (!file.has(field.name)) throw io::Error("file '" + path + "': expected a variable '" + field.name + "', found none");
    const auto axes = file.dimensions(field.name);
    if (axes.size() != 2 || axes[0].length != static_cast<std::size_t>(p.My) ||
        axes[1].length != static_cast<std::size_t>(p.Mx)) {
      std::string found;
      for (const auto& axis : axes) found += (found.empty() ? "" : " x ") + std::to_string(axis.length);
      throw io::Error("file '" + path + "', variable '" + field.name + "': expected " + std::to_string(p.My) + " x " +
                      std::to_string(p.Mx) + " values, found " + found);
    }
    const std::vector<std::int64_t> values = file.read_block_int(field.name, start_of(p), count_of(p));
    answer.fields.push_back({field.name, field.long_name, {}});
    for (const std::int64_t v : values) { // a value beyond 32 bits is no answer: it becomes one that nothing equals
      const bool fits = v > std::numeric_limits<int>::min() && v <= std::numeric_limits<int>::max();
      answer.fields.back().values.push_back(fits ? static_cast<int>(v) : std::numeric_limits<int>::min());
    }
  }
  return answer;
}

} // namespace nunatak::tools
