// The sequential part of a block of kernel steps.
#pragma once

#include <cmath>

#include "pegasos/kernel_ascent.hpp"

namespace pegasos {
inline namespace PEGASOS_LEVEL {

// Masses are far apart in memory and nobody asks for them within a block: in a loop of their own the cache
// misses overlap.
template <class T>
void earn_masses(const LocalGram<T>& gram, KernelProblem& problem) {
  for (int64_t k = 0; k < gram.n; ++k)
    if (problem.delta[k] != 0) problem.mass[gram.rows[k]] += std::abs(problem.delta[k]);
}

// Every row of the block once, in order. W counts the draw under way: the published kernel form tests
// against 1/(lam t).
template <class Loss, class T>
void pegasos_block(const Labels& labels, const KernelOptions& opt, const LocalGram<T>& gram,
                   KernelProblem& problem) {
  Tally tally = *problem.tally;  // a copy: threads with other problems share its cache line
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
    if (slope <= 0) continue;
    const double c = y * s * slope;
    problem.delta[k] += c;
    if (opt.mean) problem.mean_delta[k] += c * mean_clock;
    follow(c, gram.row(k, k + 1), problem.local, k + 1, gram.n);  // only later rows are still asked
  }
  *problem.tally = tally;
  earn_masses(gram, problem);
}

template <class T>
void perceptron_block(const Labels& labels, const KernelOptions& opt, const LocalGram<T>& gram,
                      KernelProblem& problem) {
  Tally tally = *problem.tally;  // a copy: threads with other problems share its cache line
  for (int64_t k = 0; k < gram.n; ++k) {
    const int64_t i = gram.rows[k];
    const double y = labels.code[i] == problem.positive ? 1.0 : -1.0;
    if (y * problem.local[k] <= 0) {
      tally.violations += 1;
      problem.delta[k] += y;
      if (opt.mean) problem.mean_delta[k] += y * tally.clock;
      follow(y, gram.row(k, k + 1), problem.local, k + 1, gram.n);
    }
    tally.clock += 1;
  }
  *problem.tally = tally;
  earn_masses(gram, problem);
}

// One problem through one block, whose scores are in problem.local.
template <class T>
void kernel_block(const Labels& labels, const KernelOptions& opt, const LocalGram<T>& gram,
                  const double* diagonal, KernelProblem& problem) {
  problem.n_steps = 0;
  if (gram.n == 0) return;
  for (int64_t k = 0; k < gram.n; ++k) {
    problem.delta[k] = 0;
    if (opt.mean) problem.mean_delta[k] = 0;
  }
  if (opt.solver == KernelSolver::perceptron) {
    perceptron_block(labels, opt, gram, problem);
    return;
  }
  if (opt.solver == KernelSolver::pegasos)
    with_loss(opt.loss,
              [&](auto loss) { pegasos_block<decltype(loss)>(labels, opt, gram, problem); });
  else if (opt.loss == LossName::log)
    log_ascent(labels, opt, gram, diagonal, problem);
  else
    HingeAscent<T>(labels, opt, gram, diagonal, problem).run();
}

}  // namespace PEGASOS_LEVEL
}  // namespace pegasos
