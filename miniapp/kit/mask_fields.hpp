// The domain of a mask and the seeds in it, on which labels and distances are computed.
//
//   -domain 3        the cells of value 3
//   -domain 0+2      those of value 0 or 2
//
//   -seeds           a list, one field of distances for each; seeds are cells of the domain
//     near:0+2       with a cell of value 0 or 2 among their 8 neighbours: the grounding line
//     beside:4       with a cell of value 4 among their 4 neighbours: the calving front
//     left           in column 0
//     corner         the cell (0, 0)
//     at:J:I         the cell in row J and column I
//     boundary       with one of their 4 neighbours outside of the domain or of the grid
//     random:SEED:N  N random cells; a miss of the domain is redrawn, at most 1000 times
//     given          the mask is a field already: 1 seed, 0 other cells of the domain, else outside
//
// Defaults: -domain 3 -seeds near:0+2,beside:4 for cell types, otherwise -domain 1 -seeds left.
// Neighbours: mask_source.hpp (masks), kernels/distance/types.hpp (fields).
#pragma once

#include "kernels/distance/types.hpp"
#include "kernels/labels/segments.hpp"
#include "miniapp/kit/mask_source.hpp"

#include <algorithm>

namespace nunatak::kit {

/// The mask values that form the domain, from -domain.
class Domain {
public:
  /// "" is the default. Throws Error naming `what`.
  Domain(const std::string& text, const Mask& mask, const std::string& what = "option -domain");
  bool contains(int value) const {
    return std::find(m_values.begin(), m_values.end(), value) != m_values.end();
  }

private:
  std::vector<int> m_values;
};

class SeedRules {
public:
  /// An empty `text` is the default. Throws Error naming the rule.
  SeedRules(const std::string& text, const std::string& domain, const Mask& mask);

  const std::vector<std::string>& names() const { return m_names; } ///< one per field

  /// The initial fields on all local ranks; one mask value per cell and ghost. No communication.
  DistanceFields fields(const Ranks& ranks) const;

private:
  // The value of the field at a cell (j, i) of a patch, from the mask there and in one ring.
  using Rule = std::function<int(const Patch& p, const Array2<int>& mask, int j, int i)>;
  Rule make_rule(const std::string& name) const;

  const Mask& m_mask;
  Domain m_domain;
  std::vector<std::string> m_names;
  std::vector<Rule> m_rules;
};

/// 1 in the domain, 0 outside, in owned cells: the codes to label.
std::vector<Array2<Code>> domain_codes(const Ranks& ranks, const Mask& mask, const Domain& domain);

} // namespace nunatak::kit
