// The readers `direct` (one rank of each node opens the file), `serial` (rank 0 alone does) and
// `each` (every rank): they read slabs concurrently and send every rank its part.
//
//   boxes of the ranks      slabs of the box around them,       rounds: a slab of each reader, an
//                           in the order of the file            exchange
//     0 0 1 1                 0 0 1 1   reader 0, first           0 -> 1, 2 -> 3
//     0 0 1 1                 0 0 1 1   reader 0, second          ...
//     2 2 3 3                 2 2 3 3   reader 2, first
//     2 2 3 3                 2 2 3 3   reader 2, second
//
// Rank 0 reads the header and broadcasts it; readers read slabs by serial NetCDF-C. Each byte is
// read once, however boxes overlap. Memory of a reader: a slab (ReadOptions::slab_bytes) and about
// as much in messages. If all ranks request the same box, rank 0 reads and broadcasts. After a
// failed read all messages are still sent, so that no rank hangs.
#include "common/text.hpp"
#include "io/base/agree.hpp"
#include "io/base/topology.hpp"
#include "io/base/watchdog.hpp"
#include "io/data/exchange.hpp"
#include "io/data/message_bytes.hpp"
#include "io/read/source.hpp"

#include <netcdf.h>

#include <algorithm>
#include <optional>

namespace nunatak::io {

namespace {

constexpr std::size_t smallest_slab = 1 << 20; // less is not worth a further reader

/// One read, the same on every rank.
struct Request {
  std::size_t v = 0;
  Type type = Type::float64;
  std::vector<Box> boxes; ///< of the ranks
  std::vector<Box> slabs; ///< of the box around `boxes`, in the order of the file

  std::size_t bytes(const Box& box) const { return box.elements() * bytes_of(type); }

  bool all_ask_the_same() const {
    return std::all_of(boxes.begin(), boxes.end(), [&](const Box& box) { return box == boxes[0]; });
  }
};

class ReadAndSend final : public ReadSource {
public:
  /// `readers`: ranks, ascending, with 0.
  ReadAndSend(const std::string& path, MPI_Comm comm, std::size_t slab_bytes,
              std::vector<int> readers)
      : m_path(path), m_comm(comm), m_slab_bytes(std::min<std::size_t>(slab_bytes, 1 << 30)),
        m_readers(std::move(readers)) {
    on_rank_0(comm, [&] {
      m_file.emplace(path);
      m_schema = m_file->schema();
    });
    broadcast_value(m_schema, comm);
    if (!std::binary_search(m_readers.begin(), m_readers.end(), m_rank)) return;
    m_statistics.openers = 1;
    if (!m_file) m_file.emplace(path);
  }

  void read(std::size_t v, const Box& box, Type type, std::byte* values) override {
    const double begin = MPI_Wtime(), read_before = m_statistics.read_seconds;
    const Request request = make_request(v, box, type);
    KeptError error;
    if (request.all_ask_the_same()) {
      read_for_all(request, values, error);
    } else {
      const std::size_t n_readers = m_readers.size(),
                        rounds = (request.slabs.size() + n_readers - 1) / n_readers;
      for (std::size_t round = 0; round < rounds; ++round) {
        read_round(request, round, values, error);
        Watchdog::of_process().advance();
      }
    }
    m_statistics.scatter_seconds += MPI_Wtime() - begin - (m_statistics.read_seconds - read_before);
    error.rethrow();
  }

private:
  Request make_request(std::size_t v, const Box& mine, Type type) const {
    Request request{v, type, {}, {}};
    Box around;
    std::size_t wanted = 0;
    request.boxes = gather_boxes(m_comm, {mine});
    for (const Box& box : request.boxes) {
      around = &box == request.boxes.data() ? box : hull(around, box);
      wanted += box.elements();
    }
    const std::size_t all = std::max<std::size_t>(1, around.elements()),
                      copies = std::max<std::size_t>(1, wanted / all);
    const std::size_t share = (all + m_readers.size() - 1) / m_readers.size();
    const std::size_t bytes = bytes_of(type),
                      most = m_slab_bytes / bytes / (request.all_ask_the_same() ? 1 : copies);
    request.slabs = cut(
        around, std::max<std::size_t>(1, std::min(most, std::max(share, smallest_slab / bytes))));
    return request;
  }

  /// The slab of a reader in a round; nullptr if it has none. Each reader has consecutive slabs.
  const Box* slab_of(const Request& request, std::size_t reader, std::size_t round) const {
    const std::size_t n = request.slabs.size(), n_readers = m_readers.size();
    const auto first = [&](std::size_t k) { return (k * n + n_readers - 1) / n_readers; };
    const std::size_t slab = first(reader) + round;
    return slab < first(reader + 1) ? &request.slabs[slab] : nullptr;
  }

