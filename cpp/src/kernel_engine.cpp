#include "pegasos/kernel_engine.hpp"

#include <algorithm>
#include <memory>
#include <type_traits>

#include "pegasos/level_table.hpp"
#include "pegasos/ranges.hpp"
#include "pegasos/team.hpp"

namespace pegasos {
namespace {

template <class T>
void decide(const LevelTable& level, const KernelRun& run, const LocalGram<T>& gram,
            KernelProblem& problem) {
  if constexpr (std::is_same_v<T, float>)
    level.kernel_block_f32(run.labels, run.options, gram, run.diagonal, problem);
  else
    level.kernel_block_f64(run.labels, run.options, gram, run.diagonal, problem);
}

// Kernel rows added to scores: sparse in the problems (a row changes for few classes), blocked so that rows
// read for one problem are still in cache for the next.
template <class T>
class Product {
 public:
  // Takes row k of problem q with coef[q * stride + k], where that is not 0.
  void collect(const T* const* rows, int64_t n, const double* coef, int64_t stride,
               int64_t n_problems) {
    rows_.clear();
    coef_.clear();
    ends_.clear();
    n_problems_ = n_problems;
    for (int64_t first = 0; first < n; first += kChunk)
      for (int64_t q = 0; q < n_problems; ++q) {
        for (int64_t k = first; k < std::min(n, first + kChunk); ++k)
          if (coef[q * stride + k] != 0) {
            rows_.push_back(rows[k]);
            coef_.push_back(coef[q * stride + k]);
          }
        ends_.push_back(static_cast<int64_t>(rows_.size()));
      }
  }

  void add(const LevelTable& level, Team& team, double* const* scores, int64_t n_columns) const {
    if (rows_.empty()) return;
    const int64_t n_tiles = count_ranges(n_columns, kColumns);
    team.each([&](int member) {
      const int64_t last = (member + 1) * n_tiles / team.size();
      for (int64_t tile = member * n_tiles / team.size(); tile < last; ++tile)
        add_tile(level, scores, range_at(tile, n_columns, kColumns));
    });
  }

 private:
  void add_tile(const LevelTable& level, double* const* scores, RowRange range) const {
    int64_t begin = 0;
    for (size_t part = 0; part < ends_.size(); ++part) {
      double* to = scores[part % n_problems_];
      const int64_t n = ends_[part] - begin;
      if constexpr (std::is_same_v<T, float>)
        level.add_rows_f32(rows_.data() + begin, coef_.data() + begin, n, range.first, range.last,
                           to);
      else
        level.add_rows_f64(rows_.data() + begin, coef_.data() + begin, n, range.first, range.last,
                           to);
      begin = ends_[part];
    }
  }

  static constexpr int64_t kChunk = 64, kColumns = 1024;  // a chunk of a tile fits the L2 cache
  std::vector<const T*> rows_;
  std::vector<double> coef_;
  std::vector<int64_t> ends_;
  int64_t n_problems_ = 0;
};

// What the blocks of one call work with.
template <class T>
class Workplace {
 public:
  Workplace(KernelRun& run, int64_t most_rows, int n_threads)
      : run_(run),
        level_(level_table()),
        team_(static_cast<int>(std::max(1, n_threads))),
        n_groups_(std::min<int64_t>(run.problems.size(), team_.size())),
        local_(run.problems.size() * most_rows * kLocalArrays),
        values_(n_groups_),
        filled_(n_groups_) {}

  // Decides a block; delta (and mean_delta) get n entries per problem, `stride` apart.
  void decide_block(const int64_t* block, int64_t n, const T* gram, const T* const* full,
                    double* delta, double* mean_delta) {
    const int64_t n_problems = static_cast<int64_t>(run_.problems.size());
    team_.run(n_groups_, [&](int64_t g, int) {
      LocalGram<T> local{block, n, gram ? nullptr : full, const_cast<T*>(gram), nullptr};
      if (!gram) {  // every group of problems gathers for itself: no waiting for each other
        if (static_cast<int64_t>(filled_[g].size()) < n) values_[g].reset(new T[n * n]);
        filled_[g].assign(n, 0);
        local.values = values_[g].get();
        local.filled = filled_[g].data();
      }
      for (int64_t p = g * n_problems / n_groups_; p < (g + 1) * n_problems / n_groups_; ++p) {
        KernelProblem& problem = run_.problems[p];
        problem.local = local_.data() + p * n * kLocalArrays;
        problem.delta = delta + p * n;
        problem.mean_delta = mean_delta ? mean_delta + p * n : nullptr;
        decide(level_, run_, local, problem);
        if (mean_delta)
          for (int64_t k = 0; k < n; ++k)
            run_.mean_mass[p * run_.n_rows + block[k]] += problem.mean_delta[k];
      }
    });
  }

