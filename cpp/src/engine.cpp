#include "pegasos/engine.hpp"

#include "pegasos/parallel.hpp"
#include "pegasos/ranges.hpp"
#include "pegasos/read_ahead.hpp"

namespace pegasos {
namespace {

// Rows that fit the cache of a core need nobody to read ahead.
constexpr int64_t kRowsWorthReadingAhead = 1 << 15;
constexpr int64_t kDrawsPerBlock = 2048;

// Contiguous groups of problems, one per thread: each group walks the draws once. A thread that is left
// over reads ahead for the first group.
template <class Step>
void advance(const Data& data, const int64_t* draws, int64_t n_draws, int64_t batch_size,
             std::vector<Problem>& problems, int n_threads, Step step) {
  const int64_t n = static_cast<int64_t>(problems.size());
  const int64_t n_groups = std::max<int64_t>(1, std::min<int64_t>(n, n_threads));
  const int64_t block = batch_size * ((kDrawsPerBlock + batch_size - 1) / batch_size);
  const bool spare = n_threads > n_groups && data.rows.n_rows >= kRowsWorthReadingAhead;
  const auto touch = [&](int64_t first, int64_t last) {
    kernels().touch_rows(data.rows, data.labels, draws + first, last - first);
  };
  parallel_for(n_groups, n_threads, [&](int64_t g) {
    const int64_t begin = g * n / n_groups, end = (g + 1) * n / n_groups;
    work_with_read_ahead(n_draws, block, spare && g == 0, touch, [&](int64_t first, int64_t last) {
      step(draws + first, last - first, problems.data() + begin, static_cast<int>(end - begin));
    });
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

// The same for vectors of n_weights: few large ranges, since each needs a vector of its own.
constexpr int64_t kVectorRanges = 4;

template <class Part>
void sum_vectors(int64_t n_rows, int64_t n_weights, int64_t n_problems, int n_threads,
                 double* vectors, Part part) {
  const int64_t per_range = count_ranges(n_rows, kVectorRanges);
  const int64_t n_ranges = count_ranges(n_rows, per_range);
  std::vector<double> parts(n_ranges * n_problems * n_weights);
  parallel_for(n_ranges * n_problems, n_threads, [&](int64_t task) {
    const int64_t k = task / n_problems, p = task % n_problems;
    part(k, range_at(k, n_rows, per_range), p, parts.data() + task * n_weights);
  });
  const int64_t length = n_problems * n_weights;
  std::fill(vectors, vectors + length, 0.0);
  for (int64_t k = 0; k < n_ranges; ++k)
    for (int64_t j = 0; j < length; ++j) vectors[j] += parts[k * length + j];
}

}  // namespace

void pegasos_steps(const Data& data, LossName loss, const PegasosOptions& options,
                   const int64_t* draws, int64_t n_draws, std::vector<Problem>& problems,
                   int n_threads) {
  advance(data, draws, n_draws, options.batch_size, problems, n_threads,
          [&](const int64_t* part, int64_t n, Problem* group, int n_group) {
            std::vector<double> slopes(n_group * options.batch_size);
            kernels().pegasos(data.rows, data.labels, loss, options, part, n, group, n_group,
                              slopes.data());
          });
}

void sgd_start_steps(const Data& data, LossName loss, const StartOptions& options,
                     const int64_t* draws, int64_t n_draws, std::vector<Problem>& problems,
                     int n_threads) {
  advance(data, draws, n_draws, 1, problems, n_threads,
          [&](const int64_t* part, int64_t n, Problem* group, int n_group) {
            kernels().sgd_start(data.rows, data.labels, loss, options, part, n, group, n_group);
          });
}

void sdca_steps(const Data& data, LossName loss, const SdcaOptions& options, const int64_t* draws,
                int64_t n_draws, std::vector<Problem>& problems, int n_threads) {
  advance(data, draws, n_draws, 1, problems, n_threads,
          [&](const int64_t* part, int64_t n, Problem* group, int n_group) {
            for (int p = 0; p < n_group; ++p)
              kernels().sdca(data.rows, data.labels, loss, options, part, n, group[p]);
          });
}

void perceptron_steps(const Data& data, const int64_t* draws, int64_t n_draws,
                      std::vector<Problem>& problems, int n_threads) {
  advance(data, draws, n_draws, 1, problems, n_threads,
          [&](const int64_t* part, int64_t n, Problem* group, int n_group) {
            kernels().perceptron(data.rows, data.labels, part, n, group, n_group);
          });
}

void loss_sums(const Data& data, LossName loss, const std::vector<Problem>& problems, int n_threads,
               double* sums) {
  sum_over_ranges(data.rows.n_rows, problems.size(), n_threads, sums,
                  [&](RowRange range, int64_t p) {
                    return kernels().loss_sum(data.rows, data.labels, loss, range, problems[p]);
                  });
}

void guess_masses(const Data& data, LossName loss, std::vector<Problem>& problems, int n_threads,
                  double* dual_rows, double* sums) {
  const int64_t n_problems = static_cast<int64_t>(problems.size());
  std::vector<double> losses(kVectorRanges * n_problems, 0.0);
  sum_vectors(data.rows.n_rows, data.rows.n_features + 1, n_problems, n_threads, dual_rows,
              [&](int64_t k, RowRange range, int64_t p, double* vector) {
                losses[k * n_problems + p] = kernels().guess_masses(data.rows, data.labels, loss,
                                                                    range, problems[p], vector);
              });
  for (int64_t p = 0; p < n_problems; ++p) {
    sums[p] = 0;
    for (int64_t k = 0; k < kVectorRanges; ++k) sums[p] += losses[k * n_problems + p];
  }
}

void dual_rows(const Data& data, const std::vector<Problem>& problems, int n_threads,
               double* dual_rows) {
  sum_vectors(data.rows.n_rows, data.rows.n_features + 1, problems.size(), n_threads, dual_rows,
              [&](int64_t, RowRange range, int64_t p, double* vector) {
                kernels().add_dual_rows(data.rows, data.labels, range, problems[p], vector);
              });
}

void gain_sums(const Data& data, LossName loss, const std::vector<Problem>& problems, int n_threads,
               double* sums) {
  sum_over_ranges(data.rows.n_rows, problems.size(), n_threads, sums,
                  [&](RowRange range, int64_t p) {
                    return kernels().gain_sum(data.labels, loss, range, problems[p].mass);
                  });
}

void scores(const RowsView& rows, const double* weights, int n_problems, int n_threads,
            double* scores) {
  const int64_t n_ranges = count_ranges(rows.n_rows, kRowsPerRange);
  parallel_for(n_ranges, n_threads, [&](int64_t k) {
    kernels().score_rows(rows, range_at(k, rows.n_rows, kRowsPerRange), weights, n_problems,
                         scores);
  });
}

}  // namespace pegasos
