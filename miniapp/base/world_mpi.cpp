#include "io/agree.hpp"
#include "io/formats/mpi_io.hpp"
#include "miniapp/base/mpi_ranks.hpp"
#include "miniapp/base/world.hpp"

#include <Kokkos_Core.hpp>

#include <cstdlib>

namespace nunatak {

namespace {

template <class T> T reduce(T value, MPI_Datatype type, MPI_Op op) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, type, op, MPI_COMM_WORLD);
  return value;
}

} // namespace

int World::rank() const {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int World::size() const {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

void World::barrier() const { MPI_Barrier(MPI_COMM_WORLD); }
std::int64_t World::sum(std::int64_t value) const { return reduce(value, MPI_INT64_T, MPI_SUM); }
std::int64_t World::max(std::int64_t value) const { return reduce(value, MPI_INT64_T, MPI_MAX); }
double World::max(double value) const { return reduce(value, MPI_DOUBLE, MPI_MAX); }
void World::agree(const std::function<void()>& f) const { io::agree(MPI_COMM_WORLD, f); }

std::unique_ptr<Ranks> World::ranks(const Decomposition& decomposition) const {
  return std::make_unique<MpiRanks>(MPI_COMM_WORLD, decomposition);
}

void World::abort() const {
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort(); // not reached
}

Libraries::Libraries(int argc, char** argv) {
  io::prefer_romio(); // before MPI starts
  MPI_Init(&argc, &argv);
  m_kokkos = std::make_unique<Kokkos::ScopeGuard>(Kokkos::InitializationSettings().set_disable_warnings(true));
}

Libraries::~Libraries() {
  m_kokkos.reset();
  MPI_Finalize();
}

} // namespace nunatak
