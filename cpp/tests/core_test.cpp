// Tests of the core without Python, meant to run under the sanitizers (make sanitize).
//
// pytest holds the core to the reference, draw for draw; here every kind of rows, loss, solver and number
// of threads runs on arrays of exactly the right size, so that a load past an end is found, and the results
// are held to simple truths: all kinds of rows agree, threads change no bit, duals grow, norms stay bounded.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"
#include "pegasos/engine.hpp"
#include "pegasos/level_table.hpp"
#include "pegasos/parallel.hpp"

namespace {

using namespace tests;
using pegasos::Data;
using pegasos::LossName;
using pegasos::Mean;
using pegasos::Problem;
using pegasos::RowsView;
using pegasos::Tally;

// --- Data -----------------------------------------------------------------------------------------

struct Sample {
  Matrix matrix;
  std::vector<int32_t> code;
  Doubles weight;
  double bias, total;

  Sample(int64_t rows, int64_t features, unsigned seed, int n_classes, double bias_value,
         double scale = 1)
      : matrix(rows, features, seed, 0.7, scale), bias(bias_value), total(0) {
    std::mt19937 random(seed + 1);
    std::uniform_real_distribution<double> value(0.5, 2);
    for (int64_t i = 0; i < rows; ++i) {
      code.push_back(static_cast<int32_t>(random() % n_classes));
      weight.push_back(value(random));
      total += weight.back();
    }
  }
  Data data(RowsView::Kind kind) const {
    return {matrix.view(kind, bias), {code.data(), weight.data(), total}};
  }
};

// --- The state of a run ---------------------------------------------------------------------------

struct State {
  int64_t n_weights, n_rows;
  Doubles w, u, mass;
  std::vector<uint8_t> asleep;
  std::vector<Tally> tally;

  State(const Sample& sample, int n_problems)
      : n_weights(sample.matrix.n_features + 1),
        n_rows(sample.matrix.n_rows),
        w(n_problems * n_weights),
        u(w),
        mass(n_problems * n_rows),
        asleep(mass.size()),
        tally(n_problems, Tally{0, 0, 0, 0, 0, 0, 1, 1, 1}) {}

