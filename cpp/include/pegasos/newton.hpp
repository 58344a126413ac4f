// Newton's steps on the objective with the corner of the hinge rounded: what they need of all rows.
//
//   P_h(w) = lam/2 ||w||^2 + (1/S) sum_i s_i loss_h(y_i <w, x_i>)
// where the slope of loss_h falls from 1 to 0 on a ramp of width h about the hinge (the log loss is smooth
// as it is). The slopes at any w are dual masses: every look at P_h gives a bound, too.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "pegasos/losses.hpp"
#include "pegasos/problem.hpp"
#include "pegasos/ranges.hpp"
#include "pegasos/rows.hpp"

namespace pegasos {

// What newton_terms() adds up, one after the other: the rows times their masses, the loss, the dual gain, and
// the matrix of second derivatives if it is asked for.
inline int64_t newton_length(int64_t n_weights, bool curvature) {
  return n_weights + 2 + (curvature ? n_weights * n_weights : 0);
}

// The fractions of a step at which its slope is looked at.
constexpr int kLineSteps = 4;
constexpr double kLineFractions[kLineSteps] = {0.125, 0.25, 0.5, 1};

inline namespace PEGASOS_LEVEL {

// Adds c x x' to the matrix: each pair of entries once, at (later, earlier) as the row lists them. Whoever
// uses the matrix adds its two triangles.
template <class Row>
PEGASOS_INLINE void add_square(const Row& row, double c, int64_t n_weights, int64_t* column,
                               double* value, double* matrix) {
  const int64_t n = row.copy_nonzero(column, value);
  for (int64_t k = 0; k < n; ++k) {
    const double scaled = c * value[k];
    double* line = matrix + column[k] * n_weights;
    for (int64_t l = 0; l <= k; ++l) line[column[l]] += scaled * value[l];
  }
}

// Writes the masses, too, if the problem has a place for them. In blocks, in which first all margins are computed, then the rows are added that have mass, then the squares
// of those on the ramp: which rows these are no branch has to guess.
template <class Loss, class Rows>
void newton_terms(const Rows& rows, const Labels& labels, RowRange range, const Problem& problem,
                  double width, int64_t n_weights, bool curvature, double* terms) {
  constexpr int64_t kBlock = 512;
  int64_t with_mass[kBlock], on_ramp[kBlock];
  double coefs[kBlock], curvatures[kBlock];
  std::vector<int64_t> column(curvature ? n_weights : 0);
  std::vector<double> value(column.size());
  double loss = 0, not_finite = 0, gain = 0;
  for (int64_t first = range.first; first < range.last; first += kBlock) {
    const int64_t last = std::min(range.last, first + kBlock);
    int64_t n_mass = 0, n_ramp = 0;
    for (int64_t i = first; i < last; ++i) {
      const double y = problem.sign(labels, i), s = labels.weight_of(i);
      const double z = y * rows.at(i).dot(problem.w);
      const double mass = Loss::smooth_slope(z, width);
      loss += s * Loss::value(z);
      gain += s * Loss::gain_at(z, mass);
      not_finite += z - z;
      if (problem.mass) problem.mass[i] = mass;
      with_mass[n_mass] = on_ramp[n_ramp] = i;
      coefs[n_mass] = s * mass * y;
      curvatures[n_ramp] = s * Loss::curvature(mass, width);
      n_mass += mass > 0;
      n_ramp += curvatures[n_ramp] > 0;
    }
    for (int64_t k = 0; k < n_mass; ++k) rows.at(with_mass[k]).axpy(coefs[k], terms);
    if (!curvature) continue;
    for (int64_t k = 0; k < n_ramp; ++k)
      add_square(rows.at(on_ramp[k]), curvatures[k], n_weights, column.data(), value.data(),
                 terms + n_weights + 2);
  }
  terms[n_weights] += loss + not_finite;
  terms[n_weights + 1] += gain;
}

// slopes[j] += sum_i s_i b_i y_i <step, x_i>, with the masses b at w + kLineFractions[j] step.
template <class Loss, class Rows>
void line_slopes(const Rows& rows, const Labels& labels, RowRange range, const Problem& problem,
                 const double* step, double width, double* slopes) {
  for (int64_t i = range.first; i < range.last; ++i) {
    const double y = problem.sign(labels, i), s = labels.weight_of(i);
    const double z = y * rows.at(i).dot(problem.w), change = y * rows.at(i).dot(step);
    for (int j = 0; j < kLineSteps; ++j)
      slopes[j] += s * change * Loss::smooth_slope(z + kLineFractions[j] * change, width);
  }
}

// Solves (ridge I + M) x = right by Cholesky's method, where M is the sum of the matrix' triangles; x takes
// the place of `right`, the factor that of the matrix. Returns false if rounding leaves it not definite.
inline bool cholesky_solve(double* matrix, double ridge, double* right, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    double* line = matrix + i * n;
    for (int64_t j = 0; j < i; ++j) {
      const double* above = matrix + j * n;
      line[j] += matrix[j * n + i];
      line[j] = (line[j] - dense_dot(line, above, j)) * above[j];
    }
    const double pivot = ridge + line[i] - dense_dot(line, line, i);
    if (!(pivot > 0)) return false;
    line[i] = 1 / std::sqrt(pivot);
    right[i] = (right[i] - dense_dot(line, right, i)) * line[i];
  }
  for (int64_t i = n - 1; i >= 0; --i) {
    right[i] *= matrix[i * n + i];
    for (int64_t j = 0; j < i; ++j) right[j] -= matrix[i * n + j] * right[i];
  }
  return true;
}

}  // namespace PEGASOS_LEVEL
}  // namespace pegasos
