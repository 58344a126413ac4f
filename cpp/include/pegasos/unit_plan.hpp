// Whether inner products are worth the matrix unit, and in how many terms rows are written for it.
#pragma once

#include <algorithm>
#include <optional>

#include "pegasos/gram.hpp"
#include "pegasos/level_table.hpp"
#include "pegasos/spread.hpp"
#include "pegasos/unit_products.hpp"

namespace pegasos {

// Three terms are as good as float32. Two leave an inner product an error of at most 2^-17 |a||b|: four digits of an
// rbf kernel are sure where gamma |a||b| is at most 4, and of many features, the only ones where it matters how long
// it takes, the errors make up for one another.
constexpr double kLargestForTwoTerms = 4;
constexpr int64_t kFeaturesForTwoTerms = 256;
// So many products of the unit take as long as one entry of a sparse row does in a panel (Adult, MNIST).
constexpr double kProductsPerEntry = 35;

// Of all rows of the matrix, whichever are picked: a kernel value shall be the same in every call.
inline double largest_square(const GramSide& side) {
  double largest = 0;
  for (int64_t i = 0; i < side.view.n_rows; ++i) largest = std::max(largest, side.squares[i]);
  return largest;
}

inline bool worth_the_unit(const RowsView& view, int64_t n_products) {
  if (is_dense(view)) return true;
  const double entries = static_cast<double>(count_entries(view));
  return static_cast<double>(n_products * view.n_features) * static_cast<double>(view.n_rows) <=
         kProductsPerEntry * entries;
}

// Both sides are float32; nothing if there is no unit or others are quicker.
inline std::optional<UnitPlan> unit_plan(const GramSide& picked, const GramSide& others,
                                         const KernelFunction& kernel, const LevelTable& level) {
  const float grid = picked.view.grid > 0 ? picked.view.grid : others.view.grid;
  if (!level.unit || picked.view.n_features == 0) return std::nullopt;
  const bool two = kernel.kind == KernelFunction::rbf &&
                   picked.view.n_features >= kFeaturesForTwoTerms &&
                   kernel.gamma * std::max(largest_square(picked), largest_square(others)) <=
                       kLargestForTwoTerms;
  const auto terms = [&](const RowsView& view) {
    return view.grid > 0 && view.grid == grid ? 1 : (two ? 2 : kMostTerms);
  };
  const UnitPlan plan{terms(picked.view), terms(others.view), grid > 0 ? 1 / grid : 1};
  const int64_t n_products = count_unit_products(plan.picked_terms, plan.other_terms);
  if (!worth_the_unit(others.view, n_products)) return std::nullopt;
  return plan;
}

}  // namespace pegasos
