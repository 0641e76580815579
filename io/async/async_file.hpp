// The transport `async:S`, a File of the compute ranks: values are sent to the servers (serve.hpp),
// and the rank goes on. Writer::finish() waits for them and reports errors.
//
//   put:                         pack -> ring -> the servers that own the values
//   end_record, commit, close:   sent to the servers, without waiting
#pragma once

#include "io/async/client.hpp"
#include "io/file.hpp"
#include "io/layouts/partition.hpp"
#include "io/registry.hpp"

#include <array>
#include <optional>

namespace nunatak::io {

class AsyncFile final : public File {
public:
  /// Collective, without waiting; with FileOptions::continues the servers say what is to be put.
  AsyncFile(MPI_Comm comm, const std::string& path, const Schema& schema, FileOptions options,
            bool makes_sums, Client& client, Statistics& total);
  ~AsyncFile() override;

  std::map<std::string, std::string> hints() const override { return {}; }
  void add_sum(std::size_t v, std::size_t record, std::uint64_t sum) override;

private:
  void reserve(std::int64_t /*records*/) override {}
  void write_slab(std::size_t v, std::size_t record, const Hyperslab& slab) override;
  void finish_record(std::int64_t step) override;
  bool can_commit_records() const override { return true; } ///< the servers decide
  bool is_time_to_commit() const override { return false; } ///< the servers decide
  void commit_records(std::int64_t step) override;
  void close_and_commit(std::int64_t step) override;
  Work work() const override { return m_work; }

  void join_batch(std::size_t v, std::size_t record);
  void end_batch();
  bool join(std::size_t s, const std::array<std::size_t, 3>& place, const Hyperslab& part);
  void send_joined(std::size_t s);
  void act(const Packer& action);

  Client& m_client;
  int m_group, m_number;
  std::vector<Boxes> m_boxes;                    ///< of each variable, by server
  std::vector<std::vector<std::size_t>> m_bytes; ///< of each variable, sent to each server
  /// By variable: the record (or none) whose batch was the last to end.
  std::vector<std::optional<std::size_t>> m_last;
  int m_batch = -1;                     ///< open batch; -1: none
  std::vector<Key> m_keys;              ///< of the batch
  std::vector<std::uint64_t> m_sums;    ///< of this rank's values, by key; empty if not wanted
  std::vector<std::size_t> m_share;     ///< bytes of the batch, by server
  std::vector<std::int64_t> m_messages; ///< of the batch, from this rank, by server
  /// By server: a message of many small hyperslabs, and their variable, record and box.
  struct Joined {
    Bytes message;
    std::array<std::size_t, 3> place{};
  };
  std::vector<Joined> m_joined;
  bool m_is_closed = false;
  Work m_work;
};

} // namespace nunatak::io
