#include "common/error.hpp"
#include "kernels/grid/virtual/virtual_ranks.hpp"
#include "miniapp/base/version.hpp"
#include "miniapp/base/world.hpp"

#include <cstdlib>

namespace nunatak {

Versions library_versions() { return {}; }

int World::rank() const { return 0; }
int World::size() const { return 1; }
void World::barrier() const {}
std::int64_t World::sum(std::int64_t value) const { return value; }
std::int64_t World::max(std::int64_t value) const { return value; }
double World::max(double value) const { return value; }

void World::agree(const std::function<void()>& f) const {
  try {
    f();
  } catch (const std::exception& error) {
    throw Error(error.what());
  }
}

std::unique_ptr<Ranks> World::ranks(const Decomposition& decomposition) const {
  return std::make_unique<VirtualRanks>(decomposition);
}

bool World::all_come(double) const { return true; }
void World::abort() const { std::exit(exit_error); }

struct Processes::Parts {};
Processes::Processes(int, char**) {}
Processes::~Processes() = default;
void Processes::divide() {}
bool Processes::is_server() const { return false; }
int Processes::serve() { return 0; }
void Processes::stop(int) {}

} // namespace nunatak
