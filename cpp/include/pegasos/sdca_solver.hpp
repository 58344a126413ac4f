// Dual coordinate ascent: one row at a time, the exact (over-relaxed) maximiser along its dual mass b_i in
//   D(b) = (1/S) sum_i s_i gain(b_i) - lam/2 ||w(b)||^2,   w(b) = (1/(lam S)) sum_i s_i b_i y_i x_i.
//
// w = w(b) holds at every step, so each state is a dual point and D a true bound.
// Rows whose mass rests at a bound with slack to spare are left asleep for some visits ("shrinking"); that
// only skips work: the certificate looks at every row.
#pragma once

#include "pegasos/losses.hpp"
#include "pegasos/walk.hpp"
#include "pegasos/weights.hpp"

namespace pegasos {

struct SdcaOptions {
  double lam;
  double relaxation;
  bool weighted_mean;  // weights c_t = t instead of 1
  bool shrinking;
};

// Draws of which the rows asleep are sorted out at a time.
constexpr int64_t kSdcaBlock = 65536;

inline namespace PEGASOS_LEVEL {

template <class Rows, class Loss, class Weights>
class SdcaSolver {
 public:
  SdcaSolver(const Rows& rows, const Labels& labels, const SdcaOptions& options)
      : rows_(rows),
        labels_(labels),
        opt_(options),
        per_mass_(1 / (options.lam * labels.total_weight)) {}

  // `awake` is scratch of kSdcaBlock entries. That rows are looked at a block ahead changes nothing: a row
  // drawn twice in it, and put to sleep in between, is left alone by its step.
  void run(const int64_t* draws, int64_t n_draws, Problem& problem, int64_t* awake,
           bool reader) const {
    for (int64_t first = 0; first < n_draws; first += kSdcaBlock) {
      const int64_t last = first + kSdcaBlock < n_draws ? first + kSdcaBlock : n_draws;
      int64_t n_awake = 0;
      for (int64_t t = first; t < last; ++t) {
        uint8_t& naps = problem.asleep[draws[t]];
        awake[n_awake] = draws[t];  // kept only if the row is awake: no branch to mispredict
        n_awake += naps == 0;
        naps -= naps != 0;
      }
      const Walk walk{labels_, &problem, 1, awake, n_awake, reader};
      go(walk, rows_, [&](int64_t, int64_t i, const auto& row) { step(i, row, problem); });
    }
  }

 private:
  template <class Row>
  PEGASOS_INLINE void step(int64_t i, const Row& row, Problem& problem) const {
    if (problem.asleep[i]) {
      --problem.asleep[i];
      return;
    }
    Tally& tally = *problem.tally;
    const double y = problem.sign(labels_, i);
    const double s = labels_.weight_of(i);
    double square;
    const double z = y * Weights::dot_and_square(row, problem, &square);
    const double old = problem.mass[i];
    const double mass = Loss::ascend(old, z, s * square * per_mass_, opt_.relaxation);
    tally.violations += z < 1;
    if (mass != old) {
      const double c = (mass - old) * s * y * per_mass_;
      problem.mass[i] = mass;
      Weights::add(row, c, problem);
    } else if (opt_.shrinking) {
      problem.asleep[i] = naps(z);
    }
    tally.clock += 1;
    tally.mean_clock += opt_.weighted_mean ? tally.clock : 1;
  }

  // The mass stayed at its bound: the further the margin is from 1, the longer it will stay there.
  static PEGASOS_INLINE uint8_t naps(double z) {
    const double slack = z < 1 ? 1 - z : z - 1;
    return slack < kNap ? 0 : (slack < 7 * kNap ? static_cast<uint8_t>(slack / kNap) : 7);
  }
  static constexpr double kNap = 0.25;

  const Rows& rows_;
  const Labels& labels_;
  SdcaOptions opt_;
  double per_mass_;
};

}  // namespace PEGASOS_LEVEL
}  // namespace pegasos
