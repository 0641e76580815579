// For the person who started the run, by rank 0: lines on standard output, and progress on standard
// error.
#pragma once

#include <iostream>
#include <string>

namespace nunatak {

class Log {
public:
  Log(int rank, bool on) : m_on(rank == 0 && on) {}
  void line(const std::string& text) const {
    if (m_on) std::cout << text << std::endl;
  }

private:
  bool m_on;
};

/// Progress of a long run with an estimate of its end: one line on a terminal, redrawn at most four
/// times a second; silent when standard error is not a terminal (a log, a batch job, most ways of
/// starting more than one rank) unless it is asked for.
class Progress {
public:
  Progress(int rank, const std::string& wanted); ///< auto, on, off
  ~Progress();

  /// `done` of 1; `what` is a few words ("year 3.2 of 10").
  void update(double done, const std::string& what);

  void hide(); ///< before another line is printed

private:
  bool m_on = false;
  double m_start = 0.0, m_last = 0.0;
};

} // namespace nunatak
