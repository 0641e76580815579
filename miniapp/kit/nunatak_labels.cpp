// nunatak-labels: connected components of any mask and their cost, on real or virtual ranks.
//
//   nunatak-labels -mask percolation:0.593 -grid_Mx 1000 -virtual_ranks 1x1,8x8 -compare
//
// Neighbours: tool.hpp, kernels/labels/labels.hpp.
#include "kernels/labels/labels.hpp"
#include "miniapp/base/program.hpp"
#include "miniapp/kit/flood.hpp"
#include "miniapp/kit/mask_fields.hpp"
#include "miniapp/kit/tool.hpp"

#include <algorithm>

using namespace nunatak;
using namespace nunatak::kit;

namespace {

Answer answer_of(std::vector<int> numbers, const std::string& who) {
  return {
      who,
      "",
      {{"label", "number of the component, in raster order of first cells", std::move(numbers)}}};
}

/// The reference.
Answer flood_fill(const Mask& mask, const Domain& domain) {
  std::vector<int> start = mask.values();
  for (int& value : start) value = domain.contains(value) ? 0 : -1;
  return answer_of(flood_labels(mask.Mx, mask.My, start), "a flood fill");
}

/// The number of owned cells of code 1; ghosts are 0.
std::int64_t count_ones(const Array2<Code>& codes) {
  return std::count(codes.data(), codes.data() + codes.size(), 1);
}

void run(const ToolOptions& options) {
  options.check();
  if (options.kit.wanted()) return run_kit("nunatak-labels", options, "", Judged::label);
  // 1. the mask; all components are numbered
  const Mask mask = read_mask(options.mask);
  const Domain domain(options.domain, mask);
  LabelMask wanted;
  wanted.contains = [](Code code) { return code == 1; };
  wanted.all = true;

  // 2. on all sets of ranks
  Results results("nunatak-labels", options, mask);
  std::vector<std::string> heading;
  for_each_rank_set(options.ranks, mask.Mx, mask.My, [&](RankSet& set) {
    const std::vector<Array2<Code>> codes = domain_codes(*set.ranks, mask, domain);
    std::vector<Segments> segments(codes.size());
    std::vector<std::vector<std::int64_t>> nothing(codes.size());
    Ranks& ranks = *set.ranks;
    Labels labels(ranks);
    std::vector<Array2<int>> numbers;
    for (int r = 0; r < ranks.local_size(); ++r)
      numbers.push_back(make_array<int>("label", ranks.patch(r)));
    const MaskLabels* found = nullptr;
    const Record measured = measure(
        set, options.repeat, [] {},
        [&] {
          for (const int r : ranks.locals()) {
            find_segments(ranks.patch(r), codes[r], segments[r]);
            ranks.work(r, ranks.patch(r).cells(), Work::segments); // and their numbers, below
          }
          found = &labels.update(segments, {wanted}, nothing)[0];
          for (const int r : ranks.locals())
            write_numbers(ranks.patch(r), segments[r], *found, static_cast<std::size_t>(r),
                          numbers[r]);
        });
    if (options.compare && results.empty()) results.compare_with(flood_fill(mask, domain));
    std::vector<std::int64_t> cells;
    for (const Array2<Code>& code : codes) cells.push_back(count_ones(code));
    const Spread spread = spread_of(set, cells);
    if (results.empty())
      heading = {std::to_string(spread.sum) + " cells in the domain",
                 "components: " + std::to_string(found->numbered)};
    Record record = {{"domain_cells", spread.sum},
                     {"domain_imbalance", spread.imbalance()},
                     {"components", found->numbered}};
    record.update(measured);
    const auto number = [&](std::size_t r, int j, int i) { return numbers[r](j, i); };
    results.add(record, answer_of(gathered<int>(ranks, number), "the labels on " + set.name()));
  });

  // 3. results
  results.report(heading, "", "domain_imbalance: max/mean cells");
}

} // namespace

int main(int argc, char** argv) {
  return run_program(argc, argv, "nunatak-labels", [&](Libraries&) {
    ToolOptions options;
    OptionTable table(
        "nunatak-labels: connected components of any mask, on real or virtual ranks",
        "nunatak-labels -mask percolation:0.593 -grid_Mx 1000 -virtual_ranks 1x1,8x8 -compare");
    options.add_to(table, "all results with a flood fill of the whole grid");
    if (table.read(argc, argv)) run(options);
  });
}
