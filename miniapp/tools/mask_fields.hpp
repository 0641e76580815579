// The domain of a mask, and the seeds in it: what labels and distances are asked for.
//
//   -domain 3        the cells of value 3
//   -domain 0+2      those of value 0 or 2
//
//   -seeds           a list, one field of distances for each; seeds are cells of the domain
//     near:0+2       with a cell of value 0 or 2 among their 8 neighbours: the grounding line of a
//                    mask of cell types
//     beside:4       with a cell of value 4 among their 4 neighbours: the calving front
//     left           in column 0
//     corner         the cell (0, 0)
//     at:J:I         the cell in row J and column I
//     boundary       with one of their 4 neighbours outside of the domain or of the grid
//     random:SEED:N  N random cells; one that misses the domain is drawn again, at most 1000 times
//     given          the values are a field already: 1 seed, 0 other cells of the domain, anything
//                    else outside
//
// Defaults: for cell types -domain 3 -seeds near:0+2,beside:4; for others -domain 1 -seeds left.
// Neighbours: mask_source.hpp (the mask), kernels/distance/types.hpp (what a field is).
#pragma once

#include "kernels/distance/types.hpp"
#include "kernels/labels/segments.hpp"
#include "miniapp/tools/mask_source.hpp"

namespace nunatak::tools {

/// Values that are in, by -domain.
class Domain {
public:
  /// "" is the default. Throws Error that names `what`.
  Domain(const std::string& text, const Mask& mask, const std::string& what = "option -domain");
  bool contains(int value) const {
    for (const int v : m_values) {
      if (v == value) return true;
    }
    return false;
  }

private:
  std::vector<int> m_values;
};

class SeedRules {
public:
  /// Throws Error that names the rule. `text` = "": the default.
  SeedRules(const std::string& text, const std::string& domain, const Mask& mask);

  const std::vector<std::string>& names() const { return m_names; } ///< one per field

  /// The fields before they are solved, on all local ranks. Evaluates the mask once per cell and
  /// ghost. No communication.
  DistanceFields fields(const Ranks& ranks) const;

private:
  /// The values of a patch and of one ring of cells around it; cells outside of the grid are
  /// outside of any mask.
  class Values;
  using Rule = std::function<int(const Values& values, int j,
                                 int i)>; // value of the field at a cell, by view indices
  Rule make_rule(const std::string& name) const;

  const Mask& m_mask;
  Domain m_domain;
  std::vector<std::string> m_names;
  std::vector<Rule> m_rules;
};

/// 1 in the domain, 0 outside, in owned cells: the codes that are labelled.
std::vector<Array2<Code>> domain_codes(const Ranks& ranks, const Mask& mask, const Domain& domain);

} // namespace nunatak::tools
