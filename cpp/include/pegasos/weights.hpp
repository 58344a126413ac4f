// Where a solver finds the weights and what their running mean subtracts: in two arrays, or in pairs.
//
// An update of a sparse row goes to both, at random places. In pairs it costs one load and one store for each
// entry instead of two, and half the cache lines. Same sums, same bits.
#pragma once

#include <vector>

#include "pegasos/problem.hpp"
#include "pegasos/rows.hpp"

namespace pegasos {
inline namespace PEGASOS_LEVEL {

struct Apart {
  template <class Row>
  static PEGASOS_INLINE double dot(const Row& row, const Problem& problem) {
    return row.dot(problem.w);
  }
  template <class Row>
  static PEGASOS_INLINE double dot_and_square(const Row& row, const Problem& problem,
                                              double* square) {
    return row.dot_and_square(problem.w, square);
  }
  // w += c x, and u += C_t c x
  template <class Row>
  static PEGASOS_INLINE void add(const Row& row, double c, Problem& problem) {
    row.axpy(c, problem.w);
    if (problem.u) row.axpy(c * problem.tally->mean_clock, problem.u);
  }
};

struct InPairs {
  template <class Row>
  static PEGASOS_INLINE double dot(const Row& row, const Problem& problem) {
    return row.dot(problem.pairs);
  }
  template <class Row>
  static PEGASOS_INLINE double dot_and_square(const Row& row, const Problem& problem,
                                              double* square) {
    return row.dot_and_square(problem.pairs, square);
  }
  template <class Row>
  static PEGASOS_INLINE void add(const Row& row, double c, Problem& problem) {
    row.axpy(Two{c, c * problem.tally->mean_clock}, problem.pairs);
  }
};

// Calls use(weights) with the way that is quicker for these draws: pairing costs a pass over all weights.
template <class Rows, class Use>
void with_weights(const Rows& rows, const RowsView& view, int64_t n_draws, Problem* problems,
                  int n_problems, Use use) {
  if constexpr (Rows::kSparse) {
    const double per_row =
        static_cast<double>(count_entries(view)) / static_cast<double>(view.n_rows);
    const int64_t n = view.n_features + 1;
    if (n_problems > 0 && problems[0].u &&
        per_row * static_cast<double>(n_draws) > 4.0 * static_cast<double>(n)) {
      std::vector<Two> pairs(n * n_problems);
      for (int p = 0; p < n_problems; ++p) {
        Problem& problem = problems[p];
        problem.pairs = pairs.data() + p * n;
        for (int64_t j = 0; j < n; ++j) problem.pairs[j] = Two{problem.w[j], problem.u[j]};
      }
      use(InPairs{});
      for (int p = 0; p < n_problems; ++p)
        for (int64_t j = 0; j < n; ++j) {
          problems[p].w[j] = problems[p].pairs[j][0];
          problems[p].u[j] = problems[p].pairs[j][1];
        }
      return;
    }
  }
  use(Apart{});
}

}  // namespace PEGASOS_LEVEL
}  // namespace pegasos
