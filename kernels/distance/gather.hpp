// Distances by one rank per field (see distance.hpp): the domain is gathered, searched in one
// piece, and the distances scattered.
//
//   members           root of the field               members       A path may cross seams as often
//   as it likes: the messages -1  0  1  ...  -> patches side by side,        -> 1 2 3 ...     are
//   the same, two gathers or scatters of each kind. The runs              breadth-first search
//   steps         price is that the root searches alone.
//
// Only patches of the members travel and are held by the root. What travels, per field:
//   domain      -1, 0, 1 of each cell of the patch (outside, domain, seed) as runs (runs.hpp).
//   distances   of the cells of the domain only, in raster order. A cell whose left neighbour is in
//   the domain differs from it
//               by -1, 0 or 1, and by 0 where no seed reaches; so does a cell from its lower
//               neighbour: runs, too. Others (the cell n of the drawing) are encoded in bytes of 7
//               bits, as difference to the last such cell.
//
//                . n = =      = left neighbour known      ^ lower neighbour known      . outside
//                n = . ^
//
// Counted on Antarctica at 8 km, both fields, bits per cell of the members' patches (domain), of
// the domain (distances):
//   domain      0.07 on 1 rank, 0.30 on 16 x 16
//   distances   1.81 on 1 rank, 2.14 on 16 x 16
//
// The search goes level by level and writes each cell once, so its bits are those of every other
// solver.
#pragma once

#include "kernels/distance/members.hpp"
#include "kernels/distance/runs.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace nunatak {

/// A field on a patch with its ghosts, all of which must be negative; `stride` numbers per row.
struct FlatField {
  int* d;
  std::ptrdiff_t stride;
  int xm, ym;

  /// f(cell, known) for the cells of the domain in raster order; known: the left or lower
  /// neighbour, or -1 if both are outside.
  template <class F> void for_each_domain_cell(const F& f) const {
    for (std::ptrdiff_t j = 1; j <= ym; ++j) {
      for (std::ptrdiff_t c = j * stride + 1; c <= j * stride + xm; ++c) {
        if (d[c] >= 0) f(c, d[c - 1] >= 0 ? c - 1 : d[c - stride] >= 0 ? c - stride : -1);
      }
    }
  }

  void close_ghosts() const {
    for (std::ptrdiff_t i = 0; i <= xm + 1; ++i) d[i] = d[(ym + 1) * stride + i] = -1;
    for (std::ptrdiff_t j = 1; j <= ym; ++j) d[j * stride] = d[j * stride + xm + 1] = -1;
  }

  /// -1, 0, 1 of each cell.
  std::vector<int> encode_domain() const {
    RunWriter runs;
    for (std::ptrdiff_t j = 1; j <= ym; ++j) {
      const int *c = d + j * stride + 1, *end = c + xm;
      while (c < end) {
        const int *start = c, value = *c;
        while (c < end && *c == value) ++c;
        runs.put(value, c - start);
      }
    }
    std::vector<int> words;
    runs.append_to(words);
    return words;
  }

  /// All cells are -1 and get their values, f(cell) for each seed.
  template <class F> void decode_domain(const std::vector<int>& words, const F& f) const {
    RunReader runs(words.data());
    EncodedRun run{-1, 0};
    for (std::ptrdiff_t j = 1; j <= ym; ++j) {
      for (std::int64_t i = 1; i <= xm;) {
        if (run.length == 0) run = runs.run();
        const std::int64_t end = std::min<std::int64_t>(xm + 1, i + run.length);
        run.length -= end - i;
        if (run.value < 0) i = end;
        for (; i < end; ++i) {
          d[j * stride + i] = run.value;
          if (run.value == 1) f(j * stride + i);
        }
      }
    }
  }

