// A field of the model as output sees it: an array and its name in files. The label of the View is
// for profilers only.
#pragma once

#include "kernels/grid/array.hpp"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

namespace nunatak {

using FieldArray = std::variant<Array2<double>, Array2<int>, Array3<double>>;

struct Field {
  std::string name; ///< a variable of variables.hpp
  FieldArray array;
  bool restart = false; ///< a restart reads it: state, or forcing that was given; else a diagnostic
};

/// Names are unique, but for diagnostics that repeat forcing: the first field of a name counts.
using FieldList = std::vector<Field>;

/// nullptr if there is none of that name.
inline const Field* find(const FieldList& fields, const std::string& name) {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

} // namespace nunatak
