// Progress of a long run with an estimate of its end: one line on a terminal, redrawn at most four times a second; silent when
// standard error is not a terminal (a log, a batch job, most ways of starting more than one rank) unless it is asked for.
#pragma once

#include <string>

namespace nunatak {

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
