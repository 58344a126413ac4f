#include "pegasos/engine.hpp"

#include "pegasos/parallel.hpp"
#include "pegasos/ranges.hpp"
#include "pegasos/worth_threads.hpp"

namespace pegasos {
namespace {

// Numbers touched by n_visits of a row, for each problem.
double work_of(const RowsView& rows, int64_t n_visits, int64_t n_problems) {
  constexpr double kPerVisit = 20;
  const double entries = static_cast<double>(count_entries(rows));
  const double per_row = entries / static_cast<double>(std::max<int64_t>(1, rows.n_rows));
  return static_cast<double>(n_visits * n_problems) * (kPerVisit + per_row);
}

double work_of_pass(const RowsView& rows, int64_t n_problems) {
  return work_of(rows, rows.n_rows, n_problems);
}

// Contiguous groups of problems, one per thread: each group walks the draws once. Where threads are left
// over, every group has one to read its rows.
template <class Advance>
void advance_groups(const RowsView& rows, int64_t n_draws, std::vector<Problem>& problems,
                    int n_threads, Advance advance) {
  const int64_t n = static_cast<int64_t>(problems.size());
  n_threads = worth_threads(work_of(rows, n_draws, n), n_threads);
  const int64_t n_groups = std::max<int64_t>(1, std::min<int64_t>(n, n_threads));
  parallel_for(n_groups, n_threads, [&](int64_t g) {
    const int64_t first = g * n / n_groups, last = (g + 1) * n / n_groups;
    advance(problems.data() + first, static_cast<int>(last - first), n_threads >= 2 * n_groups);
  });
}

// sums[p] = sum over the ranges, in order, of part(range, p)
template <class Part>
void sum_over_ranges(int64_t n_rows, int64_t n_problems, int n_threads, double* sums, Part part) {
  const int64_t n_ranges = count_ranges(n_rows, kRowsPerRange);
  std::vector<double> parts(n_ranges * n_problems);
  parallel_for(n_ranges, n_threads, [&](int64_t k) {
    for (int64_t p = 0; p < n_problems; ++p)
      parts[k * n_problems + p] = part(range_at(k, n_rows, kRowsPerRange), p);
  });
  for (int64_t p = 0; p < n_problems; ++p) {
    sums[p] = 0;
    for (int64_t k = 0; k < n_ranges; ++k) sums[p] += parts[k * n_problems + p];
  }
}

// The same for vectors of this length: few large ranges, since each needs a vector of its own.
constexpr int64_t kVectorRanges = 4;
constexpr int64_t kMatrixRanges = 2;

template <class Part>
void sum_vectors(int64_t n_rows, int64_t most_ranges, int64_t length_of_one, int64_t n_problems,
                 int n_threads, double* vectors, Part part) {
  const int64_t per_range = std::max<int64_t>(1, count_ranges(n_rows, most_ranges));
  const int64_t n_ranges = count_ranges(n_rows, per_range);
  std::vector<double> parts(n_ranges * n_problems * length_of_one);
  parallel_for(n_ranges * n_problems, n_threads, [&](int64_t task) {
    const int64_t k = task / n_problems, p = task % n_problems;
    part(k, range_at(k, n_rows, per_range), p, parts.data() + task * length_of_one);
  });
  const int64_t length = n_problems * length_of_one;
  std::fill(vectors, vectors + length, 0.0);
  for (int64_t k = 0; k < n_ranges; ++k)
    for (int64_t j = 0; j < length; ++j) vectors[j] += parts[k * length + j];
}

}  // namespace

void pegasos_steps(const Data& data, LossName loss, const PegasosOptions& options,
                   const int64_t* draws, int64_t n_draws, std::vector<Problem>& problems,
                   int n_threads) {
  const LevelTable& level = level_table();  // here, where it may throw
  advance_groups(data.rows, n_draws, problems, n_threads, [&](Problem* group, int n, bool reader) {
    std::vector<double> slopes(n * options.batch_size);
    level.pegasos(data.rows, data.labels, loss, options, draws, n_draws, group, n, slopes.data(),
                  reader);
  });
}

void sgd_start_steps(const Data& data, LossName loss, const StartOptions& options,
                     const int64_t* draws, int64_t n_draws, std::vector<Problem>& problems,
                     int n_threads) {
  const LevelTable& level = level_table();
  advance_groups(data.rows, n_draws, problems, n_threads, [&](Problem* group, int n, bool reader) {
    level.sgd_start(data.rows, data.labels, loss, options, draws, n_draws, group, n, reader);
  });
}

void sdca_steps(const Data& data, LossName loss, const SdcaOptions& options, const int64_t* draws,
                int64_t n_draws, std::vector<Problem>& problems, int n_threads) {
  const LevelTable& level = level_table();
  const int64_t n_problems = static_cast<int64_t>(problems.size());
  n_threads = worth_threads(work_of(data.rows, n_draws, n_problems), n_threads);
  const bool reader = n_threads >= 2 * n_problems;
  parallel_for(n_problems, n_threads, [&](int64_t p) {
    std::vector<int64_t> awake(std::min(n_draws, kSdcaBlock));
    level.sdca(data.rows, data.labels, loss, options, draws, n_draws, problems[p], awake.data(),
               reader);
  });
}

void perceptron_steps(const Data& data, const int64_t* draws, int64_t n_draws,
                      std::vector<Problem>& problems, int n_threads) {
  const LevelTable& level = level_table();
  advance_groups(data.rows, n_draws, problems, n_threads, [&](Problem* group, int n, bool reader) {
    level.perceptron(data.rows, data.labels, draws, n_draws, group, n, reader);
  });
}

void loss_sums(const Data& data, LossName loss, const std::vector<Problem>& problems, int n_threads,
               double* sums) {
  const LevelTable& level = level_table();
  n_threads = worth_threads(work_of_pass(data.rows, problems.size()), n_threads);
  sum_over_ranges(data.rows.n_rows, problems.size(), n_threads, sums,
                  [&](RowRange range, int64_t p) {
                    return level.loss_sum(data.rows, data.labels, loss, range, problems[p]);
                  });
}

void guess_masses(const Data& data, LossName loss, double width, std::vector<Problem>& problems,
                  int n_threads, double* dual_rows, double* sums) {
  const LevelTable& level = level_table();
  const int64_t n_problems = static_cast<int64_t>(problems.size());
  n_threads = worth_threads(work_of_pass(data.rows, n_problems), n_threads);
  std::vector<double> losses(kVectorRanges * n_problems, 0.0);
  sum_vectors(data.rows.n_rows, kVectorRanges, data.rows.n_features + 1, n_problems, n_threads,
              dual_rows, [&](int64_t k, RowRange range, int64_t p, double* vector) {
                losses[k * n_problems + p] = level.guess_masses(data.rows, data.labels, loss, range,
                                                                problems[p], width, vector);
              });
  for (int64_t p = 0; p < n_problems; ++p) {
    sums[p] = 0;
    for (int64_t k = 0; k < kVectorRanges; ++k) sums[p] += losses[k * n_problems + p];
  }
}

void newton_terms(const Data& data, LossName loss, double width, bool curvature,
                  const std::vector<Problem>& problems, int n_threads, double* terms) {
  const LevelTable& level = level_table();
  const int64_t length = newton_length(data.rows.n_features + 1, curvature);
  n_threads = worth_threads(work_of_pass(data.rows, problems.size()), n_threads);
  sum_vectors(data.rows.n_rows, kMatrixRanges, length, problems.size(), n_threads, terms,
              [&](int64_t, RowRange range, int64_t p, double* vector) {
                level.newton_terms(data.rows, data.labels, loss, range, problems[p], width,
                                   curvature, vector);
              });
}

void line_slopes(const Data& data, LossName loss, double width, const double* steps,
                 const std::vector<Problem>& problems, int n_threads, double* slopes) {
  const LevelTable& level = level_table();
  const int64_t n_weights = data.rows.n_features + 1;
  n_threads = worth_threads(work_of_pass(data.rows, problems.size()), n_threads);
  sum_vectors(data.rows.n_rows, kVectorRanges, kLineSteps, problems.size(), n_threads, slopes,
              [&](int64_t, RowRange range, int64_t p, double* vector) {
                level.line_slopes(data.rows, data.labels, loss, range, problems[p],
                                  steps + p * n_weights, width, vector);
              });
}

bool solve_newton(double* matrix, double ridge, double* right, int64_t n) {
  return level_table().solve_newton(matrix, ridge, right, n);
}

void dual_rows(const Data& data, const std::vector<Problem>& problems, int n_threads,
               double* dual_rows) {
  const LevelTable& level = level_table();
  n_threads = worth_threads(work_of_pass(data.rows, problems.size()), n_threads);
  sum_vectors(data.rows.n_rows, kVectorRanges, data.rows.n_features + 1, problems.size(), n_threads,
              dual_rows, [&](int64_t, RowRange range, int64_t p, double* vector) {
                level.add_dual_rows(data.rows, data.labels, range, problems[p], vector);
              });
}

void gain_sums(const Data& data, LossName loss, const std::vector<Problem>& problems, int n_threads,
               double* sums) {
  const LevelTable& level = level_table();
  n_threads = worth_threads(static_cast<double>(data.rows.n_rows * problems.size()), n_threads);
  sum_over_ranges(data.rows.n_rows, problems.size(), n_threads, sums,
                  [&](RowRange range, int64_t p) {
                    return level.gain_sum(data.labels, loss, range, problems[p].mass);
                  });
}

void scores(const RowsView& rows, const double* weights, int n_problems, int n_threads,
            double* scores) {
  const LevelTable& level = level_table();
  const int64_t n_ranges = count_ranges(rows.n_rows, kRowsPerRange);
  n_threads = worth_threads(work_of_pass(rows, n_problems), n_threads);
  parallel_for(n_ranges, n_threads, [&](int64_t k) {
    level.score_rows(rows, range_at(k, rows.n_rows, kRowsPerRange), weights, n_problems, scores);
  });
}

}  // namespace pegasos
