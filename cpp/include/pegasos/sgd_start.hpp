// A first pass for dual ascent: averaged stochastic gradient steps, which do not wait for the dual masses
// to build up.
//
//   w <- (1 - lam eta) w + eta slope(z) y x
//   eta = s eta0 / (1 + decay W/S), at most 1/(2 lam);  eta0 = 1 / mean ||x||^2 with unit weights
//   decay = max(30, lam S eta0)
// with the running mean weighted by W, if it is asked for. w = scale * stored weights, so the shrinking costs
// one product. 30 was chosen by measurement: one pass over cov1 ends 0.1% above the optimum (3: 0.7%, 10: 0.2%).
// Where lam S eta0 is larger the steps are those of Pegasos, 1/(lam (t + t0)): longer ones would forget what
// they have learnt, and drive the scale to where the mean is lost to rounding.
#pragma once

#include <algorithm>

#include "pegasos/losses.hpp"
#include "pegasos/walk.hpp"
#include "pegasos/weights.hpp"

namespace pegasos {

struct StartOptions {
  double lam;
  double eta0;
};

inline namespace PEGASOS_LEVEL {

template <class Rows, class Loss, class Weights>
class SgdStart {
 public:
  SgdStart(const Rows& rows, const Labels& labels, const StartOptions& options)
      : rows_(rows),
        labels_(labels),
        opt_(options),
        longest_(0.5 / options.lam),
        decay_(std::max(30.0, options.lam * labels.total_weight * options.eta0)) {}

  void run(const int64_t* draws, int64_t n_draws, Problem* problems, int n_problems,
           bool reader) const {
    const Walk walk{labels_, problems, n_problems, draws, n_draws, reader};
    go(walk, rows_, [&](int64_t, int64_t i, const auto& row) {
      for (int p = 0; p < n_problems; ++p) step(i, row, problems[p]);
    });
  }

 private:
  template <class Row>
  PEGASOS_INLINE void step(int64_t i, const Row& row, Problem& problem) const {
    Tally& tally = *problem.tally;
    const double s = labels_.weight_of(i);
    const double y = problem.sign(labels_, i);
    const double free = opt_.eta0 / (1 + decay_ * tally.clock / labels_.total_weight) * s;
    const double eta = free < longest_ ? free : longest_;
    const double scale = tally.scale;
    tally.scale *= 1 - opt_.lam * eta;
    const double per_slope = eta * y / tally.scale;  // the quotient does not wait for z
    const double z = y * scale * Weights::dot(row, problem);
    const double slope = Loss::slope(z, 1);
    tally.violations += z < 1;
    if (slope > 0) Weights::add(row, per_slope * slope, problem);
    tally.clock += s;
    tally.mean_clock += s * tally.clock * tally.scale;
    tally.mean_weight += s * tally.clock;
  }

  const Rows& rows_;
  const Labels& labels_;
  StartOptions opt_;
  double longest_;  // a step may halve w, not turn it round
  double decay_;
};

}  // namespace PEGASOS_LEVEL
}  // namespace pegasos
