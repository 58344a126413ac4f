// Pegasos: stochastic sub-gradient steps of size 1/(lam t) on
//   P(w) = lam/2 ||w||^2 + (1/S) sum_i s_i loss(y_i <w, x_i>).
//
// v holds lam W w (W the clock: t with unit weights), so shrinking w costs nothing: only the clock moves.
//   margin      z   = y <v, x> / (lam W)
//   step        v  += s slope(z) y x        (a batch of k: the mean of k such terms)
//   clock       W  += s                     (a weight means repetition: it moves the clock, too)
//   projection  ||w|| <= 1/sqrt(lam)  <=>  ||v|| <= sqrt(lam) W
// Running mean with weights c_t: keep C_t = sum c_t/(lam W_t) and u += C_{t-1} dv; then
// sum c_t w_{t+1} = C_T v - u: one more axpy per update, none without.
#pragma once

#include <cmath>

#include "pegasos/losses.hpp"
#include "pegasos/walk.hpp"
#include "pegasos/weights.hpp"

namespace pegasos {

enum class Mean { none, uniform, weighted };

struct PegasosOptions {
  int64_t batch_size;
  bool project;
  Mean mean;
};

inline namespace PEGASOS_LEVEL {

template <class Rows, class Loss, class Weights>
class PegasosSolver {
 public:
  PegasosSolver(const Rows& rows, const RowsView& view, const Labels& labels,
                const PegasosOptions& options)
      : rows_(rows),
        labels_(labels),
        n_rows_(view.n_rows),
        n_weights_(view.n_features + 1),
        opt_(options) {}

  // `slopes` is scratch of n_problems * batch_size entries.
  void run(const int64_t* draws, int64_t n_draws, Problem* problems, int n_problems, double* slopes,
           bool reader) const {
    const int64_t k = opt_.batch_size;
    const Walk walk{labels_, problems, n_problems, draws, n_draws, reader};
    int64_t filled = 0;
    go(walk, rows_, [&](int64_t t, int64_t i, const auto& row) {
      for (int p = 0; p < n_problems; ++p) slopes[p * k + filled] = visit(i, row, problems[p]);
      if (++filled < k && t + 1 < n_draws) return;
      const int64_t* batch = draws + t + 1 - filled;
      const auto row_of = [&](int64_t b) { return k == 1 ? row : rows_.at(batch[b]); };
      for (int p = 0; p < n_problems; ++p) step(batch, filled, row_of, slopes + p * k, problems[p]);
      filled = 0;
    });
  }

 private:
  // Looks at row i with the present weights: the slope of its loss, and the dual value it earns.
  template <class Row>
  PEGASOS_INLINE double visit(int64_t i, const Row& row, Problem& problem) const {
    Tally& tally = *problem.tally;
    const double scale = problem.lam * tally.clock;
    const double s = problem.sign(labels_, i) * Weights::dot(row, problem);
    const double slope = Loss::slope(s, scale);
    tally.violations += (s < scale || scale == 0);
    tally.gain += labels_.weight_of(i) * Loss::gain_at(scale == 0 ? 0 : s / scale, slope);
    return slope;
  }

  template <class RowOf>
  PEGASOS_INLINE void step(const int64_t* batch, int64_t k, RowOf row_of, const double* slopes,
                           Problem& problem) const {
    Tally& tally = *problem.tally;
    const double share = 1.0 / static_cast<double>(k);
    double weight = 0;
    for (int64_t b = 0; b < k; ++b) {
      const int64_t i = batch[b];
      const double s = labels_.weight_of(i);
      weight += s;
      if (slopes[b] > 0) update(i, row_of(b), s * slopes[b], share, problem);
    }
    weight *= share;
    tally.clock += weight;
    if (opt_.project) project(problem);
    if (opt_.mean == Mean::uniform) {  // c_t = weight
      tally.mean_clock += weight / (problem.lam * tally.clock);
      tally.mean_weight += weight;
    } else if (opt_.mean == Mean::weighted) {  // c_t = weight * W_t
      tally.mean_clock += weight / problem.lam;
      tally.mean_weight += weight * tally.clock;
    }
  }

  template <class Row>
  PEGASOS_INLINE void update(int64_t i, const Row& row, double mass, double share,
                             Problem& problem) const {
    const double c = problem.sign(labels_, i) * mass * share;
    if (opt_.project) {  // ||v + c x||^2 = ||v||^2 + 2 c <v, x> + c^2 ||x||^2
      double square;
      const double dot = Weights::dot_and_square(row, problem, &square);
      problem.tally->norm2 += c * (2 * dot + c * square);
    }
    Weights::add(row, c, problem);
    if (problem.mass) problem.mass[i] += mass / problem.tally->mass_unit;
  }

  // Scaling v scales every mass and gain with it: what was a dual point stays one (a smaller one).
  void project(Problem& problem) const {
    Tally& tally = *problem.tally;
    const double radius = std::sqrt(problem.lam) * tally.clock;
    if (tally.norm2 <= radius * radius) return;
    // An infinite norm must not pass for a projection onto 0: NaN weights give it away.
    const double factor =
        std::isfinite(tally.norm2) ? radius / std::sqrt(tally.norm2) : std::nan("");
    for (int64_t j = 0; j < n_weights_; ++j) {
      if (problem.u) problem.u[j] += tally.mean_clock * (factor - 1) * problem.w[j];
      problem.w[j] *= factor;
    }
    tally.norm2 = radius * radius;
    tally.gain *= factor;
    tally.shrink *= factor;
    tally.mass_unit *= factor;
    if (problem.mass && tally.mass_unit < kSmallestUnit) restore_unit(problem);
  }

  // Many projections in a row: bring the masses back to unit 1 before the unit underflows.
  void restore_unit(Problem& problem) const {
    for (int64_t i = 0; i < n_rows_; ++i) problem.mass[i] *= problem.tally->mass_unit;
    problem.tally->mass_unit = 1;
  }

  static constexpr double kSmallestUnit = 1e-100;
  const Rows& rows_;
  const Labels& labels_;
  int64_t n_rows_;
  int64_t n_weights_;
  PegasosOptions opt_;
};

}  // namespace PEGASOS_LEVEL
}  // namespace pegasos
