// A file to which every rank writes its runs by pwrite: what `posix` (raw_posix.cpp) and `direct`
// (direct.cpp) share. They differ in what says where the values lie, and in the order of bytes.
//
// No library stands between the values and the system, and no rank waits for another: an error of
// one rank is kept until all agree on it at the end of the record. Blocks that are narrow along the
// fastest dimension become many small writes; a layout that aggregates makes them long. Values are
// packed in parts into 2 MiB, which a cache holds until they are written: no other memory. Parts
// that are neighbours in the file, of several variables, too, become one write.
#pragma once

#include "io/agree.hpp"
#include "io/formats/format.hpp"
#include "io/formats/raw.hpp"

namespace nunatak::io {

class RunFile : public Format {
public:
  /// Collective: rank 0 creates the file, then all open it.
  RunFile(MPI_Comm comm, const std::string& path, const Schema& schema, const Options& options);
  ~RunFile() override;

  void put(std::size_t v, const Hyperslab& slab) override;
  void push() override;
  void wait() override;
  void flush() override;
  void flush_values() override; ///< the length of the file
  void count_records() override { write_records(m_records); }
  void close() override;
  std::uint64_t expected_size(std::uint64_t records) const override {
    return m_layout.file_size(records);
  }
  std::optional<std::uint64_t> first_byte(std::size_t v) const override {
    return m_layout.begin[v];
  }
  Work work() const override { return m_work; }

protected:
  MPI_Comm comm() const { return m_comm; }
  int rank() const { return m_rank; }
  const std::string& path() const { return m_path; }
  const Schema& schema() const { return m_schema; }
  [[noreturn]] void fail(const std::string& what) const;
  /// Error, naming what lies where it failed.
  void write(const Run& run);
  /// What is put from now on goes to the file `path`, which is there and has so many records.
  void go_on_with(const std::string& path, std::uint64_t records);
  std::size_t records() const {
    return m_records;
  } ///< that this rank has seen; after flush_values(): any rank

  RawLayout m_layout;        ///< define() makes it, the same on all ranks
  bool m_is_swapped = false; ///< the order of bytes in the file is not that of memory

private:
  virtual void write_records(std::uint64_t records) = 0; ///< on rank 0

  void write_pending();
  std::string variable_at(std::uint64_t offset) const;

  MPI_Comm m_comm;
  int m_rank = rank_in(m_comm), m_fd = -1;
  std::string m_path;
  const Schema& m_schema;
  std::size_t m_records = 0;
  std::vector<Run> m_pending; ///< packed, not yet written
  Buffer m_buffer;            ///< of their values
  std::size_t m_used = 0;     ///< bytes of it
  KeptError m_error;
  Work m_work;
};

} // namespace nunatak::io