  std::vector<Problem> problems(bool mean = true, double lam = 0.05) {
    std::vector<Problem> list;
    for (size_t p = 0; p < tally.size(); ++p)
      list.push_back({static_cast<int32_t>(p), w.data() + p * n_weights,
                      mean ? u.data() + p * n_weights : nullptr, nullptr, mass.data() + p * n_rows,
                      asleep.data() + p * n_rows, &tally[p], lam});
    return list;
  }
  Doubles counts() const {
    Doubles all;
    for (const Tally& t : tally)
      for (double x : {t.clock, t.mean_clock, t.mean_weight, t.gain, t.violations, t.norm2,
                       t.shrink, t.mass_unit, t.scale})
        all.push_back(x);
    return all;
  }
};

bool same_bits(const State& a, const State& b) {
  return a.w == b.w && a.u == b.u && a.mass == b.mass && a.asleep == b.asleep &&
         a.counts() == b.counts();
}

// Sums in another order: equal up to rounding, and so the same decisions.
bool same_model(const State& a, const State& b) {
  return close(a.w, b.w, 1e-9) && close(a.u, b.u, 1e-9) && close(a.mass, b.mass, 1e-9) &&
         a.asleep == b.asleep && close(a.counts(), b.counts(), 1e-9);
}

const char* const kSolvers[] = {"pegasos", "batches", "projected", "start", "sdca", "perceptron"};

State run(const std::string& solver, const Sample& sample, RowsView::Kind kind, LossName loss,
          const Draws& draws, int n_problems, int n_threads) {
  const Data data = sample.data(kind);
  State state(sample, n_problems);
  const int64_t n = static_cast<int64_t>(draws.size());
  auto problems = state.problems();
  if (solver == "pegasos")
    pegasos::pegasos_steps(data, loss, {1, false, Mean::weighted}, draws.data(), n, problems,
                           n_threads);
  if (solver == "batches")
    pegasos::pegasos_steps(data, loss, {3, false, Mean::uniform}, draws.data(), n, problems,
                           n_threads);
  if (solver == "projected")
    pegasos::pegasos_steps(data, loss, {2, true, Mean::weighted}, draws.data(), n, problems,
                           n_threads);
  if (solver == "start")
    pegasos::sgd_start_steps(data, loss, {1e-3, 0.2}, draws.data(), n, problems, n_threads);
  if (solver == "sdca")
    pegasos::sdca_steps(data, loss, {0.05, 1.2, true, loss == LossName::hinge}, draws.data(), n,
                        problems, n_threads);
  if (solver == "perceptron") pegasos::perceptron_steps(data, draws.data(), n, problems, n_threads);
  return state;
}

// --- Tests ----------------------------------------------------------------------------------------

void all_kinds_of_rows_agree_and_threads_change_no_bit() {
  for (int64_t features = 0; features <= 17; ++features)
    for (int n_problems : {1, 3}) {
      const Sample sample(13, features, 100 + static_cast<unsigned>(features), 3,
                          features % 3 == 1 ? 0.0 : 0.5);
      const Draws draws = random_draws(13, 64, 7);
      for (const std::string solver : kSolvers)
        for (LossName loss : kLosses) {
          const State dense = run(solver, sample, kKinds[0], loss, draws, n_problems, 1);
          for (RowsView::Kind kind : kKinds) {
            const std::string where = solver + ", " + std::to_string(features) +
                                      " features, loss " + std::to_string(static_cast<int>(loss)) +
                                      ", kind " + std::to_string(kind);
            const State one = run(solver, sample, kind, loss, draws, n_problems, 1);
            CHECK(same_model(dense, one), where);
            CHECK(same_bits(one, run(solver, sample, kind, loss, draws, n_problems, 3)), where);
          }
        }
    }
}

void one_row_and_no_draws_are_fine() {
  const Sample sample(1, 1, 3, 1, 1.0);
  for (const std::string solver : kSolvers)
    for (RowsView::Kind kind : kKinds) {
      const State idle = run(solver, sample, kind, LossName::hinge, {}, 1, 2);
      CHECK(same_bits(idle, State(sample, 1)), solver);
      const State busy = run(solver, sample, kind, LossName::hinge, Draws(50, 0), 1, 2);
      CHECK(busy.tally[0].clock > 0 && std::isfinite(busy.w[0]), solver);
    }
}

void many_rows_and_draws_on_more_threads_than_problems_change_no_bit() {
  const int64_t n_rows = 1 << 13;
  const Sample sample(n_rows, 64, 5, 2, 1.0);
  const Draws draws = random_draws(n_rows, 100'001, 11);  // enough to be worth threads and a reader
  for (const std::string solver : kSolvers)
    for (RowsView::Kind kind : {RowsView::dense_f32, RowsView::csr_f64_i64})
      for (int n_problems : {1, 2}) {
        const State one = run(solver, sample, kind, LossName::hinge, draws, n_problems, 1);
        for (int n_threads : {2, 4})
          CHECK(same_bits(one,
                          run(solver, sample, kind, LossName::hinge, draws, n_problems, n_threads)),
                solver);
      }
}

// The published steps on w itself, hinge loss: what the sum form v must stand for.
void pegasos_makes_the_published_steps() {
  const double lam = 0.05;
  const Sample sample(20, 6, 21, 2, 1.0);
  const Draws draws = random_draws(20, 300, 3);
  State state(sample, 1);
  auto problems = state.problems(false, lam);
  Data data = sample.data(RowsView::dense_f64);
  data.labels.weight = nullptr;
  data.labels.total_weight = 20;
  pegasos::pegasos_steps(data, LossName::hinge, {1, false, Mean::none}, draws.data(), 300, problems,
                         1);
  Doubles w(7, 0.0);
  double violations = 0;
  for (int t = 1; t <= 300; ++t) {
    const int64_t i = draws[t - 1];
    const double y = sample.code[i] == 0 ? 1 : -1;
    const bool violates = y * sample.matrix.dot(i, w.data(), 1.0) < 1;
    violations += violates;
    for (double& x : w) x *= 1 - 1.0 / t;
    if (!violates) continue;
    for (int64_t j = 0; j < 6; ++j) w[j] += y * sample.matrix.f64[i * 6 + j] / (lam * t);
    w[6] += y / (lam * t);
  }
  for (double& x : state.w) x /= lam * state.tally[0].clock;
  CHECK(state.tally[0].violations == violations, "violations");
  CHECK(close(state.w, w, 1e-10), "weights");
}

double dual(const Data& data, LossName loss, double lam, State& state, Doubles* w) {
  const auto problems = state.problems();
  double gain;
  pegasos::gain_sums(data, loss, problems, 2, &gain);
  pegasos::dual_rows(data, problems, 2, w->data());
  double square = 0;
  for (double& x : *w) {
    x /= lam * data.labels.total_weight;
    square += x * x;
  }
  return gain / data.labels.total_weight - lam / 2 * square;
}

void sdca_never_lowers_the_dual_and_keeps_its_weights() {
  for (LossName loss : kLosses)
    for (double relaxation : {0.3, 1.0, 1.95})
      for (RowsView::Kind kind : {RowsView::dense_f64, RowsView::csr_f32_i32}) {
        const double lam = 0.02;
        const Sample sample(17, 5, 31, 2, 0.5);
        const Data data = sample.data(kind);
        State state(sample, 1);
        auto problems = state.problems();
        Doubles w(6);
        double last = 0;
        bool grows = true, feasible = true;
        for (int64_t i : random_draws(17, 170, 13)) {
          pegasos::sdca_steps(data, loss, {lam, relaxation, false, false}, &i, 1, problems, 1);
          const double now = dual(data, loss, lam, state, &w);
          grows = grows && now >= last - 1e-12;
          feasible = feasible && state.mass[i] >= 0 && state.mass[i] <= 1;
          last = now;
        }
        CHECK(grows, std::to_string(relaxation));
        CHECK(feasible, std::to_string(relaxation));
        CHECK(last > 0.1, std::to_string(relaxation));
        CHECK(close(state.w, w, 1e-9), std::to_string(relaxation));
      }
}

// v is the sum of what is left of every visit, and so is the gain (hinge).
bool masses_stand_for_the_weights(const Data& data, const State& state) {
  State masses = state;
  double sum = 0;
  for (int64_t i = 0; i < state.n_rows; ++i) {
    masses.mass[i] *= state.tally[0].mass_unit;
    sum += masses.mass[i];
    masses.mass[i] /= data.labels.weight_of(i);
  }
  Doubles v(state.w.size());
  pegasos::dual_rows(data, masses.problems(), 1, v.data());
  return close(state.w, v, 1e-9) && std::fabs(sum - state.tally[0].gain) <= 1e-9 * (1 + sum);
}

void thousands_of_projections_keep_norm_and_masses() {
  const double lam = 1;
  for (RowsView::Kind kind : {RowsView::dense_f32, RowsView::csr_f64_i32}) {
    const Sample sample(9, 4, 41, 2, 1.0, 3000.0);
    const Data data = sample.data(kind);
    State state(sample, 1);
    auto problems = state.problems(true, lam);
    const Tally& tally = state.tally[0];
    int n_projections = 0, n_restored = 0;
    bool inside = true, exact = true, true_masses = true;
    for (int64_t i : random_draws(9, 6000, 17)) {
      const double shrink = tally.shrink, unit = tally.mass_unit;
      pegasos::pegasos_steps(data, LossName::hinge, {1, true, Mean::weighted}, &i, 1, problems, 1);
      double square = 0;
      for (double x : state.w) square += x * x;
      const double radius = std::sqrt(lam) * tally.clock;
      inside = inside && std::sqrt(square) <= radius * (1 + 1e-9);
      exact = exact && std::fabs(square - tally.norm2) <= 1e-9 * radius * radius;
      n_projections += tally.shrink != shrink || shrink == 0;
      if (tally.mass_unit > unit) {  // it would have passed below 1e-100
        ++n_restored;
        true_masses = true_masses && masses_stand_for_the_weights(data, state);
      }
    }
    CHECK(inside, "norm within the radius");
    CHECK(exact, "norm kept along the way");
    CHECK(n_projections > 1000, std::to_string(n_projections));
    CHECK(n_restored >= 2, std::to_string(n_restored));
    CHECK(true_masses, "whenever their unit is restored");
    CHECK(masses_stand_for_the_weights(data, state), "in the end");
  }
}

void passes_sum_what_they_say() {
  for (int64_t features : {0, 1, 7, 16}) {
    const Sample sample(9001, features, 51, 3, 0.5);  // three ranges of rows
    State state(sample, 3);
    std::mt19937 random(1);
    std::uniform_real_distribution<double> value(-1, 1);
    for (double& x : state.w) x = value(random);
    for (LossName loss : kLosses)
      for (RowsView::Kind kind : kKinds) {
        const Data data = sample.data(kind);
        auto problems = state.problems();
        Doubles sums(3), guess_sums(3), rows(3 * (features + 1)), guess_rows(rows), gains(3);
        Doubles scores(9001 * 3), again(3);
        pegasos::loss_sums(data, loss, problems, 1, sums.data());
        pegasos::loss_sums(data, loss, problems, 3, again.data());
        CHECK(sums == again, "loss_sums, threads");
        pegasos::guess_masses(data, loss, 1, problems, 1, guess_rows.data(), guess_sums.data());
        const Doubles masses = state.mass;
        pegasos::dual_rows(data, problems, 2, rows.data());
        CHECK(close(rows, guess_rows, 1e-10), "rows of the guessed masses");
        CHECK(close(sums, guess_sums, 1e-10), "losses");
        pegasos::guess_masses(data, loss, 1, problems, 3, rows.data(), again.data());
        CHECK(rows == guess_rows && again == guess_sums && state.mass == masses, "guess, threads");
        const int64_t n = features + 1, length = pegasos::newton_length(n, true);
        Doubles terms(3 * length), terms_again(terms), slopes(3 * pegasos::kLineSteps);
        pegasos::newton_terms(data, loss, 1, true, problems, 1, terms.data());
        pegasos::newton_terms(data, loss, 1, true, problems, 3, terms_again.data());
        CHECK(terms == terms_again && state.mass == masses, "newton_terms, threads, masses");
        const Doubles newton_rows(terms.begin(), terms.begin() + n);
        CHECK(close(newton_rows, Doubles(rows.begin(), rows.begin() + n), 1e-10), "newton rows");
        pegasos::line_slopes(data, loss, 1, rows.data(), problems, 3, slopes.data());
        CHECK(slopes[0] >= slopes[pegasos::kLineSteps - 1], "slopes fall along a step");
        Doubles right(newton_rows);
        CHECK(pegasos::solve_newton(terms.data() + n + 2, 1, right.data(), n), "definite");
        pegasos::gain_sums(data, loss, problems, 1, gains.data());
        pegasos::gain_sums(data, loss, problems, 3, again.data());
        CHECK(gains == again && gains[0] > 0 && gains[0] <= sample.total, "gain_sums");
        pegasos::scores(data.rows, state.w.data(), 3, 3, scores.data());
        double worst = 0, losses = 0;
        for (int64_t i = 0; i < 9001; ++i) {
          for (int p = 0; p < 3; ++p) {
            const double* w = state.w.data() + p * (features + 1);
            worst = std::max(worst, std::fabs(scores[i * 3 + p] - sample.matrix.dot(i, w, 0.5)));
          }
          const double z = scores[i * 3] * (sample.code[i] == 0 ? 1 : -1);
          losses += sample.weight[i] *
                    (loss == LossName::hinge ? std::max(0.0, 1 - z) : std::log1p(std::exp(-z)));
        }
        CHECK(worst < 1e-12, "scores");
        CHECK(std::fabs(losses - sums[0]) < 1e-9 * losses, "loss_sums");
      }
  }
}

void values_that_are_not_finite_are_not_swallowed() {
  const double infinity = std::numeric_limits<double>::infinity();
  for (double bad : {infinity, -infinity, std::nan("")})
    for (LossName loss : kLosses) {
      Sample sample(6, 3, 61, 2, 0.0);
      sample.matrix.f64[4] = bad;
      State state(sample, 1);
      std::fill(state.w.begin(), state.w.end(), 1.0);
      double sum;
      pegasos::loss_sums(sample.data(RowsView::dense_f64), loss, state.problems(), 1, &sum);
      CHECK(!std::isfinite(sum), "loss_sums");
    }
}

void parallel_for_runs_every_task_once() {
  for (int n_threads : {0, 1, 2, 7})
    for (int64_t n_tasks : {0, 1, 2, 100}) {
      std::vector<int> runs(n_tasks, 0);
      pegasos::parallel_for(n_tasks, n_threads, [&](int64_t k) { ++runs[k]; });
      CHECK(runs == std::vector<int>(n_tasks, 1), std::to_string(n_threads));
    }
}

void an_unknown_cpu_level_is_refused_with_a_remedy() {
  setenv("PEGASOS_CPU_LEVEL", "v9", 1);
  std::string message;
  try {
    pegasos::level_table();
  } catch (const std::runtime_error& error) {
    message = error.what();
  }
  unsetenv("PEGASOS_CPU_LEVEL");
  CHECK(message.find("PEGASOS_CPU_LEVEL=v9") != std::string::npos, message);
  CHECK(message.find("choose one of: ") != std::string::npos, message);
  CHECK(message.find(pegasos::level_table().level) != std::string::npos, message);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--level") {
    std::puts(pegasos::level_table().level);
    return 0;
  }
  const char* level = std::getenv("PEGASOS_CPU_LEVEL");
  if (!level) an_unknown_cpu_level_is_refused_with_a_remedy();  // first: the choice is made once
  parallel_for_runs_every_task_once();
  all_kinds_of_rows_agree_and_threads_change_no_bit();
  one_row_and_no_draws_are_fine();
  many_rows_and_draws_on_more_threads_than_problems_change_no_bit();
  pegasos_makes_the_published_steps();
  sdca_never_lowers_the_dual_and_keeps_its_weights();
  thousands_of_projections_keep_norm_and_masses();
  passes_sum_what_they_say();
  values_that_are_not_finite_are_not_swallowed();
  csr_tests();
  team_tests();
  gram_tests();
  kernel_tests();
  svmlight_tests();
  number_table_tests();
  std::printf("%d passed, %d failed\n", n_passed, n_failed);
  return n_failed == 0 ? 0 : 1;
}
