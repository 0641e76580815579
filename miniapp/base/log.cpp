#include "miniapp/base/log.hpp"

#include <mpi.h>
#include <unistd.h>

#include <cstdio>

namespace nunatak {

Progress::Progress(int rank, const std::string& wanted)
    : m_on(rank == 0 && (wanted == "on" || (wanted == "auto" && isatty(STDERR_FILENO) != 0))),
      m_start(MPI_Wtime()) {}

Progress::~Progress() { hide(); }

void Progress::hide() {
  if (m_on && m_last > 0.0) std::fputs("\r\033[K", stderr), std::fflush(stderr);
}

void Progress::update(double done, const std::string& what) {
  const double now = MPI_Wtime();
  if (!m_on || (done < 1.0 && now - m_last < 0.25)) return;
  m_last = now;
  const double spent = now - m_start, left = done > 0.0 ? spent * (1.0 - done) / done : 0.0;
  constexpr int width = 30;
  const int bars = static_cast<int>(width * (done < 1.0 ? done : 1.0));
  char line[160];
  std::snprintf(line, sizeof line, "\r\033[K[%.*s%*s] %3.0f%%  %s  %.0f s, %.0f s left", bars,
                "##############################", width - bars, "", 100.0 * done, what.c_str(),
                spent, left);
  std::fputs(line, stderr);
  std::fflush(stderr);
}

} // namespace nunatak
