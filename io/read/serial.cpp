// The reader `serial`: rank 0 alone opens the file, reads it in slabs and sends every rank its part. See read/source.hpp.
//
//   what ranks ask for       slabs of the box around it, in the order of the file       messages from rank 0
//     0 0 1 1                  0 0 1 1   one nc_get_vara                                  rank 1: 1 1, then 1 1
//     0 0 1 1                  0 0 1 1   one nc_get_vara
//     2 2 3 3                  2 2 3 3   ...                                              rank 2: 2 2, ...
//
// Memory of rank 0: one slab (ReadOptions::slab_bytes) and one message, at most as large, beyond its own part. Each byte is read
// once however boxes overlap; what lies between the boxes of a slab is read, too. If all ranks ask for the same, slabs are
// broadcast. A read that fails on rank 0 still sends all messages, so that nobody waits for ever.
#include "io/agree.hpp"
#include "io/layouts/exchange.hpp"
#include "io/read/source.hpp"

#include <netcdf.h>

#include <algorithm>
#include <optional>

namespace nunatak::io {

namespace {

constexpr int tag = 7301;

class Serial final : public ReadSource {
public:
  Serial(const std::string& path, MPI_Comm comm, const ReadOptions& options)
      : m_path(path), m_comm(comm), m_slab_bytes(std::min<std::size_t>(options.slab_bytes, 1 << 30)) {
    MPI_Comm_rank(comm, &m_rank);
    MPI_Comm_size(comm, &m_size);
    agree(comm, [&] {
      if (m_rank != 0) return;
      m_file.emplace(path);
      m_contents = contents_of(*m_file, path);
      m_statistics.openers = 1;
    });
    broadcast(m_contents, comm);
  }

  void read(std::size_t v, const Box& box, std::size_t bytes, std::byte* values) override {
    const double begin = MPI_Wtime(), read_before = m_statistics.read_seconds;
    const std::vector<Box> boxes = gather(box);
    const auto [around, all_ask_the_same] = plan(boxes, box);
    std::string error;
    for (const Box& slab : cut(around, std::max<std::size_t>(1, m_slab_bytes / bytes))) {
      if (m_rank == 0) {
        const auto wanted = [&](const Box& of_rank) { return meet(slab, of_rank).elements() > 0; };
        if (std::any_of(boxes.begin(), boxes.end(), wanted)) read_slab(v, slab, bytes, error);
      }
      if (all_ask_the_same) {
        const std::size_t size = slab.elements() * bytes;
        m_slab.resize(size);
        MPI_Bcast(m_slab.data(), static_cast<int>(size), MPI_BYTE, 0, m_comm);
        copy(slab, slab, m_slab.data(), box, values, bytes);
        if (m_rank == 0) m_statistics.sent_bytes += static_cast<std::int64_t>(size) * (m_size - 1);
      } else {
        if (m_rank == 0) send(slab, boxes, bytes);
        receive(slab, box, bytes, values);
      }
    }
    m_statistics.scatter_seconds += MPI_Wtime() - begin - (m_statistics.read_seconds - read_before);
    if (!error.empty()) throw Error(error);
  }

private:
  /// On rank 0 the boxes of all ranks; elsewhere nothing.
  std::vector<Box> gather(const Box& box) const {
    std::vector<Box> boxes;
    for (const auto& of_rank : gather_boxes(m_comm, {box}, {box.start.size()}, 0)) boxes.push_back(*of_rank.front());
    return boxes;
  }

  struct Plan {
    Box around; ///< all boxes
    bool all_ask_the_same;
  };
  /// From the boxes, which rank 0 knows; the same on every rank.
  Plan plan(const std::vector<Box>& boxes, const Box& mine) const {
    Plan plan{mine, true};
    for (const Box& box : boxes) {
      plan.around = hull(plan.around, box);
      plan.all_ask_the_same = plan.all_ask_the_same && box == mine;
    }
    const std::size_t rank = mine.start.size();
    std::vector<std::uint64_t> message(plan.around.start.begin(), plan.around.start.end());
    message.insert(message.end(), plan.around.count.begin(), plan.around.count.end());
    message.push_back(plan.all_ask_the_same ? 1 : 0);
    MPI_Bcast(message.data(), static_cast<int>(message.size()), MPI_UINT64_T, 0, m_comm);
    plan.around.start.assign(message.data(), message.data() + rank);
    plan.around.count.assign(message.data() + rank, message.data() + 2 * rank);
    plan.all_ask_the_same = message.back() == 1;
    return plan;
  }

  void read_slab(std::size_t v, const Box& slab, std::size_t bytes, std::string& error) {
    m_slab.resize(slab.elements() * bytes);
    if (!error.empty()) return;
    const double begin = MPI_Wtime();
    const int status = nc_get_vara(m_file->id(), static_cast<int>(v), slab.start.data(), slab.count.data(), m_slab.data());
    if (status != NC_NOERR) error = read_failure(m_path, m_contents.variables[v].name, slab, nc_strerror(status));
    m_statistics.bytes += static_cast<std::int64_t>(m_slab.size());
    m_statistics.operations += 1;
    m_statistics.read_seconds += MPI_Wtime() - begin;
  }

  void send(const Box& slab, const std::vector<Box>& boxes, std::size_t bytes) {
    for (int r = 1; r < m_size; ++r) {
      const Box part = meet(slab, boxes[static_cast<std::size_t>(r)]);
      const std::size_t size = part.elements() * bytes;
      if (size == 0) continue;
      m_message.resize(size);
      copy(part, slab, m_slab.data(), part, m_message.data(), bytes);
      MPI_Send(m_message.data(), static_cast<int>(size), MPI_BYTE, r, tag, m_comm);
      m_statistics.sent_bytes += static_cast<std::int64_t>(size);
    }
  }

  void receive(const Box& slab, const Box& mine, std::size_t bytes, std::byte* values) {
    const Box part = meet(slab, mine);
    const std::size_t size = part.elements() * bytes;
    if (size == 0) return;
    if (m_rank == 0) return copy(part, slab, m_slab.data(), mine, values, bytes);
    m_message.resize(size);
    MPI_Recv(m_message.data(), static_cast<int>(size), MPI_BYTE, 0, tag, m_comm, MPI_STATUS_IGNORE);
    copy(part, part, m_message.data(), mine, values, bytes);
  }

  std::string m_path;
  MPI_Comm m_comm;
  int m_rank = 0, m_size = 1;
  std::size_t m_slab_bytes;
  std::optional<NcFile> m_file; ///< on rank 0
  std::vector<std::byte> m_slab, m_message;
};

} // namespace

std::unique_ptr<ReadSource> read_serial(const std::string& path, MPI_Comm comm, const ReadOptions& options) {
  return std::make_unique<Serial>(path, comm, options);
}

} // namespace nunatak::io
