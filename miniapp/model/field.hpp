// Any array of the model as the output sees it: its name is the label of the View.
#pragma once

#include "kernels/grid/array.hpp"

#include <variant>
#include <vector>

namespace nunatak {

using Field = std::variant<Array2<double>, Array2<int>, Array3<double>>;

/// Fields by name; a later one of the same name takes the place of an earlier one.
class FieldList {
public:
  template <class Array> void add(const Array& array) { m_fields.emplace_back(array); }
  void add(const FieldList& other) { m_fields.insert(m_fields.end(), other.m_fields.begin(), other.m_fields.end()); }

  /// nullptr if there is none of that name.
  const Field* find(const std::string& name) const {
    for (auto f = m_fields.rbegin(); f != m_fields.rend(); ++f) {
      if (std::visit([](const auto& array) { return array.label(); }, *f) == name) return &*f;
    }
    return nullptr;
  }

private:
  std::vector<Field> m_fields;
};

} // namespace nunatak
