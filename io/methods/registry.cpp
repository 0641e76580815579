#include "io/methods/registry.hpp"

#include "io/disk/disk.hpp"
#include "io/disk/mpi_io.hpp"
#include "io/formats/runs.hpp"
#include "io/layouts/remap.hpp"
#include "io/layouts/split_files.hpp"
#include "io/methods/method.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

namespace nunatak::io {

// Functions that make the rows, each in the file of its format.
FormatRow null_format(), serial_format(), netcdf4_format(), pnetcdf_format(), hybrid_format(),
    direct_format();

const std::vector<FormatRow>& formats() {
  static const std::vector<FormatRow> rows = {
      null_format(),    serial_format(), netcdf4_format(),
      pnetcdf_format(), hybrid_format(), direct_format(),
  };
  return rows;
}

const std::vector<LayoutRow>& layouts() {
  static const std::vector<LayoutRow> rows = {
      {"default", false, nullptr}, // until layout_of() has chosen one
      {"native", false, nullptr},
      {"auto", true,
       [](auto& schema, auto v, auto n, auto stripe) {
         return run_boxes(schema, v, {n, stripe}, packed_layout(schema).variables[v].begin);
       },
       true, false, true},
      {"zslab", true, [](auto& schema, auto v, auto n, auto) { return slab_boxes(schema, v, n); },
       true},
      {"box", true,
       [](auto& schema, auto v, auto n, auto) { return Rectangles(schema, n).boxes(v, false); }},
      {"morton", true, segment_boxes},
      {"file-per-aggregator", true, // shared variables are repeated in all files
       [](auto& schema, auto v, auto n, auto) { return Rectangles(schema, n).boxes(v, true); },
       false, true},
  };
  return rows;
}

std::vector<int> aggregators_of(const Options& options, const Topology& topology) {
  const LayoutRow& row = layout_row(options);
  const std::size_t colon = options.layout.find(':');
  int per_node = std::max(1, options.aggregators);
  if (colon != std::string::npos) {
    per_node = std::stoi(options.layout.substr(colon + 1));
  } else if (row.every_rank && options.aggregators == 0 && !(row.chooses && topology.n_nodes > 1)) {
    per_node = static_cast<int>(topology.node_of.size());
  }
  return aggregators(topology, per_node);
}

bool writes_behind(const Options& options, const Topology& topology, const Stripes& stripes) {
  return topology.n_nodes > 1 && !stripes.locks && has_features(options, by_runs) &&
         !uses_mpi_io(options) && !layout_row(options).subfiles;
}

namespace {

template <class Row>
std::string listed(const std::vector<Row>& rows, const char* separator, const char* last) {
  std::string names;
  for (const Row& row : rows)
    names += (names.empty() ? "" : &row == &rows.back() ? last : separator) + std::string(row.name);
  return names;
}

template <class Row>
const Row& row_of(const std::vector<Row>& rows, std::string_view name, const char* what) {
  if (const Row* const found = find(rows, std::string(name))) return *found;
  throw Error(std::string(what) + ": expected " + listed(rows, ", ", " or ") + ", found '" +
              std::string(name) + "'");
}

/// Hints for MPI-IO that the user has not set: N aggregators per node (Options::aggregators), and
/// no sieved writes, because ROMIO keeps its file lock after a failed one, and other ranks hang.
Options with_hints(Options options, const Topology& topology) {
  if (uses_mpi_io(options) && mpi_io_name() == "ROMIO")
    options.hints.emplace("romio_ds_write", "disable");
  const bool is_native = layout_row(options).boxes == nullptr;
  if (has_features(options, aggregates) && is_native) {
    options.hints.emplace("romio_cb_write", "enable"); // makes an error known to all ranks
    if (options.aggregators == 0) options.aggregators = 2;
  }
  if (options.aggregators == 0 || !has_features(options, mpi_io) || layout_row(options).subfiles)
    return options;
  const std::string n = std::to_string(options.aggregators * topology.n_nodes);
  options.hints.emplace("cb_nodes", n);
  options.hints.emplace("cb_config_list", "*:" + n);
  return options;
}

/// Lustre and GPFS lock extents of a file for a node. Magic numbers of statfs(2).
bool locks_extents(const char* folder) {
  constexpr std::int64_t lustre = 0x0bd00bd0, gpfs = 0x47504653;
  struct statfs status {};
  const std::int64_t type = ::statfs(folder, &status) == 0 ? status.f_type : 0;
  return type == lustre || type == gpfs || ::getxattr(folder, "lustre.lov", nullptr, 0) > 0;
}

/// struct lov_user_md of Lustre, versions 1 and 3: bytes of a stripe, and among how many servers
/// the stripes of a file are dealt.
struct LustreLayout {
  std::uint32_t magic, pattern;
  std::uint64_t object[2];
  std::uint32_t bytes;
  std::uint16_t servers, first;
};

/// The layout of files in this folder; 0 where it does not say.
LustreLayout lustre_layout_of(const char* folder) {
  LustreLayout layout{};
  char attribute[4096] = {};
  if (::getxattr(folder, "lustre.lov", attribute, sizeof attribute) < 0) return {};
  std::memcpy(&layout, attribute, sizeof layout);
  if (layout.magic != 0x0bd10bd0 && layout.magic != 0x0bd30bd0) return {};
  constexpr std::uint16_t all = 0xffff;
  if (layout.servers == all) layout.servers = 0;
  return layout;
}

/// The format inside a layout that moves values.
OpenFormat open_in_layout(MPI_Comm comm, const Options& options, const Topology& topology) {
  const LayoutRow& row = layout_row(options);
  const std::vector<int> ranks = aggregators_of(options, topology);
  return [=, &row](const std::string& path, const Schema& schema) {
    const Stripes stripes = stripes_at(comm, path, options);
    const bool behind = writes_behind(options, topology, stripes);
    auto inner = row.subfiles ? make_split_files(comm, path, schema, options, ranks, open_anew,
                                                 has_features(options, netcdf))
                              : open_anew(comm, path, schema, options);
    if (row.chooses)
      return make_auto(comm, schema, options, topology, ranks, std::move(inner), behind, stripes);
    const BoxesOf boxes = [=, &row](const Schema& of, std::size_t v) {
      return row.boxes(of, v, ranks.size(), stripes.bytes);
    };
    return make_remap(comm, schema, options, topology, ranks, boxes, std::move(inner), behind);
  };
}

} // namespace

Stripes stripes_at(MPI_Comm comm, const std::string& path, const Options& options) {
  std::uint64_t found[] = {0, 0, 0}; // block, locks, servers
  if (rank_in(comm) == 0) {
    std::string folder = std::filesystem::path(path).parent_path().string();
    if (folder.empty()) folder = ".";
    struct stat status {};
    if (::stat(folder.c_str(), &status) == 0)
      found[0] = static_cast<std::uint64_t>(status.st_blksize);
    found[1] = locks_extents(folder.c_str()) ? 1 : 0;
    const LustreLayout layout = lustre_layout_of(folder.c_str());
    if (layout.bytes > 0) found[0] = layout.bytes;
    // one writer for each server, if stripes are the servers' and several servers have them
    if (layout.servers > 1 && stripe_of(options.stripe, found[0]) == layout.bytes)
      found[2] = layout.servers;
  }
  MPI_Bcast(found, 3, MPI_UINT64_T, 0, comm);
  return {stripe_of(options.stripe, found[0]), found[1] != 0, found[2]};
}

std::unique_ptr<Format> open_anew(MPI_Comm comm, const std::string& path, const Schema& schema,
                                  const Options& options) {
  if (has_features(options, netcdf)) on_rank_0(comm, [&] { create_anew(path); });
  const auto open = format_row(options.format).open;
  if (has_features(options, many_writers) || size_of(comm) == 1)
    return open(comm, path, schema, options);
  const BoxesOf all = [](const Schema& of, std::size_t v) { return Boxes{{whole_box(of, v)}}; };
  const Topology topology = make_topology(comm, options.ranks_per_node);
  return make_remap(comm, schema, options, topology, {0}, all, open(comm, path, schema, options));
}

const FormatRow& format_row(std::string_view name) {
  return row_of(formats(), name, "option -io_format");
}
const LayoutRow& layout_row(std::string_view name) {
  return row_of(layouts(), name, "option -io_layout");
}
const LayoutRow& layout_row(const Options& options) {
  return layout_row(options.layout.substr(0, options.layout.find(':')));
}

std::string format_words() { return listed(formats(), "|", "|"); }
std::string format_writers() {
  std::string text;
  for (const FormatRow& row : formats())
    text += (text.empty() ? "" : ", ") + std::string(row.name) + ": " + row.writer;
  return text;
}
std::string layout_words() {
  std::string words;
  for (const LayoutRow& row : layouts()) {
    words += (words.empty() ? "" : "|") + std::string(row.name);
    if (row.per_node) words += "|" + std::string(row.name) + ":N";
  }
  return words;
}

void check_schema(const Schema& schema, const Options& options) {
  const FormatRow& row = format_row(options.format);
  if (row.check != nullptr) row.check(schema, options);
}

bool has_features(const Options& options, unsigned features) {
  const FormatRow& row = format_row(options.format);
  unsigned has = row.features;
  for (const FormatOption& option : row.options)
    has |= option.of(options) != option.value ? option.adds : 0;
  return (has & features) == features;
}

bool uses_mpi_io(const Options& options) {
  return has_features(options, mpi_io) || has_features(options, mpi_io_calls);
}

std::string layout_of(const Options& options) {
  if (options.layout != "default") return options.layout;
  const bool can_move =
      has_features(options, by_runs) && options.transport == "sync" && options.define == "upfront";
  return can_move ? "auto" : "native";
}

bool makes_sums(const Options& options) {
  return options.checksum == "values" && has_features(options, netcdf);
}

std::string formats_that(const std::function<bool(const FormatRow&)>& fit) {
  std::vector<FormatRow> rows;
  std::copy_if(formats().begin(), formats().end(), std::back_inserter(rows), fit);
  return listed(rows, ", ", " or ");
}

OpenFormat find_format(MPI_Comm comm, const Options& chosen, const Topology& topology) {
  check(chosen);
  const Options options = with_hints(chosen, topology);
  OpenFormat open = [=](const std::string& path, const Schema& schema) {
    return open_anew(comm, path, schema, options);
  };
  if (layout_row(options).boxes != nullptr) open = open_in_layout(comm, options, topology);
  if (!uses_mpi_io(options)) return open;
  if (mpi_io_name() == "OMPIO" && !options.ompio) {
    throw Error("option -io_format: " + options.format +
                ": expected ROMIO to carry MPI-IO, found OMPIO, which reports success of writes " +
                "that failed: take an Open MPI with ROMIO and leave OMPI_MCA_io unset, choose "
                "format serial or direct, or accept " +
                "that errors are lost (-io_ompio yes)");
  }
  return [=](const std::string& path, const Schema& schema) {
    require_path_for(options, path);
    return open(path, schema);
  };
}

/// ROMIO removes text before a colon; NetCDF-C takes a backslash for the end of a folder.
void require_path_for(const Options& options, const std::string& path) {
  if (uses_mpi_io(options) && path.find_first_of(":\\") != std::string::npos)
    throw Error("file '" + path + "': expected a path without ':' and '\\' (MPI-IO), found one");
}

} // namespace nunatak::io
