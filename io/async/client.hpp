// The connection of a Writer on the compute ranks to its servers: messages, actions, errors.
//
//   end of record k:   wait for the agreement of k-1: an error of any rank is thrown here, on all
//                      rank 0 receives news of its servers
//                      start the agreement of k (nonblocking) with this rank's error, if any
#pragma once

#include "io/agree.hpp"
#include "io/async/ring.hpp"
#include "io/async/servers.hpp"
#include "io/options.hpp"
#include "io/pack.hpp"

#include <memory>

namespace nunatak::io {

/// `whole` in boxes of one message each: at most 4 MiB and a quarter of the ring (`pool` bytes).
std::vector<Box> message_boxes(const Box& whole, Type type, std::size_t pool);
/// Appends a small hyperslab of the same variable, record and box to a message, whose head and
/// first box message_head() makes. False if the message would become too long.
bool join_message(Bytes& message, int batch, std::size_t v, std::size_t record, std::size_t b,
                  const Hyperslab& slab, bool has_record, Type type, std::size_t pool);

/// The header before the values of a message: a multiple of 8 bytes.
Bytes message_head(int batch, std::size_t v, std::size_t record, std::size_t b, const Box& box);

class Client {
public:
  /// Collective on `comm`, of compute ranks. Error if it has no servers that fit the options.
  Client(MPI_Comm comm, const Options& options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  Servers& servers() { return m_servers; }
  int number() const { return m_number; } ///< of the writer
  const Options& options() const { return m_options; }
  const Ring& ring() const { return m_ring; }

  /// Send `slab`, packed as `type`, which lies in box `b` of a server (its number in the group).
  /// Returns the number of messages; their bytes are added to `bytes`.
  std::int64_t send(int group, int server, int batch, std::size_t v, std::size_t record,
                    std::size_t b, const Hyperslab& slab, Type type, std::int64_t& bytes);
  /// Send a message that join_message() made.
  void send(int group, int server, int batch, const Bytes& message);
  /// This rank's part of a batch has been sent, in `messages` by server. `sums`: by key, or empty.
  void end_batch(int group, int batch, const std::vector<std::int64_t>& messages,
                 const std::vector<std::uint64_t>& sums);

  /// Wait for the servers' answer on the file opened last, which may be continued. Collective.
  Opened wait_for_open();
  /// The agreement drawn above. `mine`: error of this rank. Collective, without waiting.
  void agree_late(const KeptError& mine);
  /// Wait until the servers have done everything. Collective; throws their errors. Rank 0: reports.
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
