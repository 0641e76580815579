// A workload from a header and statements, and its schema. See workload.hpp.
#include "miniapp/bench/workload.hpp"

#include "common/error.hpp"
#include "common/text.hpp"
#include "io/base/agree.hpp"
#include "io/data/message_bytes.hpp"
#include "miniapp/base/printed.hpp"
#include "miniapp/base/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

namespace nunatak::bench {

namespace {

using io::Type;
using Words = std::vector<std::string>;

/// round(length * factor), at least 2; if asked, odd if `length` is.
std::size_t scaled(std::size_t length, double factor, bool stays_odd) {
  const auto number = static_cast<std::size_t>(std::lround(static_cast<double>(length) * factor));
  const std::size_t n = std::max(std::min<std::size_t>(length, 2), number);
  return stays_odd && length % 2 == 1 && n % 2 == 0 ? n + 1 : n;
}

/// The first number of an attribute, if there is one.
double number_in(const io::Attribute* attribute, double otherwise) {
  const auto numbers = attribute == nullptr ? std::vector<double>{} : attribute->numbers();
  return numbers.empty() ? otherwise : numbers[0];
}

/// A workload in the making. Errors begin with `where`.
struct Draft {
  const io::Schema& header;
  std::string path, where;
  Workload w = {};
  std::map<std::string, std::array<double, 3>> lengths = {}; ///< a k^2 + b; 1: powers of two only

  [[noreturn]] void fail(const std::string& expected, const std::string& found) const {
    throw Error(where + ": expected " + expected + ", found '" + printable(found) + "'");
  }
  std::size_t number_of(const std::string& name) const {
    const auto* d = io::find(w.dimensions, name);
    if (d == nullptr) fail("a dimension", name);
    return static_cast<std::size_t>(d - w.dimensions.data());
  }
  WorkloadDimension& at(const std::string& name) { return w.dimensions[number_of(name)]; }

  void take_statements(const std::string& statements, MPI_Comm comm) {
    for (const std::string& statement : split(statements, ';')) {
      where = "file '" + path + "', decomposition '" + printable(statement) + "'";
      Words words = words_of(statement);
      const std::size_t n = words.size();
      words.resize(n + 5); // a missing word is ""
      const auto number = [&](const std::string& word) { return parse_quantity(word, "", where); };
      if (words[0] == "levels") {
        for (std::size_t k = 1; k < n; ++k) at(words[k]).vertical = true;
      } else if (words[0] == "memory") {
        for (std::size_t k = 1; k < n; ++k) at(words[k]).memory = k;
      } else if (words[0] == "ghosts") {
        w.ghosts = static_cast<std::size_t>(whole_number(words[1], 0, 8, where));
      } else if (words[0] == "missing") {
        w.ocean_is_missing = words[1] == "ocean";
        w.mask = {number_of(words[2]), number_of(words[3])};
      } else if (words[0] == "length") {
        lengths[words[1]] = {number(words[2]), number(words[4]), words[3] == "4^k" ? 1.0 : 0.0};
      } else if (words[0] == "size") {
        for (std::size_t k = 2; k < n && ends_with(path, ":" + words[1]); ++k) {
          const Words sides = split(words[k] + "=", '='), given = split(sides[1] + "@0", '@');
          at(sides[0]).length = static_cast<std::size_t>(number(given[0]));
          at(sides[0]).spacing = number(given[1]);
        }
      } else if (n > 0) {
        cut({words.begin(), words.begin() + static_cast<std::ptrdiff_t>(n)}, comm);
      }
    }
    where = "file '" + path + "'";
    if (w.decompositions.empty())
      fail("a decomposition such as 'blocks y x' in the attribute nunatak_io or in -decomposition",
           statements);
  }

  void cut(const Words& words, MPI_Comm comm) {
    const Ownership* known = io::find(decompositions(), words[0]);
    if (known == nullptr)
      fail("blocks, factors, owners, runs, levels, ... (perf/README.md has all)", words[0]);
    Ownership made = *known;
    const std::size_t n = words.size() - (made.deal == nullptr ? 2 : 1); // dimensions
    if (n == 0 || n > made.axes)
      fail("dimensions, at most " + std::to_string(made.axes), joined(words));
    made.axes = n;
    for (std::size_t axis = 0; axis < n; ++axis) {
      const Words names = split(words[1 + axis], '|');
      for (const std::string& name : names) {
        WorkloadDimension& d = at(name);
        if (d.decomposition != none || d.length == 0) fail("dimensions to cut once", name);
        d.decomposition = w.decompositions.size();
        d.axis = axis;
      }
      made.dimensions.push_back(number_of(names[0]));
    }
    if (words[0] == "runs")
      made.deal =
          deal_runs(static_cast<std::size_t>(whole_number(words.back(), 1, 1 << 30, where)));
    if (words[0] == "owners") made.deal = owners_of(words.back(), w.lengths(made.dimensions), comm);
    w.decompositions.push_back(made);
  }

