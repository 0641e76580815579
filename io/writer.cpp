#include "io/writer.hpp"

#include "io/async/client.hpp"
#include "io/registry.hpp"
#include "io/watchdog.hpp"

namespace nunatak::io {

// The transports, each in a file of its own: durable/sync_file.cpp, async/async_file.cpp.
std::unique_ptr<File> open_sync(MPI_Comm comm, const std::string& path, const Schema& schema,
                                FileOptions options, bool makes_sums, const OpenFormat& open,
                                const Topology& machine, const DiskCaller& call_disk,
                                Statistics& total);
std::unique_ptr<File> open_async(MPI_Comm comm, const std::string& path, const Schema& schema,
                                 FileOptions options, bool makes_sums, Client& client,
                                 Statistics& total);

namespace {

bool has_servers(const Options& options) { return options.transport != "sync"; }

} // namespace

Writer::Writer(MPI_Comm comm, Options options, const std::string& who)
    : m_comm(comm), m_options(std::move(options)), m_machine(make_topology(comm, 0)) {
  Watchdog::of_process().set(comm, m_options.patience.count, who, has_servers(m_options));
  check(m_options);
  const Topology topology = make_topology(comm, m_options.ranks_per_node);
  m_options.layout = layout_of(m_options, topology);
  m_open = find_format(comm, m_options, topology);
  if (has_servers(m_options)) m_client = std::make_unique<Client>(comm, m_options);
}

Writer::~Writer() = default;

std::unique_ptr<File> Writer::open(const std::string& path, const Schema& schema,
                                   FileOptions file_options) {
  m_last_path = path;
  const bool sums = makes_sums(m_options);
  if (m_client)
    return open_async(m_comm, path, schema, file_options, sums, *m_client, m_statistics);
  return open_sync(m_comm, path, schema, file_options, sums, m_open, m_machine, m_options.call_disk,
                   m_statistics);
}

void Writer::finish() {
  watched(m_last_path, "finish", [&] {
    if (m_client) m_server_reports = m_client->finish();
  });
}

std::vector<std::string> Writer::take_committed() {
  return m_client ? m_client->take_committed() : std::vector<std::string>();
}

Request Writer::request() const { return m_client ? m_client->servers().request() : Request::none; }

std::unique_ptr<Writer> make_writer(MPI_Comm comm, const Options& options) {
  return std::make_unique<Writer>(comm, options);
}

} // namespace nunatak::io
