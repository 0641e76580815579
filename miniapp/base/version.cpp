#include "miniapp/base/version.hpp"

#include "kernels/grid/array.hpp"

#include <iomanip>
#include <ostream>

namespace nunatak {

extern const char* const commit; // written by cmake/commit.cmake at every build

Versions versions() {
  const auto part = [](int n) { return std::to_string(n); };
  Versions all = {{"nunatak", NUNATAK_VERSION},
                  {"commit", commit},
                  {"compiler", NUNATAK_COMPILER},
                  {"Kokkos", part(KOKKOS_VERSION / 10000) + "." + part(KOKKOS_VERSION / 100 % 100) +
                                 "." + part(KOKKOS_VERSION % 100)},
                  {"Kokkos backends", NUNATAK_KOKKOS_BACKENDS},
                  {"kernels run in", Exec::name()}};
  for (const auto& library : library_versions()) all.push_back(library);
  return all;
}

void print_versions(std::ostream& out, const std::string& program, const Versions& more) {
  out << program << " " << NUNATAK_VERSION << "\n";
  Versions all = versions();
  all.insert(all.end(), more.begin(), more.end());
  for (const auto& [name, value] : all) {
    if (name == "nunatak" || value.empty()) continue;
    out << "  " << std::left << std::setw(17) << name << value << "\n";
  }
}

} // namespace nunatak
