// A workload from a header and statements; its schema and boxes. See workload.hpp.
#include "miniapp/tools/io/workload.hpp"

#include "io/agree.hpp"
#include "io/names.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/base/parse.hpp"
#include "workload_files.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

namespace nunatak::tools {

namespace {

using Words = std::vector<std::string>;

/// round(length * factor), at least 2; odd if `length` is.
std::size_t scaled(std::size_t length, double factor) {
  const double number = std::round(static_cast<double>(length) * factor);
  std::size_t n = std::max(std::min<std::size_t>(length, 2), static_cast<std::size_t>(number));
  if (length % 2 == 1 && n % 2 == 0) n += 1;
  return n;
}

/// The workload of a header, step by step.
class Draft {
public:
  Draft(const io::Contents& header, const std::string& path);
  /// Those of the size, if one is given. Returns the names of sizes. Collective for owners.
  Words take(const std::string& statements, const std::string& size, MPI_Comm comm);
  void add_variables();
  void keep_variables(std::size_t n);
  void scale(const std::string& text, bool levels);
  std::string text() const;

  Workload w;

private:
  [[noreturn]] void fail(const std::string& expected, const std::string& found) const {
    throw Error(m_where + ": expected " + expected + ", found '" + found + "'");
  }
  std::size_t number_of(const std::string& dimension) const;
  WorkloadDimension& at(const std::string& name) { return w.dimensions[number_of(name)]; }
  void cut(const Words& words, MPI_Comm comm);
  WorkloadVariable variable_of(const io::Contents::Variable& given) const;