  /// By the variable NAME of the file, or FILE:NAME with a path from the folder of the file.
  Deal owners_of(const std::string& word, const Indices& shape, MPI_Comm comm) {
    const std::size_t colon = word.rfind(':') + 1; // 0: none
    const auto folder = std::filesystem::path(path).parent_path();
    w.files.push_back(colon == 0 ? path : (folder / word.substr(0, colon - 1)).string());
    const io::Reader in(w.files.back(), comm);
    const std::string name = word.substr(colon);
    const std::vector<double> map =
        in.has(name + ".nreqs") ? owners_by_runs(in, name, shape, where) : in.read_all(name);
    const auto is_rank = [](double rank) {
      return rank >= 0.0 && rank < 0x1p31 && rank == std::floor(rank);
    };
    const auto wrong = std::find_if_not(map.begin(), map.end(), is_rank);
    const double cells = cells_of(shape);
    if (static_cast<double>(map.size()) != cells || wrong != map.end())
      fail("ranks from 0 to 2147483647 of " + printed("%.0f", cells) + " cells",
           std::to_string(wrong == map.end() ? static_cast<double>(map.size()) : *wrong));
    return deal_owners(map, shape);
  }

  WorkloadVariable variable_of(const io::Variable& given) {
    WorkloadVariable v{given.name};
    v.type = given.type == Type::text ? Type::int8 : given.type;
    if (v.type >= Type::uint8 && v.type <= Type::uint64) // as signed ones
      v.type = static_cast<Type>(static_cast<int>(v.type) - static_cast<int>(Type::uint8));
    if (!io::is_written(v.type))
      fail("a type of numbers for variable '" + v.name + "'", io::name_of(v.type));
    Indices axes;
    for (const std::string& name : given.dimensions) {
      const std::size_t n = number_of(name);
      const WorkloadDimension& d = w.dimensions[n];
      if (n == w.record && &name != given.dimensions.data()) fail("records first", given.name);
      v.records = v.records || n == w.record;
      if (n != w.record) v.dimensions.push_back(n);
      if (d.decomposition == none) continue;
      if (axes.size() > 0 && (v.decomposition != d.decomposition ||
                              std::find(axes.begin(), axes.end(), d.axis) != axes.end()))
        fail("one decomposition with different axes for variable '" + given.name + "'", d.name);
      v.decomposition = d.decomposition;
      axes.push_back(d.axis);
    }
    const bool is_part = w.is_scattered(v) && axes.size() < w.decompositions[v.decomposition].axes;
    if (is_part) v.decomposition = none;
    v.memory = v.dimensions;
    std::stable_sort(v.memory.begin(), v.memory.end(), [&](std::size_t a, std::size_t b) {
      return w.dimensions[a].memory < w.dimensions[b].memory;
    });
    const std::size_t n = v.memory.size();
    const bool is_real = v.type == io::Type::float64 || v.type == io::Type::float32;
    if (is_real && given.dimensions == std::vector<std::string>{v.name}) {
      v.content = Content::coordinate;
      v.decomposition = none; // every rank knows it
      WorkloadDimension& d = at(v.name);
      const auto *units = io::find(given.attributes, "units"),
                 *spacing = io::find(given.attributes, "spacing");
      if (d.spacing == 0.0) d.spacing = number_in(spacing, 1.0);
      if (v.records) v.attributes = {{"units", "days since 1-1-1"}, {"calendar", "365_day"}};
      if (!v.records && units != nullptr)
        v.attributes = {{"units", units->text() == nullptr ? "" : *units->text()}};
      return v;
    }
    v.attributes = {{"long_name", "values that encode their position"}};
    const bool fills = io::find(given.attributes, "_FillValue") != nullptr && n > 1;
    if (fills && Indices{v.memory[n - 2], v.memory[n - 1]} == w.mask) {
      v.content = Content::masked;
      v.attributes.emplace_back("_FillValue", -1.0);
    }
    return v;
  }

