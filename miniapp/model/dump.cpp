#include "miniapp/model/dump.hpp"

#include "io/agree.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/base/paths.hpp"
#include "miniapp/model/field_block.hpp"
#include "miniapp/model/output_schema.hpp"

namespace nunatak {

namespace {

Dumps* current = nullptr;

} // namespace

void dump_buffer(const std::string& name, const FieldArray& array) {
  if (current != nullptr) current->append(name, array);
}

Dumps::Dumps(const Options& options, const Grid& grid, const Patch& patch, MPI_Comm comm,
             std::string history)
    : m_options(options), m_grid(grid), m_patch(patch), m_coordinates(grid, patch),
      m_history(std::move(history)) {
  if (options.dump.empty()) return;
  io::on_rank_0(comm, [&] { require_writable("-dump", options.dump + "x.nc"); });
  m_writer = io::make_writer(comm, options.io);
  current = this;
}

Dumps::~Dumps() {
  if (current == this) current = nullptr;
}

Dumps::Dump Dumps::open(const std::string& name, int levels, bool columns, io::Type type) {
  io::Schema schema = map_schema(m_grid, {}, "buffer '" + name + "' of nunatak", m_history, false);
  schema.dimensions.front().name = "call";
  if (columns) schema.dimensions.push_back({"level", static_cast<std::size_t>(levels)});
  for (io::Variable& v : schema.variables) {
    if (v.name == "time") v.dimensions = {"call"}; // several calls may share a time: no coordinate
  }
  schema.variables.push_back(
      {"call", io::Type::int32, {"call"}, {{"long_name", "number of the call of dump_buffer"}}});
  io::Variable variable{name,
                        type,
                        {"call", "y", "x"},
                        {{"long_name", "buffer '" + name + "'"}, {"coordinates", "time"}}};
  if (columns)
    variable.dimensions.insert(variable.dimensions.begin() + (m_options.io_order == "zyx" ? 1 : 3),
                               "level");
  schema.variables.push_back(variable);
  Dump dump{m_writer->open(m_options.dump + name + ".nc", schema,
                           {io::FileKind::append, m_options.io_commit_every}),
            0, levels, type};
  m_coordinates.put(*dump.file);
  return dump;
}

void Dumps::append(const std::string& name, const FieldArray& any) {
  Kokkos::fence("dump: the buffer is there");
  std::visit(
      [&](const auto& on_device) {
        using Array = std::decay_t<decltype(on_device)>;
        const auto array = on_host(on_device);
        constexpr bool columns = std::is_same_v<Array, Array3<double>>;
        const int levels = levels_of(array);
        const std::string what = "dump_buffer '" + name + "'";
        const auto rows = static_cast<std::size_t>(m_patch.ym + 2),
                   cells = static_cast<std::size_t>(m_patch.xm + 2);
        if (array.extent(0) != rows || array.extent(1) != cells) {
          throw Error(what + ": expected an array of " + std::to_string(rows) + " x " +
                      std::to_string(cells) + " cells (the patch and its ghosts), found " +
                      std::to_string(array.extent(0)) + " x " + std::to_string(array.extent(1)));
        }
        constexpr io::Type type = io::type_of<typename Array::value_type>();
        const auto known = m_dumps.find(name);
        Dump& dump = known != m_dumps.end()
                         ? known->second
                         : m_dumps.emplace(name, open(name, levels, columns, type)).first->second;
        if (dump.levels != levels || dump.type != type) {
          throw Error(what + ": expected " + name_of(dump.type) + " with " +
                      std::to_string(dump.levels) +
                      " values per cell, as in its first call, found " + name_of(type) + " with " +
                      std::to_string(levels));
        }
        const std::size_t call = dump.calls++;
        dump.file->put_all("call", call,
                           std::vector<std::int32_t>{static_cast<std::int32_t>(call)});
        dump.file->put_all("time", call, std::vector<double>{calendar_days(m_time)});
        dump.file->put(name, call,
                       field_block(m_patch, columns, array, m_options.io_order == "zyx"),
                       first_owned(array));
        dump.file->end_record();
      },
      any);
}

void Dumps::finish() {
  for (auto& [name, dump] : m_dumps) dump.file->close();
  if (m_writer) m_writer->finish();
  m_dumps.clear();
}

} // namespace nunatak