  std::vector<int> encode_distances() const {
    RunWriter steps;
    ByteWriter others;
    std::int64_t last = 0;
    for_each_domain_cell([&](std::ptrdiff_t c, std::ptrdiff_t known) {
      if (known >= 0) return steps.put(d[c] - d[known]);
      const std::int64_t change = d[c] - last; // 0, -1, 1, -2, 2, ... become 0, 1, 2, 3, 4, ...
      others.put(static_cast<std::uint64_t>(change < 0 ? -2 * change - 1 : 2 * change));
      last = d[c];
    });
    std::vector<int> words;
    steps.append_to(words);
    others.append_to(words);
    return words;
  }

  /// The domain is here, and becomes the distances.
  void decode_distances(const std::vector<int>& words) const {
    RunReader steps(words.data());
    ByteReader others(steps.end());
    std::int64_t last = 0;
    for_each_domain_cell([&](std::ptrdiff_t c, std::ptrdiff_t known) {
      if (known >= 0) {
        d[c] = d[known] + steps.get();
      } else {
        const std::int64_t change = static_cast<std::int64_t>(others.get());
        last += change % 2 != 0 ? -(change + 1) / 2 : change / 2;
        d[c] = static_cast<int>(last);
      }
    });
  }
};

/// What a root holds: one field on the patches of all members, one below the other, and the search
/// through them. A ghost that stands for a cell of another member holds -2 - place of that cell;
/// other ghosts are -1.
class GatheredField {
public:
  /// Sizes only. length_error if there are more cells than an int can count.
  GatheredField(const Decomposition& decomposition, const std::vector<int>& members)
      : m_decomposition(decomposition), m_members(members) {
    std::int64_t rows = 0;
    for (const int rank : members) {
      const Patch p = decomposition.patch(rank);
      m_first_row.push_back(static_cast<int>(rows));
      rows += p.ym + 2;
      m_stride = std::max(m_stride, p.xm + 2);
    }
    m_size = rows * m_stride;
    if (m_size > std::numeric_limits<int>::max() - 2) {
      throw std::length_error("distances, gather: expected fewer than 2^31 cells on the patches "
                              "with domain cells, found " +
                              std::to_string(m_size));
    }
  }

  /// From what the members have sent (encode_domain).
  void fill(const std::vector<std::vector<int>>& gathered) {
    m_d.assign(static_cast<std::size_t>(m_size), -1);
    for (std::size_t n = 0; n < m_members.size(); ++n) {
      const int start = place(n, 0, 0);
      block(n).decode_domain(
          gathered[n], [&](std::ptrdiff_t c) { m_front.push_back(start + static_cast<int>(c)); });
    }
    for (std::size_t n = 0; n < m_members.size(); ++n) link_ghosts(n);
  }

  /// Breadth-first search from the seeds. Returns the number of cells reached.
  std::int64_t search() {
    std::int64_t reached = 0;
    for (int value = 2; !m_front.empty(); ++value) {
      reached += static_cast<std::int64_t>(m_front.size());
      m_next.clear();
      for (const int c : m_front) {
        for (int neighbour : {c - 1, c + 1, c - m_stride, c + m_stride}) {
          if (at(neighbour) < -1)
            neighbour = -2 - at(neighbour); // the cell that this ghost stands for
          if (at(neighbour) != 0) continue;
          at(neighbour) = value;
          m_next.push_back(neighbour);
        }
      }
      m_front.swap(m_next);
    }
    return reached;
  }

  /// The share of each member (decode_distances).
  std::vector<std::vector<int>> shares() {
    std::vector<std::vector<int>> all;
    for (std::size_t n = 0; n < m_members.size(); ++n) all.push_back(block(n).encode_distances());
    return all;
  }

private:
  int& at(int n) { return m_d[static_cast<std::size_t>(n)]; }
  int place(std::size_t n, int j, int i) const { return (m_first_row[n] + j) * m_stride + i; }
  FlatField block(std::size_t n) {
    const Patch p = m_decomposition.patch(m_members[n]);
    return {&at(place(n, 0, 0)), m_stride, p.xm, p.ym};
  }

