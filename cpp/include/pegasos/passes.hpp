// Passes over all rows in storage order: objective, scores, and dual points. Each works on a range of rows,
// so that threads can share the rows; the ranges are fixed, hence the sums do not depend on their number.
#pragma once

#include "pegasos/losses.hpp"
#include "pegasos/problem.hpp"
#include "pegasos/ranges.hpp"
#include "pegasos/rows.hpp"

namespace pegasos {

inline namespace PEGASOS_LEVEL {

// Sparse rows are short, and each ends what the hardware prefetcher has learnt of the one before.
template <class Rows>
PEGASOS_INLINE void prefetch_ahead(const Rows& rows, int64_t i, int64_t last) {
  constexpr int64_t kAhead = 12;
  if constexpr (Rows::kSparse)
    if (i + kAhead < last) rows.prefetch(i + kAhead);
}

// sum_i s_i loss(y_i <w, x_i>). Not finite if a value in these rows is not.
template <class Loss, class Rows>
double loss_sum(const Rows& rows, const Labels& labels, RowRange range, const Problem& problem) {
  double sum = 0, not_finite = 0;
  for (int64_t i = range.first; i < range.last; ++i) {
    prefetch_ahead(rows, i, range.last);
    const double z = problem.sign(labels, i) * rows.at(i).dot(problem.w);
    not_finite += z - z;  // 0, or NaN for a NaN or an infinity that max(0, 1 - z) would swallow
    sum += labels.weight_of(i) * Loss::value(z);
  }
  return sum + not_finite;
}

// scores[i, p] = <w_p, x_i>
template <class Rows>
void score_rows(const Rows& rows, RowRange range, const double* weights, int64_t n_weights,
                int n_problems, double* scores) {
  for (int64_t i = range.first; i < range.last; ++i)
    for (int p = 0; p < n_problems; ++p)
      scores[i * n_problems + p] = rows.at(i).dot(weights + p * n_weights);
}

// Adds sum_i s_i b_i y_i x_i to `sum` for the masses b held in the problem.
template <class Rows>
void add_dual_rows(const Rows& rows, const Labels& labels, RowRange range, const Problem& problem,
                   double* sum) {
  for (int64_t i = range.first; i < range.last; ++i) {
    const double c = labels.weight_of(i) * problem.mass[i] * problem.sign(labels, i);
    if (c != 0) rows.at(i).axpy(c, sum);
  }
}

// Writes the guessed masses at the weights of the problem, adds their rows to `sum`, returns the loss.
template <class Loss, class Rows>
double guess_masses(const Rows& rows, const Labels& labels, RowRange range, const Problem& problem,
                    double width, double* sum) {
  double loss = 0, not_finite = 0;
  for (int64_t i = range.first; i < range.last; ++i) {
    prefetch_ahead(rows, i, range.last);
    const double y = problem.sign(labels, i), s = labels.weight_of(i);
    const double z = y * rows.at(i).dot(problem.w);
    const double mass = Loss::smooth_slope(z, width);
    problem.mass[i] = mass;
    loss += s * Loss::value(z);
    not_finite += z - z;
    if (mass > 0) rows.at(i).axpy(s * mass * y, sum);
  }
  return loss + not_finite;
}

// sum_i s_i gain(b_i)
template <class Loss>
double gain_sum(const Labels& labels, RowRange range, const double* mass) {
  double sum = 0;
  for (int64_t i = range.first; i < range.last; ++i)
    sum += labels.weight_of(i) * Loss::gain(mass[i]);
  return sum;
}

}  // namespace PEGASOS_LEVEL
}  // namespace pegasos
