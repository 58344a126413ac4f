// Dual coordinate ascent on the rows of a block.
#pragma once

#include "pegasos/kernel_block.hpp"
#include "pegasos/kernel_function.hpp"

namespace pegasos {
inline namespace PEGASOS_LEVEL {

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
// it costs as much as the update, and takes a fraction of the steps (Reuters: 2,000 instead of 280,000 to the
// same dual). Stops when even as many steps as there are rows, each as good as the best now, would raise the
// dual by no more than `enough` of what the block has gained.
//
// In the precision of the kernel: what float32 rounds here is set right when the next block starts from the
// scores of all rows. Bound by reading slack, mass, sign and the kernel row from the L1 and L2 caches.
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
        slack_(reinterpret_cast<T*>(problem.local + n_)),
        mass_(slack_ + n_),
        sign_(mass_ + n_),
        weight_(sign_ + n_),
        half_q_(weight_ + n_),
        per_slack_(half_q_ + n_) {
    for (int64_t k = 0; k < n_; ++k) {
      const int64_t i = gram.rows[k];
      const double sign = labels.code[i] == problem.positive ? 1.0 : -1.0;
      const double weight = labels.weight_of(i), q = weight * diagonal[i] * per_mass_;
      sign_[k] = static_cast<T>(sign);
      weight_[k] = static_cast<T>(weight);
      slack_[k] = static_cast<T>(1 - sign * problem.local[k] * per_mass_);
      mass_[k] = static_cast<T>(problem.mass[i]);
      half_q_[k] = static_cast<T>(q / 2);
      per_slack_[k] = static_cast<T>(q > kTiny ? 1 / q : 1 / kTiny);
      // K(x, x) = 0: the margin stays 0 and the mass goes to 1
    }
  }

  void run() {
    if (all_alike())
      ascend<true>();
    else
      ascend<false>();
    for (int64_t k = 0; k < n_; ++k) {
      const int64_t i = gram_.rows[k];
      if (problem_.delta[k] != 0) problem_.mass[i] = static_cast<double>(mass_[k]);
    }
  }

 private:
  using W = Wide<T>;
  typedef typename W::Values Values;
  static constexpr double kTiny = 1e-30;

  // One weight, one K(x, x) (rbf): less to read at every step.
  bool all_alike() const {
    bool alike = true;
    for (int64_t k = 1; k < n_; ++k) alike &= weight_[k] == weight_[0] && half_q_[k] == half_q_[0];
    return alike;
  }

  template <bool kAlike>
  void ascend() {
    const int64_t most_steps = opt_.most_passes * n_;
    double raised = 0;
    T gain;
    int64_t best = follow_and_find<kAlike>(nullptr, 0, &gain);
    while (gain > 0 && static_cast<double>(n_) * gain > opt_.enough * raised) {
      const double c = step(best);
      raised += gain;
      if (++problem_.n_steps >= most_steps) break;
      best = follow_and_find<kAlike>(gram_.row(best, 0), c, &gain);
    }
  }

  // Moves the mass of row k to the best place; returns what its coefficient has gained.
  double step(int64_t k) {
    const T to = clipped(mass_[k] + slack_[k] * per_slack_[k]);
    const double moved = static_cast<double>(to) - static_cast<double>(mass_[k]);
    const double c = moved * problem_weight(k);
    problem_.tally->violations += slack_[k] > 0;
    mass_[k] = to;
    problem_.delta[k] += c;
    return c;
  }
  double problem_weight(int64_t k) const {
    return static_cast<double>(weight_[k]) * static_cast<double>(sign_[k]);
  }
  static PEGASOS_INLINE T clipped(T mass) { return mass < 0 ? 0 : (mass > 1 ? 1 : mass); }

  static PEGASOS_INLINE Values load(const T* from) {
    Values values;
    std::memcpy(&values, from, sizeof(values));
    return values;
  }

  // All slacks follow an update, and the row that would gain most is found on the way.
  template <bool kAlike>
  PEGASOS_INLINE int64_t follow_and_find(const T* row, double c, T* gain) {
    const Values zero = {}, one = zero + 1;
    Values per_slack = zero + per_slack_[0], half_q = zero + half_q_[0], weight = zero + weight_[0];
    Values best = zero, where = zero, here = zero;
    for (int lane = 0; lane < W::lanes; ++lane) here[lane] = static_cast<T>(lane);
    const T change = static_cast<T>(c * per_mass_);
    int64_t k = 0;
    for (; k + W::lanes <= n_; k += W::lanes) {
      Values slack = load(slack_ + k);
      if (row) {
        slack -= load(sign_ + k) * (change * load(row + k));
        std::memcpy(slack_ + k, &slack, sizeof(slack));
      }
      if constexpr (!kAlike) {
        per_slack = load(per_slack_ + k);
        half_q = load(half_q_ + k);
        weight = load(weight_ + k);
      }
      const Values mass = load(mass_ + k);
      Values to = mass + slack * per_slack;
      to = to < zero ? zero : to;
      to = to > one ? one : to;
      const Values moved = to - mass;
      const Values gains = weight * (moved * (slack - half_q * moved));
      where = gains > best ? here : where;
      best = gains > best ? gains : best;
      here += static_cast<T>(W::lanes);
    }
    T most = 0;
    int64_t at = 0;
    for (int lane = 0; lane < W::lanes; ++lane) {
      const int64_t there = static_cast<int64_t>(where[lane]);
      if (best[lane] > most || (best[lane] == most && there < at)) {  // of equals the first
        most = best[lane];
        at = there;
      }
    }
    for (; k < n_; ++k) {
      if (row) slack_[k] -= sign_[k] * (change * row[k]);
      const T moved = clipped(mass_[k] + slack_[k] * per_slack_[k]) - mass_[k];
      const T gains = weight_[k] * (moved * (slack_[k] - half_q_[k] * moved));
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
  T *slack_, *mass_, *sign_, *weight_, *half_q_, *per_slack_;
};

// Whether a step of dual ascent would move the mass of row i, or might in a moment: its margin is off by more
// than `slack` where the mass is not at the right bound, or the mass is between its bounds.
// The log loss pulls at every row: none rests at a bound.
PEGASOS_INLINE bool may_move(const Labels& labels, LossName loss, const KernelProblem& problem,
                             double per_mass, double slack, int64_t i) {
  if (loss == LossName::log) return true;
  const double y = labels.code[i] == problem.positive ? 1.0 : -1.0;
  const double z = y * problem.scores[i] * per_mass, mass = problem.mass[i];
  return mass <= 0 ? z < 1 - slack : (mass < 1 || z > 1 + slack);
}

}  // namespace PEGASOS_LEVEL
}  // namespace pegasos
