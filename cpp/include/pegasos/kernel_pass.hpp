// The sequential part of a block of kernel steps: a few rows, their scores, the kernel among them.
//
// Scores of all rows are kept, f_j = sum_i coef_i K(x_i, x_j), so a draw costs one comparison. Within a block
// only the scores of its own rows must follow each update at once; all others get the sum of the updates
// afterwards (add_rows). The decisions are those of the published loop, draw for draw.
#pragma once

#include <cmath>
#include <cstdint>

#include "pegasos/losses.hpp"
#include "pegasos/problem.hpp"

namespace pegasos {

enum class KernelSolver { pegasos, sdca, perceptron };

struct KernelOptions {
  KernelSolver solver;
  LossName loss;
  bool mean;            // keep what a mean of the functions subtracts
  bool weighted_mean;   // weights c_t = W_t instead of 1
  int64_t most_passes;  // sdca: over a block,
  double enough;        // fewer if a pass raises the dual by no more than this part of the first
};

// One binary problem: all rows' scores and masses, and what this block adds to them.
struct KernelProblem {
  int32_t positive;
  double lam;
  double* scores;  // per row of the data
  double* mass;    // per row of the data: alpha (pegasos, perceptron) or b in [0, 1] (sdca)
  Tally* tally;
  double* local;       // per row of the block: its score, kept up to date
  double* delta;       // per row of the block: what its signed coefficient has gained
  double* mean_delta;  // the same for what the mean subtracts, or null
  int64_t n_passes;    // over the block (sdca)
};

// The rows of a block and the kernel among them. Row k of `values` is filled when it is first asked for, from
// the kernel row in `full`; without `full` it is there from the start.
template <class T>
struct LocalGram {
  const int64_t* rows;  // n row numbers
  int64_t n;
  const T* const* full;  // per row of the block: its kernel row over all data, or null
  T* values;             // n x n
  uint8_t* filled;       // per row, with `full`

  PEGASOS_INLINE const T* row(int64_t k, int64_t from) const {
    T* row = values + k * n;
    if (full && !filled[k]) {
      for (int64_t j = from; j < n; ++j) row[j] = full[k][rows[j]];
      filled[k] = 1;
    }
    return row;
  }
};

inline namespace PEGASOS_LEVEL {

// f[j] += c k[j], j = first .. n-1
template <class T>
PEGASOS_INLINE void follow(double c, const T* k, double* f, int64_t first, int64_t n) {
  dense_axpy(c, k + first, f + first, n - first);
}

// Every row of the block once, in order. W counts the draw under way: the published kernel form tests
// against 1/(lam t).
template <class Loss, class T>
void pegasos_block(const Labels& labels, const KernelOptions& opt, const LocalGram<T>& gram,
                   KernelProblem& problem) {
  Tally& tally = *problem.tally;
  for (int64_t k = 0; k < gram.n; ++k) {
    const int64_t i = gram.rows[k];
    const double y = labels.code[i] == problem.positive ? 1.0 : -1.0, s = labels.weight_of(i);
    const double mean_clock = tally.mean_clock;
    tally.clock += s;
    const double scale = problem.lam * tally.clock;
    if (opt.mean) {
      const double c = opt.weighted_mean ? s * tally.clock : s;
      tally.mean_clock += c / scale;
      tally.mean_weight += c;
    }
    const double z = y * problem.local[k];
    const double slope = Loss::slope(z, scale);
    tally.violations += z < scale;
    tally.gain += s * Loss::gain_at(z / scale, slope);
    if (slope <= 0) continue;
    const double c = y * s * slope;
    problem.mass[i] += s * slope;
    problem.delta[k] += c;
    if (opt.mean) problem.mean_delta[k] += c * mean_clock;
    follow(c, gram.row(k, k + 1), problem.local, k + 1, gram.n);  // only later rows are still asked
  }
}

template <class T>
void perceptron_block(const Labels& labels, const KernelOptions& opt, const LocalGram<T>& gram,
                      KernelProblem& problem) {
  Tally& tally = *problem.tally;
  for (int64_t k = 0; k < gram.n; ++k) {
    const int64_t i = gram.rows[k];
    const double y = labels.code[i] == problem.positive ? 1.0 : -1.0;
    if (y * problem.local[k] <= 0) {
      tally.violations += 1;
      problem.mass[i] += 1;
      problem.delta[k] += y;
      if (opt.mean) problem.mean_delta[k] += y * tally.clock;
      follow(y, gram.row(k, k + 1), problem.local, k + 1, gram.n);
    }
    tally.clock += 1;
  }
}

// Several passes over the block: solving its own small problem well is cheap beside the kernel rows that the
// result costs. A problem stops when a pass has raised its dual by little.
template <class Loss, class T>
void sdca_block(const Labels& labels, const KernelOptions& opt, const LocalGram<T>& gram,
                const double* diagonal, KernelProblem& problem) {
  Tally& tally = *problem.tally;
  const double per_mass = 1 / (problem.lam * labels.total_weight);
  double raised_first = 0;
  for (problem.n_passes = 0; problem.n_passes < opt.most_passes;) {
    double raised = 0;
    for (int64_t k = 0; k < gram.n; ++k) {
      const int64_t i = gram.rows[k];
      const double y = labels.code[i] == problem.positive ? 1.0 : -1.0, s = labels.weight_of(i);
      const double z = y * problem.local[k] * per_mass, q = s * diagonal[i] * per_mass;
      const double old = problem.mass[i], mass = Loss::ascend(old, z, q, 1);
      tally.violations += z < 1;
      if (mass == old) continue;
      const double step = mass - old, c = step * s * y;
      raised += s * (Loss::gain(mass) - Loss::gain(old) - step * (z + q * step / 2));
      problem.mass[i] = mass;
      problem.delta[k] += c;
      follow(c, gram.row(k, 0), problem.local, 0, gram.n);
    }
    if (problem.n_passes++ == 0) raised_first = raised;
    if (raised <= opt.enough * raised_first) return;
  }
}

// Whether a step of dual ascent would move the mass of row i, or might in a moment: its margin is off by more
// than `slack` where the mass is not at the right bound, or the mass is between its bounds.
PEGASOS_INLINE bool may_move(const Labels& labels, const KernelProblem& problem, double per_mass,
                             double slack, int64_t i) {
  const double y = labels.code[i] == problem.positive ? 1.0 : -1.0;
  const double z = y * problem.scores[i] * per_mass, mass = problem.mass[i];
  return mass <= 0 ? z < 1 - slack : (mass < 1 || z > 1 + slack);
}

// One problem through one block: gathers the scores, makes the steps.
template <class T>
void kernel_block(const Labels& labels, const KernelOptions& opt, const LocalGram<T>& gram,
                  const double* diagonal, KernelProblem& problem) {
  for (int64_t k = 0; k < gram.n; ++k) {
    problem.local[k] = problem.scores[gram.rows[k]];
    problem.delta[k] = 0;
    if (opt.mean) problem.mean_delta[k] = 0;
  }
  if (opt.solver == KernelSolver::perceptron) {
    perceptron_block(labels, opt, gram, problem);
    return;
  }
  with_loss(opt.loss, [&](auto loss) {
    using Loss = decltype(loss);
    if (opt.solver == KernelSolver::pegasos)
      pegasos_block<Loss>(labels, opt, gram, problem);
    else
      sdca_block<Loss>(labels, opt, gram, diagonal, problem);
  });
}

}  // namespace PEGASOS_LEVEL
}  // namespace pegasos
