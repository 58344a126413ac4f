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
  int64_t most_passes;  // sdca: so many steps for each row of a block,
  double enough;        // fewer if more would raise the dual by no more than this part
};

constexpr int64_t kLocalArrays = 6;

// One binary problem: all rows' scores and masses, and what this block adds to them.
struct KernelProblem {
  int32_t positive;
  double lam;
  double* scores;  // per row of the data
  double* mass;    // per row of the data: alpha (pegasos, perceptron) or b in [0, 1] (sdca)
  Tally* tally;
  double* local;       // kLocalArrays per row of the block; the first: its score, kept up to date
  double* delta;       // per row of the block: what its signed coefficient has gained
  double* mean_delta;  // the same for what the mean subtracts, or null
  int64_t n_steps;     // that the block has taken (sdca)
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

// Several passes over the block, row by row: solving its own small problem well is cheap beside the kernel
// rows that the result costs. For the log loss, which pulls at every row.
template <class T>
void log_ascent(const Labels& labels, const KernelOptions& opt, const LocalGram<T>& gram,
                const double* diagonal, KernelProblem& problem) {
  Tally& tally = *problem.tally;
  const double per_mass = 1 / (problem.lam * labels.total_weight);
  double raised_first = 0;
  for (int64_t pass = 0; pass < opt.most_passes; ++pass) {
    double raised = 0;
    for (int64_t k = 0; k < gram.n; ++k) {
      const int64_t i = gram.rows[k];
      const double y = labels.code[i] == problem.positive ? 1.0 : -1.0, s = labels.weight_of(i);
      const double z = y * problem.local[k] * per_mass, q = s * diagonal[i] * per_mass;
      const double old = problem.mass[i], mass = Log::ascend(old, z, q, 1);
      ++problem.n_steps;
      tally.violations += z < 1;
      if (mass == old) continue;
      const double step = mass - old, c = step * s * y;
      raised += s * (Log::gain(mass) - Log::gain(old) - step * (z + q * step / 2));
      problem.mass[i] = mass;
      problem.delta[k] += c;
      follow(c, gram.row(k, 0), problem.local, 0, gram.n);
    }
    if (pass == 0) raised_first = raised;
    if (raised <= opt.enough * raised_first) return;
  }
}

// The hinge leaves most masses at a bound, so always the row that raises the dual most is moved: looking for
// it costs as much as the update, and takes a fraction of the steps (usps: 2,000 instead of 280,000 to the
// same dual). Stops when even as many steps as there are rows, each as good as the best now, would raise the
// dual by no more than `enough` of what the block has gained.
template <class T>
class HingeAscent {
 public:
  HingeAscent(const Labels& labels, const KernelOptions& opt, const LocalGram<T>& gram,
              const double* diagonal, KernelProblem& problem)
      : gram_(gram),
        opt_(opt),
        problem_(problem),
        n_(gram.n),
        per_mass_(1 / (problem.lam * labels.total_weight)),
        slack_(problem.local),
        mass_(slack_ + n_),
        sign_(mass_ + n_),
        weight_(sign_ + n_),
        half_q_(weight_ + n_),
        per_slack_(half_q_ + n_) {
    for (int64_t k = 0; k < n_; ++k) {
      const int64_t i = gram.rows[k];
      sign_[k] = labels.code[i] == problem.positive ? 1.0 : -1.0;
      weight_[k] = labels.weight_of(i);
      slack_[k] = 1 - sign_[k] * slack_[k] * per_mass_;  // the score becomes 1 - z
      mass_[k] = problem.mass[i];
      const double q = weight_[k] * diagonal[i] * per_mass_;
      half_q_[k] = q / 2;
      per_slack_[k] = q > 0 ? 1 / q : kHuge;  // K(x, x) = 0: the margin stays 0, the mass goes to 1
    }
  }

  void run() {
    const int64_t most_steps = opt_.most_passes * n_;
    double raised = 0, gain;
    int64_t best = follow_and_find(nullptr, 0, &gain);
    while (gain > 0 && static_cast<double>(n_) * gain > opt_.enough * raised) {
      const double c = step(best);
      raised += gain;
      if (++problem_.n_steps >= most_steps) break;
      best = follow_and_find(gram_.row(best, 0), c, &gain);
    }
    for (int64_t k = 0; k < n_; ++k) problem_.mass[gram_.rows[k]] = mass_[k];
  }

 private:
  static constexpr double kHuge = 1e300;

  // Moves the mass of row k to the best place; returns what its coefficient has gained.
  double step(int64_t k) {
    const double mass = clip01(mass_[k] + slack_[k] * per_slack_[k]);
    const double c = (mass - mass_[k]) * weight_[k] * sign_[k];
    problem_.tally->violations += slack_[k] > 0;
    mass_[k] = mass;
    problem_.delta[k] += c;
    return c;
  }

  // All slacks follow an update, and the row that would gain most is found on the way.
  int64_t follow_and_find(const T* row, double c, double* gain) {
    const Four zero = {0, 0, 0, 0}, one = zero + 1, pace = zero + 4;
    Four best = zero, where = zero, here = {0, 1, 2, 3};
    const double change = c * per_mass_;
    int64_t k = 0;
    for (; k + 4 <= n_; k += 4) {
      Four slack = load_four(slack_ + k);
      if (row) {
        slack -= load_four(sign_ + k) * (change * load_four(row + k));
        store(slack_ + k, slack);
      }
      const Four mass = load_four(mass_ + k);
      Four to = mass + slack * load_four(per_slack_ + k);
      to = to < zero ? zero : to;
      to = to > one ? one : to;
      const Four moved = to - mass;
      const Four gains =
          load_four(weight_ + k) * (moved * (slack - load_four(half_q_ + k) * moved));
      where = gains > best ? here : where;
      best = gains > best ? gains : best;
      here += pace;
    }
    double most = 0;
    int64_t at = 0;
    for (int lane = 0; lane < 4; ++lane)
      if (best[lane] > most) {
        most = best[lane];
        at = static_cast<int64_t>(where[lane]);
      }
    for (; k < n_; ++k) {
      if (row) slack_[k] -= sign_[k] * (change * static_cast<double>(row[k]));
      const double moved = clip01(mass_[k] + slack_[k] * per_slack_[k]) - mass_[k];
      const double gains = weight_[k] * (moved * (slack_[k] - half_q_[k] * moved));
      if (gains > most) {
        most = gains;
        at = k;
      }
    }
    *gain = most;
    return at;
  }

  const LocalGram<T>& gram_;
  const KernelOptions& opt_;
  KernelProblem& problem_;
  int64_t n_;
  double per_mass_;
  double *slack_, *mass_, *sign_, *weight_, *half_q_, *per_slack_;
};

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
  problem.n_steps = 0;
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
