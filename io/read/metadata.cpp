// Metadata from the header, without access to the file (contents.hpp). See reader.hpp.
#include "io/reader.hpp"

#include <algorithm>

namespace nunatak::io {

namespace {

/// The element of that name; nullptr if there is none.
template <class T> const T* find(const std::vector<T>& list, const std::string& name) {
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&](const T& element) { return element.name == name; });
  return found == list.end() ? nullptr : &*found;
}

template <class T> std::vector<std::string> names_of(const std::vector<T>& list) {
  std::vector<std::string> names;
  for (const T& element : list) names.push_back(element.name);
  return names;
}

} // namespace

void Reader::fail(const std::string& what) const { throw Error("file '" + m_path + "': " + what); }

std::size_t Reader::id(const std::string& variable) const {
  const auto& all = contents().variables;
  if (const auto* v = find(all, variable)) return static_cast<std::size_t>(v - all.data());
  const std::string nearest = nearest_name(variable, names_of(all));
  fail("expected a variable '" + variable + "', found none of that name" +
       (nearest.empty() ? "" : " (did you mean '" + nearest + "'?)"));
}

std::vector<std::string> Reader::variables() const { return names_of(contents().variables); }

bool Reader::has(const std::string& variable) const {
  return find(contents().variables, variable) != nullptr;
}

std::vector<Reader::Axis> Reader::dimensions(const std::string& variable) const {
  std::vector<Axis> axes;
  for (const std::size_t d : contents().variables[id(variable)].axes)
    axes.push_back(contents().dimensions[d]);
  return axes;
}

std::string Reader::shape(const std::string& variable) const {
  std::string words;
  for (const Axis& axis : dimensions(variable))
    words += (words.empty() ? "" : ", ") + axis.name + " = " + std::to_string(axis.length);
  return words;
}

std::string Reader::type(const std::string& variable) const {
  return contents().variables[id(variable)].type;
}

std::size_t Reader::length(const std::string& dimension) const {
  const auto* found = find(contents().dimensions, dimension);
  if (found == nullptr) fail("expected a dimension '" + dimension + "', found none of that name");
  return found->length;
}

std::size_t Reader::records() const {
  const int d = contents().record_dimension;
  return d < 0 ? 0 : contents().dimensions[static_cast<std::size_t>(d)].length;
}

const Contents::Attribute* Reader::attribute(const std::string& variable,
                                             const std::string& name) const {
  return find(variable.empty() ? contents().attributes
                               : contents().variables[id(variable)].attributes,
              name);
}

std::optional<std::string> Reader::attribute_type(const std::string& variable,
                                                  const std::string& name) const {
  const auto* a = attribute(variable, name);
  return a == nullptr ? std::nullopt : std::optional(a->type);
}

std::optional<std::string> Reader::text(const std::string& variable,
                                        const std::string& name) const {
  const auto* a = attribute(variable, name);
  if (a == nullptr) return std::nullopt;
  if (!a->is_text) {
    fail("attribute '" + variable + ":" + name + "': expected text, found " +
         std::to_string(a->length) + " number(s)");
  }
  return plain_text(*a);
}

std::optional<std::vector<double>> Reader::numbers(const std::string& variable,
                                                   const std::string& name) const {
  const auto* a = attribute(variable, name);
  if (a == nullptr) return std::nullopt;
  if (!a->is_number)
    fail("attribute '" + variable + ":" + name + "': expected numbers, found values of type " +
         a->type);
  return a->numbers;
}

std::optional<double> Reader::number(const std::string& variable, const std::string& name) const {
  const auto values = numbers(variable, name);
  if (!values) return std::nullopt;
  if (values->size() != 1) {
    fail("attribute '" + variable + ":" + name + "': expected one number, found " +
         std::to_string(values->size()));
  }
  return values->front();
}

} // namespace nunatak::io
