#include "io/write/writer.hpp"

#include "io/base/watchdog.hpp"
#include "io/methods/registry.hpp"
#include "io/write/servers.hpp"

namespace nunatak::io {

std::unique_ptr<File> open_sync(NewFile file, const OpenFormat& open, const Topology& machine,
                                const DiskCaller& call_disk); // write/sync_file.cpp

Writer::Writer(MPI_Comm comm, Options options, const std::string& who)
    : m_comm(comm), m_options(std::move(options)), m_machine(make_topology(comm, 0)) {
  const bool has_servers = m_options.transport != "sync";
  Watchdog::of_process().set(comm, m_options.patience, who, has_servers);
  check(m_options);
  const Topology topology = make_topology(comm, m_options.ranks_per_node);
  m_options.layout = layout_of(m_options);
  m_open = find_format(comm, m_options, topology);
  if (has_servers) m_connection = connect_to_servers(comm, m_options);
}

Writer::~Writer() = default;

std::unique_ptr<File> Writer::open(const std::string& path, const Schema& schema,
                                   FileOptions file_options) {
  NewFile file{m_comm, path, schema, file_options, makes_sums(m_options), m_statistics};
  if (m_connection) return m_connection->open(std::move(file));
  return open_sync(std::move(file), m_open, m_machine, m_options.call_disk);
}

void Writer::finish() {
  if (m_connection) m_server_reports = m_connection->finish();
}

std::vector<std::string> Writer::take_committed() {
  return m_connection ? m_connection->servers().take_committed() : std::vector<std::string>();
}

Request Writer::request() const {
  return m_connection ? m_connection->servers().request() : Request::none;
}

} // namespace nunatak::io
