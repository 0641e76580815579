// Why a run ends before its time: the clock on the wall (-run_wall), or a signal of the batch
// system. The step that is being computed ends; then the state is written, all files are closed,
// and the program ends with a status of its own.
//
//   remember_signals();                       // from now on they no longer kill the program
//   EarlyEnd early(rank, options.run_wall);
//   while (!clock.finished() && !early) {
//     ...
//     early.agree(largest over ranks of early.wish(seconds of the longest output));
//   }
//
// No function communicates: the wishes travel with a reduction that is there anyway (summary.hpp).
#pragma once

#include <string>

namespace nunatak {

/// Exit status of a run that ended early and left a state to continue from.
constexpr int ended_early = 85;

/// From now on SIGTERM and SIGUSR1 are remembered for EarlyEnd::wish, instead of ending the
/// program.
void remember_signals();

class EarlyEnd {
public:
  /// `limit`: seconds since the program began, 0 for none. Steps are timed from here on.
  EarlyEnd(int rank, double limit);

  /// At the end of a step: what this rank wants, the more urgent the larger, 0 for nothing. Any
  /// rank's signal counts; rank 0 looks at the clock, and wants to end if what is left of the limit
  /// is less than two of the longest steps so far (one more, and the diagnosis of the last state),
  /// the longest output so far (`longest_output`, s) and a hundredth of the limit.
  double wish(double longest_output);
  /// The largest wish of all ranks: the same on all.
  void agree(double wish) { m_reason = static_cast<int>(wish); }

  explicit operator bool() const { return m_reason != 0; }
  std::string reason() const; ///< "SIGTERM", "SIGUSR1", "the limit -run_wall", ""

  /// Says on standard error (of rank 0) that the run ended at `where` and can be continued from the
  /// file `state`. Returns the exit status: ended_early, or 1 if there is no such file ("").
  int tell(const std::string& where, const std::string& state) const;

private:
  int m_rank;
  double m_limit, m_step_begin, m_longest_step = 0.0;
  int m_reason = 0;
};

} // namespace nunatak
