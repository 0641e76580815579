// What a Writer of the ranks that compute has to do with its servers: one memory for all that is on
// its way, one order, one way for errors to come back.
//
//   end of record k:  [wait for the agreement of k-1: an Error of anybody is thrown here, on all
//   ranks]
//                     [rank 0 hears its servers; whoever has an error says so in the agreement of
//                     k, which nobody waits for]
#pragma once

#include "io/agree.hpp"
#include "io/async/ring.hpp"
#include "io/async/servers.hpp"
#include "io/options.hpp"
#include "io/pack.hpp"

#include <memory>

namespace nunatak::io {

/// What `whole`, of a server's part of a variable, is sent in where rings have `pool` bytes:
/// messages of at most a quarter of it and 4 MiB.
std::vector<Box> message_boxes(const Box& whole, Type type, std::size_t pool);
/// What stands before the values of a message: a multiple of 8 bytes.
Bytes message_head(int batch, std::size_t v, std::size_t record, std::size_t b, const Box& box);

class Client {
public:
  /// Collective on `comm`, of ranks that compute. Error if the program has set no such servers
  /// apart, or if the options do not go together with them.
  Client(MPI_Comm comm, const Options& options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  Servers& servers() { return m_servers; }
  int number() const { return m_number; } ///< of the writer
  const Options& options() const { return m_options; }
  const Ring& ring() const { return m_ring; }

  /// Send `slab`, packed as `type`, which lies in box `b` of a server (its number in the group).
  /// Returns in how many messages; their bytes are added to `bytes`.
  std::int64_t send(int group, int server, int batch, std::size_t v, std::size_t record,
                    std::size_t b, const Hyperslab& slab, Type type, std::int64_t& bytes);
  /// All of this rank's part of a batch has been sent: so many messages to each server. `sums`: of
  /// its keys, or empty.
  void end_batch(int group, int batch, const std::vector<std::int64_t>& messages,
                 const std::vector<std::uint64_t>& sums);

  /// Wait for what the servers say of the file that was opened last, and may go on in place.
  /// Collective.
  Opened wait_for_open();
  /// See above. `mine`: of this rank. Collective, but nobody waits for who is late.
  void agree_late(const KeptError& mine);
  /// Wait until the servers have done all that was asked, and no error is left. Collective. On rank
  /// 0 what they report.
  std::vector<ServerReport> finish();
  /// Names of files that were committed since the last call, on rank 0.
  std::vector<std::string> take_committed() { return m_servers.take_committed(); }

private:
  void wait_for_agreement();

  MPI_Comm m_comm = MPI_COMM_NULL;
  int m_rank = 0, m_size = 1;
  Servers& m_servers;
  int m_number;
  Options m_options;
  Ring m_ring;
  std::string m_error;        ///< of this rank, or on rank 0 of a server
  struct Agreement {          ///< MPI writes into it until it is done
    int mine = 0, failed = 0; ///< the lowest rank with an error; the number of ranks: none
    MPI_Request request = MPI_REQUEST_NULL;
  };
  std::unique_ptr<Agreement> m_agreement = std::make_unique<Agreement>();
};

} // namespace nunatak::io
