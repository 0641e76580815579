// Reading NetCDF files (classic, CDF-2, CDF-5, NetCDF-4/HDF5), every rank its own block.
//
//   io::Reader in("antarctica_32km.nc", comm);
//   auto thk = in.read_block("thk", {ys, xs}, {ym, xm}); // row-major values of this rank's block
//
// By default every rank of a single node opens the file with serial NetCDF-C; on several nodes one
// rank of each does. All methods (read/source.hpp) give the same values, bit for bit.
//
// Functions marked collective are called by every rank of `comm`, in the same order; an error on
// any rank is the same Error on all. Use MPI_COMM_SELF to read on one rank alone. Blocks may be
// empty (a count of 0), differ between ranks, and overlap. Neighbours: error.hpp (Error),
// nc_file.hpp (the header), numbers.cpp (values), source.hpp (the methods).
#pragma once

#include "io/read/source.hpp"

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nunatak::io {

/// How stored values become numbers (numbers.cpp).
struct Packing {
  /// Error naming the file if an attribute has the wrong kind or makes the values unusable.
  Packing(const Variable& variable, const std::string& path);

  Type type = Type::other; ///< of the stored values, after _Unsigned
  bool is_packed = false;
  double scale = 1.0, offset = 0.0;
  double quantum = 0.0;        ///< spacing of the numbers of packed integers, else 0
  std::vector<double> fills;   ///< stored values that are missing
  std::vector<double> missing; ///< numbers that are missing
  double low = -std::numeric_limits<double>::infinity(), high = -low; ///< valid numbers

  void unpack(std::vector<double>& values) const;

  /// The whole number within half a quantum, else the number; 0 if it is missing and 0 is a fill.
  double id(double number) const;

  /// How far a number may lie beyond a limit: half a quantum and rounding.
  double tolerance() const;
};

class Reader {
public:
  struct Axis {
    std::string name;
    std::size_t length = 0;
    bool unlimited = false;
  };

  /// Collective. Error if missing, unreadable, not NetCDF, too short, a subfile. `comm` outlives
  /// it.
  Reader(std::string path, MPI_Comm comm, ReadOptions options = {});
  /// Collective with ReadBy::parallel.
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  const std::string& path() const { return m_path; }
  ReadBy by() const { return m_by; } ///< the method chosen, never automatic
  /// The cost on this rank so far; see summarize().
  ReadStatistics statistics() const;

  // --- What the file holds (local, the same on every rank) ---

  std::vector<std::string> variables() const;
  bool has(const std::string& variable) const;
  /// Dimensions of a variable in the order of the file, slowest first.
  std::vector<Axis> dimensions(const std::string& variable) const;
  /// The same as text: "y = 3, x = 4".
  std::string shape(const std::string& variable) const;
  /// "byte", "short", "int", "int64", "float", "double", "char", ...
  std::string type(const std::string& variable) const;
  std::size_t records() const;

  /// Attributes; `variable` = "": of the file. nullopt if absent. Error if text() finds a number or
  /// numbers() finds text. Text (plain_text): characters, or one string.
  std::optional<std::string> text(const std::string& variable, const std::string& name) const;
  std::optional<std::vector<double>> numbers(const std::string& variable,
                                             const std::string& name) const;
  /// "char", "byte", "double", ... of an attribute; nullopt if absent.
  std::optional<std::string> attribute_type(const std::string& variable,
                                            const std::string& name) const;
  /// The only value of an attribute; Error if it has several.
  std::optional<double> number(const std::string& variable, const std::string& name) const;

  Packing packing(const std::string& variable) const;

  // --- Values (collective) ---

  /// Unpacked values of the block start[d] <= index < start[d] + count[d], row-major, one start and
  /// count per dimension; NaN where missing. Error if a value lies beyond the valid range.
  std::vector<double> read_block(const std::string& variable, const Indices& start,
                                 const Indices& count) const;

  /// One record (by default the last) of a variable whose first dimension is unlimited or named
  /// "time"; `start` and `count` are of the other dimensions. Other variables are read as they are.
  std::vector<double> read_record(const std::string& variable, const Indices& start,
                                  const Indices& count,
                                  std::optional<std::size_t> record = std::nullopt) const;

  /// All values of a variable (coordinates, scalars), on every rank.
  std::vector<double> read_all(const std::string& variable) const;

private:
  [[noreturn]] void fail(const std::string& what) const;
  const Schema& schema() const { return m_source->schema(); }
  std::size_t id(const std::string& variable) const;
  const Attribute* attribute(const std::string& variable, const std::string& name) const;
  void check_block(const std::string& variable, const Box& box) const;
  std::vector<double> allocate(const std::string& variable, const Box& box) const;
  void read_as(const std::string& variable, const Box& box, Type type,
               std::vector<double>& values) const;
  void check_limits(const std::string& variable, const Packing& packing,
                    const std::vector<double>& values) const;

  std::string m_path;
  MPI_Comm m_comm;
  Missing m_missing;
  ReadBy m_by = ReadBy::automatic;
  double m_open_seconds = 0.0;
  std::unique_ptr<ReadSource> m_source;
};

} // namespace nunatak::io