  /// `n`: that many, evenly, and coordinates; 0: all.
  void take_variables(std::size_t n) {
    std::vector<WorkloadVariable> all;
    for (const io::Variable& given : header.variables) {
      if (given.type == Type::string) continue; // of no fixed size
      const auto* copies = io::find(given.attributes, "copies");
      const double number = number_in(copies, 0.0);
      if (copies != nullptr && !(number >= 1.0 && number <= 1e5 && number == std::floor(number)))
        fail("copies of variable '" + given.name + "', from 1 to 100000", std::to_string(number));
      all.push_back(variable_of(given));
      for (int k = 1; k <= static_cast<int>(number); ++k) {
        if (k > 1) all.push_back(all.back());
        all.back().name = given.name + std::to_string(k);
      }
    }
    const auto is_other = [](const auto& v) { return v.content != Content::coordinate; };
    const auto others = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), is_other));
    std::size_t k = 0; // of the others
    for (const WorkloadVariable& v : all) {
      if (is_other(v)) ++k;
      if (is_other(v) && n > 0 && n < others && k * n / others == (k - 1) * n / others) continue;
      w.variables.push_back(v);
      w.variables.back().number = w.variables.size() - 2; // after the time
    }
    const auto same = [](const auto& a, const auto& b) { return a.dimensions == b.dimensions; };
    for (const char* order : {"zyx", "yxz"}) { // which of these it is
      const std::vector<WorkloadVariable> other = in_order(w, order).variables;
      if (std::equal(other.begin(), other.end(), w.variables.begin(), same)) w.order = order;
    }
  }

  /// "0.5", "z=0.1" or "0.5,z=0.1": the factor of horizontal lengths, and of dimensions by name.
  void scale(const std::string& text) {
    where = "option -scale";
    double all = 1.0;
    std::map<std::string, double> of;
    for (const std::string& item : split(text, ',')) {
      const Words sides = split(item, '=');
      const double factor = parse_quantity(sides.back(), "", where);
      if (!(factor >= 1e-6 && factor <= 100.0)) fail("a number from 1e-6 to 100", item);
      (sides.size() == 1 ? all : of[at(sides[0]).name]) = factor;
    }
    for (WorkloadDimension& d : w.dimensions) {
      const bool is_cut = d.decomposition != none,
                 is_square = is_cut && w.decompositions[d.decomposition].axes == 1;
      if (of.count(d.name) > 0) {
        d.length = scaled(d.length, of[d.name], true);
      } else if (!d.vertical && lengths.count(d.name) > 0) {
        const auto [a, b, powers] = lengths[d.name];
        const double square = (static_cast<double>(d.length) - b) / a;
        if (!(a > 0.0 && square >= 0.0))
          fail("a length of " + d.name + " that its statement length has",
               std::to_string(d.length));
        const double k = std::sqrt(square) * all,
                     made = powers > 0.0 ? std::exp2(std::max(0.0, std::round(std::log2(k))))
                                         : std::max(2.0, std::round(k));
        d.length = static_cast<std::size_t>(a * made * made + b);
      } else if (!d.vertical && (is_cut || d.spacing != 0.0)) {
        d.length = scaled(d.length, is_square ? all * all : all, !is_square);
      }
      if (d.length > 0) w.text += d.name + " = " + std::to_string(d.length) + ", ";
    }
    w.text += std::to_string(w.variables.size()) + " variables";
  }
};

} // namespace

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

Workload make_workload(const WorkloadOptions& options, MPI_Comm comm) {
  const auto known = named_workloads.find(options.name);
  std::string path = options.name, names;
  io::Schema header;
  if (known != named_workloads.end()) {
    header = parse_cdl(known->second, path);
  } else if (path.rfind("file:", 0) != 0) {
    for (const auto& [name, text] : named_workloads) names += name + ", ";
    throw Error("option -workload: expected " + names + "or file:NAME, found '" + path + "'");
  } else {
    path.erase(0, 5);
    io::on_rank_0(comm, [&] {
      std::ifstream in(path);
      header = ends_with(path, ".cdl") && in
                   ? parse_cdl({std::istreambuf_iterator<char>(in), {}}, path)
                   : io::NcFile(path).schema();
    });
    io::broadcast_value(header, comm);
  }
  Draft draft{header, path, ""};
  const auto* own = io::find(header.attributes, "nunatak_io");
  draft.w.name = options.name;
  if (known == named_workloads.end()) draft.w.files = {path};
  for (const io::Dimension& d : header.dimensions) {
    const bool is_record = d.length == io::unlimited && draft.w.record == none;
    if (is_record) draft.w.record = draft.w.dimensions.size();
    draft.w.dimensions.push_back({d.name, is_record ? 0 : d.extent()});
  }
  const bool has_own = own != nullptr && own->text() != nullptr;
  draft.take_statements(
      options.decomposition.empty() && has_own ? *own->text() : options.decomposition, comm);
  draft.take_variables(static_cast<std::size_t>(options.variables));
  draft.scale(options.scale);
  schema_of(draft.w).validate();
  return draft.w;
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
  for (const WorkloadDimension& d : w.dimensions)
    schema.dimensions.push_back({d.name, d.length, d.decomposition != none});
  for (const WorkloadVariable& v : w.variables) {
    io::Variable variable{v.name, v.type, {}, v.attributes};
    if (v.records) variable.dimensions.push_back(w.dimensions[w.record].name);
    for (const std::size_t d : v.dimensions) variable.dimensions.push_back(w.dimensions[d].name);
    schema.variables.push_back(variable);
  }
  schema.attributes = {{"Conventions", "CF-1.8"}, {"title", "nunatak-io, workload " + w.name}};
  return schema;
}

} // namespace nunatak::bench