  const io::Contents& m_header;
  std::string m_path, m_where; ///< the beginning of errors
  Words m_memory;              ///< order of dimensions
  struct Lengths {
    double factor, more;
    bool powers;
  }; ///< factor k^2 + more; of powers of two
  std::map<std::string, Lengths> m_lengths;
};

Draft::Draft(const io::Contents& header, const std::string& path)
    : m_header(header), m_path(path), m_where("file '" + path + "'") {
  for (const io::Contents::Dimension& given : header.dimensions) {
    if (given.unlimited && w.record.empty()) {
      w.record = given.name;
      continue;
    }
    if (given.length == 0) fail("a length of dimension '" + given.name + "'", "0");
    WorkloadDimension& d = w.dimensions.emplace_back();
    d.name = given.name;
    d.length = given.length;
    const auto* coordinate = io::find(header.variables, d.name);
    if (coordinate == nullptr || coordinate->axes.size() != 1) continue;
    const auto *spacing = io::find(coordinate->attributes, "spacing"),
               *units = io::find(coordinate->attributes, "units");
    d.spacing = spacing == nullptr || spacing->numbers.empty() ? 1.0 : spacing->numbers[0];
    if (units != nullptr) d.units = units->text;
  }
}

std::size_t Draft::number_of(const std::string& dimension) const {
  const auto* found = io::find(w.dimensions, dimension);
  Words names;
  for (const WorkloadDimension& d : w.dimensions) names.push_back(d.name);
  if (found == nullptr) fail("a dimension (" + io::joined(names) + ")", dimension);
  return static_cast<std::size_t>(found - w.dimensions.data());
}

Words Draft::take(const std::string& statements, const std::string& size, MPI_Comm comm) {
  const std::string file = m_where;
  Words sizes;
  for (const std::string& statement : split(statements, ';')) {
    Words words = words_of(statement);
    if (words.empty()) continue;
    m_where = file + ", decomposition '" + io::printable(statement) + "'";
    const std::string kind = words[0];
    const auto word = [&](std::size_t n) {
      if (n >= words.size()) fail("more words", statement);
      return words[n];
    };
    const auto number = [&](std::size_t n) { return parse_quantity(word(n), "", m_where); };
    if (kind == "levels") {
      for (std::size_t n = 1; n < words.size(); ++n) at(words[n]).vertical = true;
    } else if (kind == "memory") {
      m_memory = words;
    } else if (kind == "ghosts") {
      w.ghosts = static_cast<std::size_t>(whole_number(word(1), 0, 8, m_where));
    } else if (kind == "missing") {
      w.ocean_is_missing = word(1) == "ocean";
      w.mask = {number_of(word(2)), number_of(word(3))};
    } else if (kind == "length") {
      m_lengths[word(1)] = {number(2), number(4), word(3) == "4^k"};
    } else if (kind != "size") {
      cut(words, comm);
    } else {
      sizes.push_back(word(1));
      for (std::size_t n = 2; n < words.size() && words[1] == size; ++n) {
        const Words sides = split(words[n], '='), of = split(sides.back(), '@');
        at(sides[0]).length = static_cast<std::size_t>(whole_number(of[0], 1, 1ll << 40, m_where));
        if (of.size() > 1) at(sides[0]).spacing = parse_quantity(of[1], "", m_where);
      }
    }
  }
  m_where = file;
  if (w.decompositions.empty())
    fail("a decomposition, such as 'blocks y x', in its attribute nunatak_io or in -decomposition",
         statements);
  return sizes;
}

/// The map VARIABLE of the file, or FILE:VARIABLE with a path from the folder of the file.
std::vector<std::int64_t> read_map(const std::string& map, const std::string& header,
                                   MPI_Comm comm) {
  const std::size_t colon = map.rfind(':');
  const std::filesystem::path folder = std::filesystem::path(header).parent_path();
  const bool is_own = colon == std::string::npos;
  const io::Reader in(is_own ? header : (folder / map.substr(0, colon)).string(), comm);
  const std::string name = map.substr(is_own ? 0 : colon + 1);
  Indices count;
  for (const auto& axis : in.dimensions(name)) count.push_back(axis.length);
  return in.read_block_int(name, Indices(count.size(), 0), count);
}

void Draft::cut(const Words& words, MPI_Comm comm) {
  Decomposition made{words[0], true, nullptr, 7};
  Words kinds;
  for (const Decomposition& known : decompositions()) {
    kinds.push_back(known.kind);
    if (words[0] == known.kind) made = known;
  }
  const bool owners = words[0] == "owners", has_last = owners || words[0] == "runs";
  if (!has_last && made.deal == nullptr)
    fail("owners, runs, " + io::joined(kinds) + ", levels, memory, ghosts, missing, length or size",
         words[0]);
  const std::size_t n = words.size() - (has_last ? 2 : 1);
  if (words.size() < (has_last ? 3 : 2) || n > made.axes)
    fail("dimensions, at most " + std::to_string(made.axes), io::joined(words));
  for (std::size_t axis = 0; axis < n; ++axis) {
    for (const std::string& name : split(words[1 + axis], '|')) {
      WorkloadDimension& d = at(name);
      if (d.decomposition != none) fail("dimensions that are not cut yet", name);
      d.decomposition = w.decompositions.size();
      d.axis = axis;
    }
    made.dimensions.push_back(number_of(split(words[1 + axis], '|')[0]));
  }
  made.axes = n;
  if (owners) {
    const Indices whole = w.lengths(made.dimensions);
    const std::size_t cells = Box{{}, whole}.elements();
    const std::vector<std::int64_t> map = read_map(words.back(), m_path, comm);
    if (map.size() != cells)
      fail("a map of " + std::to_string(cells) + " cells", std::to_string(map.size()));
    const auto [least, most] = std::minmax_element(map.begin(), map.end());
    if (*least < 0 || *most >= 1ll << 31)
      fail("ranks from 0 to 2147483647 in the map", std::to_string(*least < 0 ? *least : *most));
    made.deal = [map, whole, first = *least, parts = static_cast<std::size_t>(*most - *least + 1)](
                    const Indices& shape, std::size_t ranks) {
      std::vector<std::size_t> owner;
      Indices index(shape.size(), 0);
      do {
        std::size_t cell = 0; // of the whole map
        for (std::size_t d = 0; d < shape.size(); ++d)
          cell = cell * whole[d] + index[d] * whole[d] / shape[d];
        owner.push_back(static_cast<std::size_t>(map[cell] - first) * ranks / parts);
      } while (io::next_index(index, shape));
      return owner;
    };
  } else if (has_last) {
    made.deal = [length =
                     static_cast<std::size_t>(whole_number(words.back(), 1, 1ll << 40, m_where))](
                    const Indices& shape, std::size_t ranks) {
      std::vector<std::size_t> owner(Box{{}, shape}.elements());
      for (std::size_t c = 0; c < owner.size(); ++c) owner[c] = c / length % ranks;
      return owner;
    };
  }
  w.decompositions.push_back(made);
}

WorkloadVariable Draft::variable_of(const io::Contents::Variable& given) const {
  static const std::map<std::string, io::Type> types = {
      {"byte", io::Type::int8},     {"char", io::Type::int8},     {"ubyte", io::Type::int8},
      {"short", io::Type::int16},   {"ushort", io::Type::int16},  {"int", io::Type::int32},
      {"uint", io::Type::int32},    {"int64", io::Type::int64},   {"uint64", io::Type::int64},
      {"float", io::Type::float32}, {"double", io::Type::float64}};
  const auto type = types.find(given.type);
  if (type == types.end())
    fail("a type of numbers, or char, of variable '" + given.name + "'", given.type);
  WorkloadVariable v{given.name, type->second};
  Indices axes;
  for (const std::size_t n : given.axes) {
    const std::string& name = m_header.dimensions[n].name;
    if (name == w.record) {
      v.records = true;
      continue;
    }
    const std::size_t d = number_of(name), cut = w.dimensions[d].decomposition;
    v.dimensions.push_back(d);
    if (cut == none) continue;
    if (v.decomposition != none && (v.decomposition != cut || axes.back() == w.dimensions[d].axis))
      fail("one decomposition, and one dimension of each axis, for variable '" + given.name + "'",
           name);
    v.decomposition = cut;
    axes.push_back(w.dimensions[d].axis);
  }
  if (w.is_scattered(v) && axes.size() < w.decompositions[v.decomposition].axes)
    v.decomposition = none;
  if (w.is_scattered(v) && !std::is_sorted(axes.begin(), axes.end()))
    fail("the order of the decomposition for the dimensions of variable '" + given.name + "'",
         "another");
  v.memory = v.dimensions;
  std::stable_sort(v.memory.begin(), v.memory.end(), [&](std::size_t a, std::size_t b) {
    const auto place = [&](std::size_t d) {
      return std::find(m_memory.begin(), m_memory.end(), w.dimensions[d].name) - m_memory.begin();
    };
    return place(a) < place(b);
  });
  const std::size_t n = v.memory.size();
  const bool is_number = v.type == io::Type::float64 || v.type == io::Type::float32;
  if (is_number && given.axes.size() == 1 && m_header.dimensions[given.axes[0]].name == v.name) {
    v.content = Content::coordinate; // every rank knows it
    v.decomposition = none;
  } else if (io::find(given.attributes, "_FillValue") != nullptr && n > 1 && w.mask.size() > 0 &&
             v.memory[n - 2] == w.mask[0] && v.memory[n - 1] == w.mask[1]) {
    v.content = Content::masked;
  }
  return v;
}

void Draft::add_variables() {
  for (const io::Contents::Variable& given : m_header.variables) {
    if (given.type == "string") continue; // of no fixed size
    WorkloadVariable v = variable_of(given);
    const auto* copies = io::find(given.attributes, "copies");
    if (copies == nullptr) w.variables.push_back(v);
    for (int k = 1; copies != nullptr && k <= copies->numbers.at(0); ++k) {
      v.name = given.name + std::to_string(k);
      w.variables.push_back(v);
    }
  }
  for (const char* order : {"zyx", "yxz"}) { // which of these it is
    const Workload other = in_order(w, order);
    const auto same = [](const auto& a, const auto& b) { return a.dimensions == b.dimensions; };
    if (std::equal(w.variables.begin(), w.variables.end(), other.variables.begin(), same))
      w.order = order;
  }
}

void Draft::keep_variables(std::size_t n) {
  std::vector<WorkloadVariable> kept;
  const auto is_other = [](const WorkloadVariable& v) { return v.content != Content::coordinate; };
  const auto all =
      static_cast<std::size_t>(std::count_if(w.variables.begin(), w.variables.end(), is_other));
  std::size_t k = 0; // of the others
  for (const WorkloadVariable& v : w.variables) {
    if (is_other(v)) ++k;
    if (!is_other(v) || n == 0 || n >= all || k * n / all > (k - 1) * n / all) kept.push_back(v);
  }
  w.variables = kept;
}

/// "0.5", "z=0.1" or "0.5,z=0.1": the factor of horizontal lengths, and of dimensions by name.
void Draft::scale(const std::string& text, bool levels) {
  m_where = "option -scale";
  double factor = 1.0;
  std::map<std::size_t, double> by_name;
  for (const std::string& item : split(text, ',')) {
    const Words sides = split(item, '=');
    const double f = parse_quantity(sides.back(), "", m_where);
    if (!(f >= 1e-6 && f <= 100.0)) fail("a number from 1e-6 to 100", item);
    (sides.size() == 1 ? factor : by_name[number_of(sides[0])]) = f;
  }
  const std::vector<WorkloadDimension> given = w.dimensions;
  for (std::size_t n = 0; n < given.size(); ++n) {
    const WorkloadDimension& d = given[n];
    const auto rule = m_lengths.find(d.name);
    const auto length = static_cast<double>(d.length);
    std::size_t& made = w.dimensions[n].length;
    if (by_name.count(n) > 0) {
      made = scaled(d.length, by_name[n]);
    } else if (d.vertical) { // interfaces remain one more than layers
      const bool more = std::any_of(given.begin(), given.end(), [&](const auto& other) {
        return other.vertical && other.length + 1 == d.length;
      });
      if (levels) made = more ? scaled(d.length - 1, factor) + 1 : scaled(d.length, factor);
    } else if (rule != m_lengths.end()) {
      double k = std::sqrt((length - rule->second.more) / rule->second.factor) * factor;
      k = rule->second.powers ? std::exp2(std::max(0.0, std::round(std::log2(k))))
                              : std::max(2.0, std::round(k));
      made = static_cast<std::size_t>(rule->second.factor * k * k + rule->second.more);
    } else if (d.decomposition != none && w.decompositions[d.decomposition].axes == 1) {
      made = std::max<std::size_t>(std::min<std::size_t>(d.length, 2),
                                   std::lround(length * factor * factor));
    } else if (d.decomposition != none || d.spacing != 0.0) {
      made = scaled(d.length, factor);
    }
  }
}

/// "y = 561, x = 301, 24 variables"
std::string Draft::text() const {
  std::string text;
  for (const WorkloadDimension& d : w.dimensions)
    text += d.name + " = " + std::to_string(d.length) + ", ";
  return text + std::to_string(w.variables.size()) + " variables";
}

Workload load(const io::Contents& header, const std::string& path, const std::string& size,
              const WorkloadOptions& options, MPI_Comm comm) {
  Draft draft(header, path);
  const auto* own = io::find(header.attributes, "nunatak_io");
  draft.take(options.decomposition.empty() && own != nullptr ? own->text : options.decomposition,
             size, comm);
  draft.add_variables();
  draft.keep_variables(static_cast<std::size_t>(options.variables));
  draft.w.name = options.name;
  draft.w.unscaled = draft.text();
  draft.scale(options.scale, options.scale_levels);
  draft.w.text = draft.text();
  std::size_t number = 0;
  for (WorkloadVariable& v : draft.w.variables) {
    if (v.content != Content::coordinate || !v.records) v.number = number++;
  }
  return draft.w;
}

/// A name and a size, from a file of inputs/workloads.
struct Named {
  std::string name, size;
  io::Contents header;
};

std::vector<Named> named_workloads() {
  std::vector<Named> all;
  for (const auto& [name, text] : workload_files) {
    const io::Contents header = parse_cdl(text, name);
    Draft draft(header, name);
    const Words sizes =
        draft.take(io::find(header.attributes, "nunatak_io")->text, "", MPI_COMM_SELF);
    for (const std::string& size : sizes) all.push_back({name + ":" + size, size, header});
    if (sizes.empty()) all.push_back({name, "", header});
  }
  return all;
}

} // namespace

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

Workload make_workload(const WorkloadOptions& options, MPI_Comm comm) {
  if (options.name.rfind("file:", 0) != 0) {
    Words names;
    for (const Named& known : named_workloads()) {
      if (known.name == options.name)
        return load(known.header, known.name, known.size, options, comm);
      names.push_back(known.name);
    }
    throw Error("option -workload: expected file:NAME or one of " + io::joined(names) +
                ", found '" + options.name + "'");
  }
  const std::string path = options.name.substr(5);
  io::Contents header;
  io::on_rank_0(comm, [&] {
    if (ends_with(path, ".cdl")) {
      std::ifstream in(path);
      if (!in) throw Error("file '" + path + "': expected to read it");
      header = parse_cdl({std::istreambuf_iterator<char>(in), {}}, path);
    } else {
      header = io::contents_of(io::NcFile(path), path);
    }
  });
  io::broadcast(header, comm);
  return load(header, path, "", options, comm);
}

std::vector<std::string> workload_table() {
  std::vector<std::string> lines;
  for (const Named& known : named_workloads()) {
    WorkloadOptions options;
    options.name = known.name;
    const Workload w = load(known.header, known.name, known.size, options, MPI_COMM_SELF);
    lines.push_back(known.name + ": " + std::to_string(w.bytes(true)));
  }
  return lines;
}

Workload in_order(Workload w, const std::string& order) {
  if (order == w.order) return w;
  for (WorkloadVariable& v : w.variables) {
    v.dimensions = v.memory;
    std::stable_partition(v.dimensions.begin(), v.dimensions.end(), [&](std::size_t d) {
      return w.dimensions[d].vertical == (order == "zyx");
    });
  }
  w.order = order;
  return w;
}

Indices Workload::lengths(const Indices& along) const {
  Indices lengths;
  for (const std::size_t d : along) lengths.push_back(dimensions[d].length);
  return lengths;
}

Box Workload::box(const WorkloadVariable& v) const {
  return {Indices(v.dimensions.size(), 0), lengths(v.dimensions)};
}

bool Workload::is_missing(std::size_t j, std::size_t i) const {
  const Indices shape = lengths(mask);
  return ocean_is_missing !=
         is_continent((static_cast<double>(j) + 0.5) / static_cast<double>(shape[0]),
                      (static_cast<double>(i) + 0.5) / static_cast<double>(shape[1]));
}

std::uint64_t Workload::bytes(bool of_record) const {
  std::uint64_t sum = 0;
  for (const WorkloadVariable& v : variables) {
    if (v.records == of_record) sum += box(v).elements() * io::bytes_of(v.type);
  }
  return sum;
}

io::Schema schema_of(const Workload& w) {
  io::Schema schema;
  if (!w.record.empty()) schema.dimensions = {{w.record, io::unlimited}};
  for (const WorkloadDimension& d : w.dimensions)
    schema.dimensions.push_back({d.name, d.length, d.decomposition != none});
  for (const WorkloadVariable& v : w.variables) {
    io::Variable& variable = schema.variables.emplace_back();
    variable.name = v.name;
    variable.type = v.type;
    if (v.records) variable.dimensions.push_back(w.record);
    for (const std::size_t d : v.dimensions) variable.dimensions.push_back(w.dimensions[d].name);
    if (v.content != Content::coordinate) {
      variable.attributes = {{"long_name", "values that encode their position"}};
    } else if (v.records) {
      variable.attributes = {{"units", "days since 1-1-1"}, {"calendar", "365_day"}};
    } else if (const std::string& units = w.dimensions[v.dimensions[0]].units; !units.empty()) {
      variable.attributes = {{"units", units}};
    }
    if (v.content == Content::masked) variable.attributes.emplace_back("_FillValue", -1.0);
  }
  schema.attributes = {{"Conventions", "CF-1.8"}, {"title", "nunatak-io, workload " + w.name}};
  return schema;
}

namespace {

/// The box of a rank by its position in the rank grid, land or not.
Box plain_box(const Workload& w, const WorkloadVariable& v, std::size_t rank, std::size_t ranks) {
  const Decomposition& cut = w.decompositions[v.decomposition];
  const std::vector<std::size_t> parts = cut.deal(w.lengths(cut.dimensions), ranks);
  std::vector<std::size_t> at(parts.size());
  for (std::size_t a = parts.size(), rest = rank; a-- > 0; rest /= parts[a])
    at[a] = rest % parts[a];
  Box box = w.box(v);
  for (std::size_t n = 0; n < v.dimensions.size(); ++n) {
    const WorkloadDimension& d = w.dimensions[v.dimensions[n]];
    if (d.decomposition == none) continue;
    const std::size_t p = std::exchange(at[d.axis], 0);
    box.start[n] = d.length * p / parts[d.axis];
    box.count[n] = d.length * (p + 1) / parts[d.axis] - box.start[n];
  }
  // of an axis without a dimension only the first ranks
  const bool is_first = std::all_of(at.begin(), at.end(), [](std::size_t a) { return a == 0; });
  return is_first ? box : Box{box.start, Indices(box.count.size(), 0)};
}

bool is_all_missing(const Workload& w, const WorkloadVariable& v, const Box& box) {
  const auto range = [&](std::size_t d) {
    const auto n =
        std::find(v.dimensions.begin(), v.dimensions.end(), w.mask[d]) - v.dimensions.begin();
    const auto at = static_cast<std::size_t>(n);
    return std::array<std::size_t, 2>{box.start[at], box.start[at] + box.count[at]};
  };
  const auto [j0, j1] = range(0);
  const auto [i0, i1] = range(1);
  for (std::size_t j = j0; j < j1; ++j) {
    for (std::size_t i = i0; i < i1; ++i) {
      if (!w.is_missing(j, i)) return false;
    }
  }
  return true;
}

/// The runs of a scattered variable: of one or two cut dimensions, which follow one another.
std::vector<Box> scattered_boxes(const Workload& w, const WorkloadVariable& v, std::size_t rank,
                                 std::size_t ranks) {
  Box box = w.box(v);
  Indices cut, shape;
  for (std::size_t n = 0; n < v.dimensions.size(); ++n) {
    if (w.dimensions[v.dimensions[n]].decomposition == none) continue;
    cut.push_back(n);
    shape.push_back(box.count[n]);
  }
  const std::vector<std::size_t> owner = w.decompositions[v.decomposition].deal(shape, ranks);
  std::vector<std::size_t> n_runs(ranks, 0);
  std::vector<Box> boxes;
  for (std::size_t begin = 0, end = 0; begin < owner.size(); begin = end) {
    end = begin + 1;
    while (end % shape.back() != 0 && owner[end] == owner[begin]) ++end;
    n_runs[owner[begin]] += 1;
    if (owner[begin] != rank) continue;
    for (std::size_t n = cut.size(), rest = begin; n-- > 0; rest /= shape[n]) {
      box.start[cut[n]] = rest % shape[n];
      box.count[cut[n]] = 1;
    }
    box.count[cut.back()] = end - begin;
    boxes.push_back(box);
  }
  boxes.resize(*std::max_element(n_runs.begin(), n_runs.end()),
               {box.start, Indices(box.count.size(), 0)});
  return boxes;
}

} // namespace

std::vector<Box> boxes_of(const Workload& w, const WorkloadVariable& v, std::size_t rank,
                          std::size_t ranks) {
  if (w.is_scattered(v)) return scattered_boxes(w, v, rank, ranks);
  if (v.content != Content::masked) return {plain_box(w, v, rank, ranks)};
  std::vector<Box> plain;
  std::vector<bool> land;
  for (std::size_t r = 0; r < ranks; ++r) {
    plain.push_back(plain_box(w, v, r, ranks));
    land.push_back(is_all_missing(w, v, plain[r]));
  }
  std::vector<std::vector<Box>> boxes(ranks);
  std::size_t most = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    std::size_t owner = r;
    while (land[owner] && (owner + ranks - 1) % ranks != r) owner = (owner + ranks - 1) % ranks;
    if (land[owner]) owner = r; // there is no ocean
    boxes[owner].insert(owner == r ? boxes[owner].begin() : boxes[owner].end(), plain[r]);
    most = std::max(most, boxes[owner].size());
  }
  const Indices zero(v.dimensions.size(), 0);
  boxes[rank].resize(most, {zero, zero});
  return boxes[rank];
}

} // namespace nunatak::tools
