// See host.hpp.
#include "miniapp/tools/io/host.hpp"

#include "io/formats/mpi_io.hpp"
#include "io/layouts/topology.hpp"
#include "io/library_versions.hpp"
#include "miniapp/base/error.hpp"

#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>

namespace nunatak::tools {

namespace {

/// Of this node, in bytes, as Linux estimates it: free, or can be freed. The largest number where it does not tell.
std::uint64_t available_memory() {
  std::ifstream in("/proc/meminfo");
  std::string name, unit;
  for (std::uint64_t kibibytes = 0; in >> name >> kibibytes; std::getline(in, unit)) {
    if (name == "MemAvailable:") return kibibytes * 1024;
  }
  return std::numeric_limits<std::uint64_t>::max();
}

} // namespace

Record host_facts(MPI_Comm comm) {
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  const io::Topology nodes = io::make_topology(comm, 0);
  int fullest = 0;
  for (int n = 0; n < nodes.n_nodes; ++n) {
    fullest = std::max(fullest, static_cast<int>(std::count(nodes.node_of.begin(), nodes.node_of.end(), n)));
  }
  auto cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  MPI_Allreduce(MPI_IN_PLACE, &cores, 1, MPI_INT, MPI_MIN, comm);
  std::uint64_t memory = available_memory();
  MPI_Allreduce(MPI_IN_PLACE, &memory, 1, MPI_UINT64_T, MPI_MIN, comm);
  double load = 0.0;
  if (getloadavg(&load, 1) != 1) load = -1.0;
  MPI_Bcast(&load, 1, MPI_DOUBLE, 0, comm);
  Record facts;
  facts["ranks"] = ranks, facts["nodes"] = nodes.n_nodes, facts["ranks_per_node"] = fullest, facts["cores_per_node"] = cores;
  facts["available_memory"] = memory;
  facts["oversubscribed"] = fullest > cores;
  facts["load_average"] = load < 0.0 ? Record() : Record(load);
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(version, &length);
  const std::string text = version;
  facts["mpi"] = text.substr(0, text.find_first_of(",\n"));
  facts["mpi_io"] = io::mpi_io_name();
  for (const auto& [name, number] : io::library_versions()) facts["libraries"][name] = number;
  return facts;
}

Record file_system_facts(const std::string& folder) {
  struct statfs type {};
  struct statvfs space {};
  if (statfs(folder.c_str(), &type) != 0 || statvfs(folder.c_str(), &space) != 0) {
    throw Error("option -o: expected a folder, found '" + folder + "'");
  }
  const std::map<std::int64_t, const char*> names = {
      // statfs(2); /usr/include/linux/magic.h
      {0xef53, "ext"},    {0x58465342, "xfs"},    {0x9123683e, "btrfs"}, {0x01021994, "tmpfs"}, {0x794c7630, "overlay"},
      {0x6969, "nfs"},    {0x0bd00bd0, "lustre"}, {0x47504653, "gpfs"},  {0x2fc12fc1, "zfs"},   {0xf2f52010, "f2fs"},
      {0x01021997, "9p"}, {0x65735546, "fuse"},   {0x00c36400, "ceph"},  {0x19830326, "beegfs"}};
  const auto found = names.find(static_cast<std::int64_t>(type.f_type));
  std::ostringstream number;
  number << "0x" << std::hex << type.f_type;
  Record facts;
  facts["type"] = found == names.end() ? number.str() : found->second;
  facts["free_bytes"] = static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize;
  return facts;
}

} // namespace nunatak::tools
