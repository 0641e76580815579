// A classic file to which all ranks write with PnetCDF: what `pnetcdf` (pnetcdf.cpp) and `hybrid` (hybrid.cpp) share. They differ
// in how the file is created and defined.
//
// put() packs a copy (unless the slab lasts) and queues it (ncmpi_iput_vara); wait() is one collective ncmpi_wait_all per
// record, in which MPI-IO merges the blocks of all variables and ranks. Copies are bounded: see quota.hpp.
#pragma once

#include "io/agree.hpp"
#include "io/formats/format.hpp"
#include "io/formats/quota.hpp"

namespace nunatak::io {

/// PnetCDF for define.hpp.
struct PnetcdfC {
  static int def_dim(int ncid, const char* name, std::size_t length, int* id);
  static int def_var(int ncid, const char* name, int type, int rank, const int* dims, int* id);
  static int put_att(int ncid, int id, const char* name, int type, std::size_t size, const void* values);
  static const char* message(int status);
};

class PnetcdfFile : public Format {
public:
  PnetcdfFile(MPI_Comm comm, const std::string& path, const Schema& schema, const Options& options);
  // No close in the destructor: it is collective, and a rank that unwinds an exception of its own would wait for ever.

  void put(std::size_t v, const Hyperslab& slab) override;
  void wait() override;
  void flush() override;
  void close() override;
  std::uint64_t expected_size(std::uint64_t records) const override;
  Work work() const override { return m_work; }
  std::map<std::string, std::string> hints() const override { return m_hints; }

protected:
  void check(int status, const std::string& what) const;
  /// The file takes values now: read the hints in effect.
  void begin_data();
  /// To the collective data mode, which some functions need, and back.
  void begin_collective();
  void end_collective();
  void write_pending();

  MPI_Comm m_comm;
  std::string m_path;
  const Schema& m_schema;
  Options m_options;
  int m_ncid = -1;
  std::vector<int> m_ids; ///< of each variable; -1: not defined yet
  Quota m_quota;
  Work m_work;

private:
  void queue(std::size_t v, const Hyperslab& slab);
  void fill(std::size_t v, const Hyperslab& slab);
  void keep(int status, const std::string& variable, const std::string& cause = "");

  std::vector<std::int64_t> m_filled; ///< records of each variable that have fill values
  std::vector<int> m_requests;
  std::vector<std::size_t> m_names; ///< the variable of each request
  Copies m_copies;
  std::map<std::string, std::string> m_hints;
  KeptError m_error;
};

} // namespace nunatak::io