  void add(const Product<T>& product, double* const* scores) {
    product.add(level_, team_, scores, run_.n_rows);
  }

 private:
  KernelRun& run_;
  const LevelTable& level_;
  Team team_;
  int64_t n_groups_;
  std::vector<double> local_;
  std::vector<std::unique_ptr<T[]>> values_;
  std::vector<std::vector<uint8_t>> filled_;
};

// The scores that a block adds to: of every problem, then of what every mean subtracts.
std::vector<double*> targets(KernelRun& run) {
  std::vector<double*> scores;
  for (KernelProblem& problem : run.problems) scores.push_back(problem.scores);
  if (run.options.mean)
    for (size_t p = 0; p < run.problems.size(); ++p)
      scores.push_back(run.mean_scores + p * run.n_rows);
  return scores;
}

}  // namespace

template <class T>
int64_t kernel_steps(KernelRun& run, const StoredRows<T>& rows, const int64_t* draws,
                     int64_t n_draws, int64_t block, int n_threads) {
  const int64_t most = std::min(block, n_draws);
  const int64_t n_problems = static_cast<int64_t>(run.problems.size());
  const int64_t n_targets = run.options.mean ? 2 * n_problems : n_problems;
  Workplace<T> workplace(run, most, n_threads);
  const std::vector<double*> scores = targets(run);
  std::vector<double> delta(n_targets * most);
  std::vector<const T*> full(most);
  Product<T> product;
  int64_t done = 0;
  while (done < n_draws) {
    const int64_t n = std::min(block, n_draws - done);
    for (int64_t k = 0; k < n; ++k) {
      full[k] = rows.at(draws[done + k]);
      if (!full[k]) return done;
    }
    double* mean_delta = run.options.mean ? delta.data() + n_problems * n : nullptr;
    workplace.decide_block(draws + done, n, nullptr, full.data(), delta.data(), mean_delta);
    product.collect(full.data(), n, delta.data(), n, n_targets);
    workplace.add(product, scores.data());
    done += n;
  }
  return done;
}

template <class T>
void kernel_decisions(KernelRun& run, const int64_t* block, int64_t n, const T* gram,
                      const StoredRows<T>& rows, double* delta, double* mean_delta, int n_threads) {
  Workplace<T> workplace(run, n, std::min<int>(n_threads, static_cast<int>(run.problems.size())));
  std::vector<const T*> full(gram ? 0 : n);
  for (size_t k = 0; k < full.size(); ++k) full[k] = rows.at(block[k]);
  workplace.decide_block(block, n, gram, full.data(), delta, mean_delta);
}

int64_t next_movers(const KernelRun& run, const int64_t* draws, int64_t n_draws, double slack,
                    int64_t most, int64_t* block, int64_t* n) {
  *n = 0;
  int64_t t = 0;
  for (; t < n_draws && *n < most; ++t)
    for (const KernelProblem& problem : run.problems) {
      const double per_mass = 1 / (problem.lam * run.labels.total_weight);
      if (!may_move(run.labels, problem, per_mass, slack, draws[t])) continue;
      block[(*n)++] = draws[t];
      break;
    }
  return t;
}

template <class T>
void add_stored_rows(const StoredRows<T>& rows, const int64_t* which, int64_t n, int64_t n_columns,
                     const double* coef, int64_t n_problems, double* scores, int n_threads) {
  std::vector<const T*> full(n);
  for (int64_t k = 0; k < n; ++k) full[k] = rows.at(which[k]);
  std::vector<double*> targets(n_problems);
  for (int64_t p = 0; p < n_problems; ++p) targets[p] = scores + p * n_columns;
  Product<T> product;
  product.collect(full.data(), n, coef, n, n_problems);
  Team team(n_threads);
  product.add(level_table(), team, targets.data(), n_columns);
}

template int64_t kernel_steps(KernelRun&, const StoredRows<float>&, const int64_t*, int64_t,
                              int64_t, int);
template int64_t kernel_steps(KernelRun&, const StoredRows<double>&, const int64_t*, int64_t,
                              int64_t, int);
template void kernel_decisions(KernelRun&, const int64_t*, int64_t, const float*,
                               const StoredRows<float>&, double*, double*, int);
template void kernel_decisions(KernelRun&, const int64_t*, int64_t, const double*,
                               const StoredRows<double>&, double*, double*, int);
template void add_stored_rows(const StoredRows<float>&, const int64_t*, int64_t, int64_t,
                              const double*, int64_t, double*, int);
template void add_stored_rows(const StoredRows<double>&, const int64_t*, int64_t, int64_t,
                              const double*, int64_t, double*, int);

}  // namespace pegasos
