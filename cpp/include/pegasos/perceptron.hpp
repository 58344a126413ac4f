// The perceptron: w += y x whenever y <w, x> <= 0. No step size, no objective: only mistakes count.
#pragma once

#include "pegasos/walk.hpp"

namespace pegasos {
inline namespace PEGASOS_LEVEL {

// Running mean of the weights after every step: with T steps done it is w - u/T (u += (t-1) y x).
template <class Rows>
void perceptron_steps(const Rows& rows, const Labels& labels, const int64_t* draws, int64_t n_draws,
                      Problem* problems, int n_problems, bool reader) {
  const Walk walk{labels, problems, n_problems, draws, n_draws, reader};
  go(walk, rows, [&](int64_t, int64_t i, const auto& row) {
    for (int p = 0; p < n_problems; ++p) {
      Problem& problem = problems[p];
      Tally& tally = *problem.tally;
      const double y = problem.sign(labels, i);
      if (y * row.dot(problem.w) <= 0) {
        row.axpy(y, problem.w);
        if (problem.u) row.axpy(y * tally.clock, problem.u);
        tally.violations += 1;
      }
      tally.clock += 1;
    }
  });
}

}  // namespace PEGASOS_LEVEL
}  // namespace pegasos
