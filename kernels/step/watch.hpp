// Observer interface for the parts of a step: timers of the model, message counts on virtual ranks.
#pragma once

namespace nunatak {

class StepWatch {
public:
  virtual ~StepWatch() = default;
  virtual void begin(const char* part) = 0; ///< parts do not overlap
  virtual void end() = 0;
};

/// Marks a part from here to the end of the block.
class StepPart {
public:
  StepPart(StepWatch& watch, const char* part) : m_watch(watch) { watch.begin(part); }
  ~StepPart() { m_watch.end(); }
  StepPart(const StepPart&) = delete;
  StepPart& operator=(const StepPart&) = delete;

private:
  StepWatch& m_watch;
};

} // namespace nunatak
