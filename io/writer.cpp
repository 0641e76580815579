// Opens files by the registry. See writer.hpp.
#include "io/writer.hpp"

#include "io/durable/sync_file.hpp"
#include "io/registry.hpp"

namespace nunatak::io {

Writer::Writer(MPI_Comm comm, Options options)
    : m_comm(comm), m_options(std::move(options)), m_machine(make_topology(comm, 0)),
      m_open(find_format(comm, m_options, make_topology(comm, m_options.ranks_per_node))), m_watchdog(comm, m_options.patience) {}

std::unique_ptr<File> Writer::open(const std::string& path, const Schema& schema, FileOptions file_options) {
  return std::make_unique<SyncFile>(m_comm, path, schema, file_options, m_open, m_machine, m_statistics, m_watchdog);
}

std::unique_ptr<Writer> make_writer(MPI_Comm comm, const Options& options) { return std::make_unique<Writer>(comm, options); }

} // namespace nunatak::io
