// P x Q ranks in one process: the same messages as with MPI, moved by memcpy and counted.
// For tests and for studies of algorithms at thousands of ranks.
#pragma once

#include "kernels/halo_strips.hpp"
#include "kernels/ranks.hpp"

#include <algorithm>
#include <stdexcept>

namespace nunatak {

class VirtualRanks final : public Ranks {
public:
  explicit VirtualRanks(Decomposition decomposition) : Ranks(std::move(decomposition)) {}

  int local_size() const override { return m_decomposition.size(); }
  int first() const override { return 0; }

  void update_ghosts(const std::vector<std::vector<Ghosted>>& arrays) override {
    Kokkos::fence("nunatak: before the ghost exchange");
    std::vector<std::byte> buffer;
    for (int rank = 0; rank < local_size(); ++rank) {
      const Patch from = patch(rank);
      for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
          const int to = m_decomposition.neighbour(rank, dx, dy);
          if ((dx == 0 && dy == 0) || to < 0) continue;
          const Strip send = owned_strip(from, dx, dy), receive = ghost_strip(patch(to), -dx, -dy);
          std::size_t bytes = 0;
          for (std::size_t a = 0; a < arrays[rank].size(); ++a) {
            const Ghosted &source = arrays[rank][a], &target = arrays[to][a];
            buffer.resize(send.cells() * source.cell_bytes);
            pack(from, send, source.data, source.cell_bytes, buffer.data());
            unpack(patch(to), receive, target.data, target.cell_bytes, buffer.data());
            bytes += buffer.size();
          }
          if (to != rank) m_traffic.messages += 1, m_traffic.bytes += static_cast<std::int64_t>(bytes);
        }
      }
    }
    for (int rank = 0; rank < local_size(); ++rank) {
      for (const Ghosted& a : arrays[rank]) replicate_edges(m_decomposition, patch(rank), a.data, a.cell_bytes);
    }
    m_traffic.exchanges += 1;
  }

  void sum(std::vector<std::vector<std::int64_t>>& values) override {
    reduce(values, [](std::int64_t a, std::int64_t b) { return a + b; });
  }
  void max(std::vector<std::vector<std::int64_t>>& values) override {
    reduce(values, [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
  }

  std::vector<std::int64_t> gather_all(const std::vector<std::vector<std::int64_t>>& contributions) override {
    std::vector<std::int64_t> all;
    for (const auto& c : contributions) all.insert(all.end(), c.begin(), c.end());
    m_traffic.collectives += 2;
    return all;
  }
  std::vector<std::int64_t> gather_all(const std::vector<std::vector<std::int64_t>>& contributions,
                                       const std::vector<int>& lengths) override {
    for (std::size_t r = 0; r < contributions.size(); ++r) {
      if (contributions[r].size() != static_cast<std::size_t>(lengths[r]))
        throw std::logic_error("gather over ranks: rank " + std::to_string(r) + " announced " + std::to_string(lengths[r]) +
                               " values and has " + std::to_string(contributions[r].size()));
    }
    std::vector<std::int64_t> all = gather_all(contributions);
    m_traffic.collectives -= 1;
    return all;
  }

  std::unique_ptr<Ranks> over(const Decomposition& decomposition) const override {
    return std::make_unique<VirtualRanks>(decomposition);
  }

private:
  template <class Op> void reduce(std::vector<std::vector<std::int64_t>>& values, Op op) {
    for (std::size_t r = 1; r < values.size(); ++r) {
      if (values[r].size() != values[0].size()) throw std::logic_error("reduction over ranks: sizes differ");
      for (std::size_t n = 0; n < values[0].size(); ++n) values[0][n] = op(values[0][n], values[r][n]);
    }
    for (std::size_t r = 1; r < values.size(); ++r) values[r] = values[0];
    m_traffic.collectives += 1;
  }
};

} // namespace nunatak
