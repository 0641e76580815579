// Observer interface for the parts of a step: timers of the model, message counts on virtual ranks.
// Ranks::set_watch; StepPart and StepShare (ranks.hpp) call it.
#pragma once

namespace nunatak {

class StepWatch {
public:
  virtual ~StepWatch() = default;
  virtual void begin(const char* part) = 0; ///< parts do not overlap
  virtual void end() = 0;
  /// Shares of a part. One that begins within another interrupts it.
  virtual void begin_share(const char* share) { (void)share; }
  virtual void end_share() {}
};

} // namespace nunatak
