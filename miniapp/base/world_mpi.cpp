// World with MPI. See world.hpp.
#include "common/error.hpp"
#include "io/base/agree.hpp"
#include "io/base/watchdog.hpp"
#include "io/disk/mpi_io.hpp"
#include "io/write/servers.hpp"
#include "miniapp/base/loop_ranks.hpp"
#include "miniapp/base/option_table.hpp"
#include "miniapp/base/version.hpp"
#include "miniapp/base/world.hpp"

#include <chrono>
#include <cstdlib>
#include <dlfcn.h>
#include <link.h>
#include <string>
#include <thread>
#include <vector>

namespace nunatak {

namespace {

MPI_Comm computing = MPI_COMM_WORLD; // the one World of the program
// duplicate for all_come(), because `computing` may have other calls pending
MPI_Comm meeting = MPI_COMM_NULL;

void meet(MPI_Comm comm) {
  if (meeting != MPI_COMM_NULL) MPI_Comm_free(&meeting);
  if (comm != MPI_COMM_NULL) MPI_Comm_dup(comm, &meeting);
}

template <class T> T reduce(T value, MPI_Datatype type, MPI_Op op) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, type, op, computing);
  return value;
}

/// Open MPI 4.1 unloads its plugins in MPI_Finalize while a thread of its own may still run their
/// code: of about 200 programs started without mpiexec one ended by signal 11. They stay loaded.
void keep_plugins() {
  std::vector<std::string> plugins;
  const auto add = [](dl_phdr_info* library, std::size_t /*size*/, void* list) {
    const std::string name = library->dlpi_name;
    if (name.find("mca_") != std::string::npos) // PMIx, too, has some
      static_cast<std::vector<std::string>*>(list)->push_back(name);
    return 0;
  };
  dl_iterate_phdr(add, &plugins);
  for (const std::string& name : plugins)
    dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

} // namespace

MPI_Comm world_comm() { return computing; }

Versions library_versions() {
  Versions all = io::library_versions();
  all.insert(all.begin(), {"MPI", io::mpi_library()});
  return all;
}

int World::rank() const { return io::rank_in(computing); }
int World::size() const { return io::size_of(computing); }
void World::barrier() const { MPI_Barrier(computing); }
std::int64_t World::sum(std::int64_t value) const { return reduce(value, MPI_INT64_T, MPI_SUM); }
std::int64_t World::max(std::int64_t value) const { return reduce(value, MPI_INT64_T, MPI_MAX); }
double World::max(double value) const { return reduce(value, MPI_DOUBLE, MPI_MAX); }
void World::agree(const std::function<void()>& f) const { io::agree(computing, f); }

std::unique_ptr<Ranks> World::ranks(const Decomposition& decomposition) const {
  return ranks_of_loops(computing, decomposition);
}

bool World::all_come(double seconds) const {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(meeting, &request);
  int have_come = 0;
  for (const double begin = MPI_Wtime(); have_come == 0 && MPI_Wtime() - begin < seconds;) {
    MPI_Test(&request, &have_come, MPI_STATUS_IGNORE);
    if (have_come == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return have_come != 0;
}

void World::abort() const {
  MPI_Abort(MPI_COMM_WORLD, exit_error);
  std::_Exit(exit_error); // where another thread, the watchdog, has aborted before
}

struct Processes::Parts {
  std::string transport;
  std::unique_ptr<io::Servers> servers;
};

Processes::Processes(int argc, char** argv) : m_parts(std::make_unique<Parts>()) {
  io::prepare_mpi();
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided); // other threads use no MPI
  io::give_last_words();
  m_parts->transport = value_on_command_line(argc, argv, "io_transport");
  meet(MPI_COMM_WORLD);
}

Processes::~Processes() {
  meet(MPI_COMM_NULL);
  computing = MPI_COMM_WORLD;
  m_parts.reset();
  keep_plugins();
  MPI_Finalize();
}

void Processes::divide() {
  m_parts->servers = std::make_unique<io::Servers>(MPI_COMM_WORLD, m_parts->transport);
  computing = m_parts->servers->comm();
  meet(computing);
}

bool Processes::is_server() const { return m_parts->servers->is_server(); }
int Processes::serve() { return m_parts->servers->serve(); }
void Processes::stop(int status) { m_parts->servers->stop(status); }

} // namespace nunatak