  void link_ghosts(std::size_t n) {
    const Patch p = m_decomposition.patch(m_members[n]);
    for (const auto& [dx, dy] : {std::pair{-1, 0}, {1, 0}, {0, -1}, {0, 1}}) {
      const int other = m_decomposition.neighbour(m_members[n], dx, dy);
      const auto found = std::lower_bound(m_members.begin(), m_members.end(), other);
      if (found == m_members.end() || *found != other) continue;
      const std::size_t o = static_cast<std::size_t>(found - m_members.begin());
      const Patch q = m_decomposition.patch(other);
      for (int j = 1; dx != 0 && j <= p.ym; ++j) {
        at(place(n, j, dx < 0 ? 0 : p.xm + 1)) = -2 - place(o, j, dx < 0 ? q.xm : 1);
      }
      for (int i = 1; dy != 0 && i <= p.xm; ++i) {
        at(place(n, dy < 0 ? 0 : p.ym + 1, i)) = -2 - place(o, dy < 0 ? q.ym : 1, i);
      }
    }
  }

  Decomposition m_decomposition;
  std::vector<int> m_members, m_first_row;
  int m_stride = 0;
  std::int64_t m_size = 0;
  std::vector<int> m_d, m_front, m_next;
};

/// Solve `problem` on `members`, which are at least all ranks that own cells of the domain of any
/// field; others need not call, and do nothing. Host memory. Communicates: per field one gather to
/// and one scatter from its root, among the members (two collectives each: lengths, contents).
/// Roots are spread over the members, so fields are searched at the same time. Work: the cells of
/// its patch for each member, twice (before and after); for the root the cells that seeds reach.
/// `maxima` and `members` of the problem are for the caller.
inline DistanceReport gather_distances(Ranks& ranks, Group& members,
                                       const DistanceProblem& problem) {
  const std::vector<int>& in = members.members();
  std::vector<int> locals;
  for (const int rank : in) {
    if (rank >= ranks.first() && rank < ranks.first() + ranks.local_size())
      locals.push_back(rank - ranks.first());
  }
  if (locals.empty()) return {};
  const GatheredField empty(ranks.decomposition(), in);
  const auto flat = [&](std::size_t f, int r) {
    const Patch p = ranks.patch(r);
    return FlatField{problem.fields[f][static_cast<std::size_t>(r)].data(), p.xm + 2, p.xm, p.ym};
  };
  const auto per_local = [&] {
    return std::vector<std::vector<int>>(static_cast<std::size_t>(ranks.local_size()));
  };
  const std::size_t fields = problem.fields.size();
  const auto root = [&](std::size_t f) { return static_cast<int>(f * in.size() / fields); };

  std::vector<std::vector<std::vector<int>>> gathered, shares(fields);
  for (std::size_t f = 0; f < fields; ++f) {
    auto contributions = per_local();
    for (const int r : locals) {
      flat(f, r).close_ghosts();
      contributions[static_cast<std::size_t>(r)] = flat(f, r).encode_domain();
      ranks.work(r, ranks.patch(r).cells());
    }
    gathered.push_back(members.gather(root(f), contributions));
  }
  for (std::size_t f = 0; f < fields; ++f) {
    if (gathered[f].empty()) continue; // another process has the root
    GatheredField field = empty;
    field.fill(gathered[f]);
    ranks.work(in[static_cast<std::size_t>(root(f))] - ranks.first(), field.search());
    shares[f] = field.shares();
  }
  for (std::size_t f = 0; f < fields; ++f) {
    const std::vector<std::vector<int>> mine = members.scatter(root(f), shares[f]);
    for (const int r : locals) {
      flat(f, r).decode_distances(mine[static_cast<std::size_t>(r)]);
      ranks.work(r, ranks.patch(r).cells());
    }
  }
  return {};
}

inline SolveDistances make_gather(Ranks& ranks, const DistanceOptions&) {
  return
      [&ranks, members = std::make_shared<DistanceMembers>(ranks)](const DistanceProblem& problem) {
        members->find(problem);
        DistanceReport report;
        if (Group* group = members->group()) report = gather_distances(ranks, *group, problem);
        share_report(ranks, problem.maxima, report);
        return report;
      };
}

} // namespace nunatak