  void read_for_all(const Request& request, std::byte* values, KeptError& error) {
    for (const Box& slab : request.slabs) {
      const std::size_t size = request.bytes(slab);
      if (m_rank == 0) read_slab(request, slab, values, error);
      MPI_Bcast(values, static_cast<int>(size), MPI_BYTE, 0, m_comm);
      Watchdog::of_process().advance();
      if (m_rank == 0)
        m_statistics.sent_bytes += static_cast<std::int64_t>(size * (request.boxes.size() - 1));
      values += size;
    }
  }

  void read_round(const Request& request, std::size_t round, std::byte* values, KeptError& error) {
    const Box& mine = request.boxes[static_cast<std::size_t>(m_rank)];
    std::vector<Message> receives, sends;
    for (std::size_t k = 0; k < m_readers.size(); ++k) {
      const Box* const slab = slab_of(request, k, round);
      if (slab == nullptr) continue;
      const Box part = meet(*slab, mine);
      const bool is_own = m_readers[k] == m_rank;
      if (is_own) sends = messages_of(request, *slab, error);
      if (part.elements() == 0) continue;
      if (is_own) {
        copy_values(part, *slab, m_slab.data(), mine, values, bytes_of(request.type));
        continue;
      }
      receives.push_back({m_readers[k], values + place_in(mine, part) * bytes_of(request.type),
                          request.bytes(part)});
    }
    exchange(m_comm, receives, sends);
  }

  /// Reads a slab into m_slab, and packs the parts that other ranks requested.
  std::vector<Message> messages_of(const Request& request, const Box& slab, KeptError& error) {
    std::vector<Message> messages;
    std::vector<Box> parts;
    std::size_t total = 0;
    bool is_wanted = false;
    for (std::size_t r = 0; r < request.boxes.size(); ++r) {
      Box part = meet(slab, request.boxes[r]);
      const std::size_t size = request.bytes(part);
      is_wanted = is_wanted || size > 0;
      if (size == 0 || static_cast<int>(r) == m_rank) continue;
      messages.push_back({static_cast<int>(r), nullptr, size});
      parts.push_back(std::move(part));
      total += size;
    }
    m_slab.resize(request.bytes(slab));
    if (is_wanted) read_slab(request, slab, m_slab.data(), error);
    m_messages.resize(total);
    std::byte* at = m_messages.data();
    for (std::size_t n = 0; n < parts.size(); ++n) {
      copy_values(parts[n], slab, m_slab.data(), parts[n], at, bytes_of(request.type));
      messages[n].data = at;
      at += messages[n].size;
    }
    m_statistics.sent_bytes += static_cast<std::int64_t>(total);
    return messages;
  }

  void read_slab(const Request& request, const Box& slab, std::byte* values, KeptError& error) {
    if (error.is_set()) return;
    const double begin = MPI_Wtime();
    const int status = nc_get_vara(m_file->id(), static_cast<int>(request.v), slab.start.data(),
                                   slab.count.data(), values);
    if (status != NC_NOERR)
      error.set(
          read_failure(m_path, m_schema.variables[request.v].name, slab, nc_strerror(status)));
    m_statistics.bytes += static_cast<std::int64_t>(request.bytes(slab));
    m_statistics.operations += 1;
    m_statistics.read_seconds += MPI_Wtime() - begin;
  }

  std::string m_path;
  MPI_Comm m_comm;
  int m_rank = rank_in(m_comm);
  std::size_t m_slab_bytes;
  std::vector<int> m_readers;   ///< their ranks, ascending
  std::optional<NcFile> m_file; ///< on readers
  std::vector<std::byte> m_slab, m_messages;
};

} // namespace

namespace {
const std::vector<std::string> words = {"auto", "each", "serial", "parallel",
                                        "direct"}; // by ReadBy
} // namespace

std::string reader_words() { return joined(words, "|"); }
std::string word_of(ReadBy by) { return words[static_cast<std::size_t>(by)]; }
ReadBy read_by(const std::string& word) {
  const auto found = std::find(words.begin(), words.end(), word);
  if (found != words.end()) return static_cast<ReadBy>(found - words.begin());
  throw Error("reading method: expected one of " + joined(words) + ", found '" + word + "'");
}

std::string read_failure(const std::string& path, const std::string& variable, const Box& box,
                         const std::string& found) {
  return "file '" + path + "': variable '" + variable + "': expected " +
         std::to_string(box.elements()) + " values at " + in_words(box.start) + " of " +
         in_words(box.count) + "; found: " + found;
}

std::unique_ptr<ReadSource> open_source(ReadBy by, const std::string& path, MPI_Comm comm,
                                        const ReadOptions& options) {
  std::vector<int> readers{0};
  if (by == ReadBy::parallel) return read_parallel(path, comm, options);
  if (by == ReadBy::each)
    return std::make_unique<ReadAndSend>(path, MPI_COMM_SELF, options.call_bytes, readers);
  if (by == ReadBy::direct) readers = aggregators(make_topology(comm, options.ranks_per_node), 1);
  return std::make_unique<ReadAndSend>(path, comm, options.slab_bytes, readers);
}

} // namespace nunatak::io
