#include "miniapp/base/start.hpp"

#include "common/error.hpp"
#include "kernels/grid/memory.hpp"
#include "miniapp/base/world.hpp"

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <type_traits>

namespace nunatak {

namespace {

/// The number in an environment variable; 0: none.
long number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::strtol(text, nullptr, 10) : 0;
}

/// The variable by which a launcher says that it has started several processes; "" if none does.
std::string launcher_of_several() {
  constexpr const char* sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"};
  for (const char* variable : sizes) {
    if (number_in(variable) == 1) return ""; // that of this MPI, perhaps inside another one
  }
  for (const char* variable : {sizes[0], sizes[1], sizes[2], "SLURM_STEP_NUM_TASKS"}) {
    if (number_in(variable) > 1) return variable;
  }
  return number_in("SLURM_PROCID") > 0 ? "SLURM_PROCID" : ""; // 0 in a batch script, too
}

} // namespace

void check_start(const std::string& program, bool alone) {
  std::error_code is_gone;
  if (std::filesystem::current_path(is_gone).empty())
    throw Error("the working folder was removed, or cannot be reached");
  if (alone || World().size() > 1) return;
  const std::string variable = launcher_of_several();
  if (!variable.empty()) {
    throw Error("one of several processes of a launcher (" + variable + " = " +
                std::getenv(variable.c_str()) +
                ") that MPI knows nothing of: expected the mpiexec of this program's MPI library, "
                "or srun --mpi=...; with -alone each process runs by itself");
  }
  if (number_in("SLURM_NTASKS") > 1 && number_in("OMPI_COMM_WORLD_SIZE") == 0)
    std::cerr << program + ": one process in a job of " + std::getenv("SLURM_NTASKS") +
                     " tasks (SLURM_NTASKS); srun or mpiexec starts all of them\n";
}

Kokkos::InitializationSettings kokkos_settings() {
  constexpr bool is_serial = std::is_same_v<Exec, Kokkos::Serial>;
  // OpenMPInternal::MAX_THREAD_COUNT of Kokkos; for its first look it starts all of them
  constexpr long most = is_serial ? 10000 : 512;
  for (const char* variable : {"OMP_NUM_THREADS", "KOKKOS_NUM_THREADS"}) {
    if (number_in(variable) > most) {
      throw Error("environment variable " + std::string(variable) + ": expected at most " +
                  std::to_string(most) + " threads, found " + std::getenv(variable));
    }
  }
  auto settings = Kokkos::InitializationSettings().set_disable_warnings(true);
  if (is_serial) settings.set_num_threads(1);
  return settings;
}

} // namespace nunatak
