// The contents of a NetCDF file except the values of variables. Read once from an open file and
// kept, so that a rank that never opens the file can receive them.
#pragma once

#include "io/data/schema.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nunatak::io {

/// A file that serial NetCDF-C has opened for reading on this rank alone.
class NcFile {
public:
  /// Error if the file is missing, unreadable, not NetCDF or shorter than its header requires.
  explicit NcFile(const std::string& path);
  ~NcFile();
  NcFile(const NcFile&) = delete;
  NcFile& operator=(const NcFile&) = delete;

  int id() const { return m_id; }

private:
  int m_id = -1;
};

struct Contents {
  struct Dimension {
    std::string name;
    std::size_t length = 0;
    bool unlimited = false;
  };
  struct Attribute {
    std::string name;
    std::string type;                   ///< "char", "double", ...
    std::size_t length = 0;             ///< characters, numbers or strings
    bool is_text = false;               ///< characters, or one string
    bool is_number = false;             ///< one or more numbers
    std::string text;                   ///< if text
    std::vector<double> numbers;        ///< if numbers
    std::vector<std::int64_t> integers; ///< the whole numbers among them, exact, within int64
  };
  struct Variable {
    std::string name;
    std::string type;                  ///< as for attributes
    int nc_type = 0;                   ///< NetCDF's type number
    std::vector<std::size_t> axes;     ///< indices of dimensions, slowest first
    std::vector<Attribute> attributes; ///< in the order of the file
  };
  std::vector<Dimension> dimensions;
  std::vector<Variable> variables; ///< the index is NetCDF-C's and PnetCDF's id
  std::vector<Attribute> attributes;
  int record_dimension = -1; ///< the (first) unlimited dimension
  bool is_hdf5 = false;      ///< NetCDF-4; else classic
};

Contents contents_of(const NcFile& file, const std::string& path);
Type type_of_word(const std::string& word,
                  const std::string& what); ///< of "int"; `what`: of errors
/// With which such a file can be written. Error naming `path` for types that nunatak does not
/// write.
Schema schema_of(const Contents& contents, const std::string& path);

/// The dimension, variable or attribute of that name; nullptr if there is none.
template <class T> const T* find(const std::vector<T>& list, const std::string& name) {
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&](const T& element) { return element.name == name; });
  return found == list.end() ? nullptr : &*found;
}

/// The text of an attribute up to its first NUL, trimmed: C pads with NULs, Fortran with blanks.
std::string plain_text(const Contents::Attribute& attribute);

/// Hash of dimensions, variables and attributes, except what a continued series changes.
std::string fingerprint(Contents contents);

/// Serialised to bytes; numbers stay exact.
std::vector<std::uint8_t> message_of(const Contents& contents);

/// Give the contents of rank 0 to every rank. Collective: two broadcasts.
void broadcast(Contents& contents, MPI_Comm comm);

} // namespace nunatak::io
