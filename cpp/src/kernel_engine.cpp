#include "pegasos/kernel_engine.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <type_traits>

#include "pegasos/level_table.hpp"
#include "pegasos/ranges.hpp"
#include "pegasos/row_product.hpp"
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

// The scores of a block's rows. A member of the team reads those of its own columns, which it wrote last: lines
// that another core has written would come one by one, a line for each score.
class BlockScores {
 public:
  explicit BlockScores(int n_members) : parts_(n_members) {}

  void gather(const KernelRun& run, const int64_t* block, int64_t n, int64_t columns_at_once,
              Team& team) {
    team.each([&](int member) {
      Part& part = parts_[member];
      const RowRange mine = share_of(member, team.size(), run.n_rows, columns_at_once);
      part.place.clear();
      for (int64_t k = 0; k < n; ++k)
        if (mine.first <= block[k] && block[k] < mine.last) part.place.push_back(k);
      part.scores.resize(run.problems.size() * part.place.size());
      double* to = part.scores.data();
      for (const KernelProblem& problem : run.problems)
        for (int64_t k : part.place) *to++ = problem.scores[block[k]];
    });
  }

  void copy_to(double* local, int64_t problem) const {
    for (const Part& part : parts_) {
      const double* scores = part.scores.data() + problem * part.place.size();
      for (size_t k = 0; k < part.place.size(); ++k) local[part.place[k]] = scores[k];
    }
  }

 private:
  struct Part {
    std::vector<int64_t> place;  // in the block
    std::vector<double> scores;  // per problem and place
  };
  std::vector<Part> parts_;
};

// What the blocks of one call work with.
template <class T>
class Workplace {
 public:
  Workplace(KernelRun& run, int64_t most_rows, int n_threads)
      : run_(run),
        level_(level_table()),
        team_(static_cast<int>(std::max(1, n_threads))),
        scores_(team_.size()),
        most_rows_(most_rows),
        local_(team_.size() * most_rows * kLocalArrays),
        values_(team_.size()),
        filled_(team_.size()) {}

  // Decides a block; delta (and mean_delta) get n entries per problem.
  void decide_block(const int64_t* block, int64_t n, const T* gram, const T* const* full,
                    double* delta, double* mean_delta) {
    scores_.gather(run_, block, n, RowProduct<T>::kColumns, team_);
    team_.each([&](int member) {
      const LocalGram<T> local = local_gram(member, block, n, gram, full);
      const int64_t n_problems = static_cast<int64_t>(run_.problems.size());
      const int64_t last = (member + 1) * n_problems / team_.size();
      for (int64_t p = member * n_problems / team_.size(); p < last; ++p) {
        KernelProblem& problem = run_.problems[p];
        problem.local = local_.data() + member * most_rows_ * kLocalArrays;
        problem.delta = delta + p * n;
        problem.mean_delta = mean_delta ? mean_delta + p * n : nullptr;
        scores_.copy_to(problem.local, p);
        decide(level_, run_, local, problem);
        if (mean_delta)
          for (int64_t k = 0; k < n; ++k)
            run_.mean_mass[p * run_.n_rows + block[k]] += problem.mean_delta[k];
      }
    });
  }

  void add(const RowProduct<T>& product) { product.add(level_, team_, run_.n_rows); }

 private:
  // The kernel among the rows: given, or every member gathers it for itself, with no waiting for the others.
  LocalGram<T> local_gram(int member, const int64_t* block, int64_t n, const T* gram,
                          const T* const* full) {
    if (gram) return {block, n, nullptr, const_cast<T*>(gram), nullptr};
    if (static_cast<int64_t>(filled_[member].size()) < n) values_[member].reset(new T[n * n]);
    filled_[member].assign(n, 0);
    return {block, n, full, values_[member].get(), filled_[member].data()};
  }

  KernelRun& run_;
  const LevelTable& level_;
  Team team_;
  BlockScores scores_;
  const int64_t most_rows_;
  std::vector<double> local_;  // of the problem that each member has in hand
  std::vector<std::unique_ptr<T[]>> values_;
  std::vector<std::vector<uint8_t>> filled_;
};

// The scores that a block adds to. Of the problems, all are alike, those of one class most: they stand side by
// side, in the order of lam. Of what the means subtract, only those of one lam are (their clocks agree).
ProductTargets targets_of(KernelRun& run) {
  const int64_t n = static_cast<int64_t>(run.problems.size());
  ProductTargets targets;
  targets.coef_row.resize(n);
  std::iota(targets.coef_row.begin(), targets.coef_row.end(), int64_t{0});
  std::stable_sort(targets.coef_row.begin(), targets.coef_row.end(), [&](int64_t a, int64_t b) {
    return run.problems[a].positive < run.problems[b].positive;
  });
  for (int64_t p : targets.coef_row) targets.scores.push_back(run.problems[p].scores);
  targets.group_ends.push_back(n);
  if (!run.options.mean) return targets;
  for (int64_t p = 0; p < n; ++p) {
    targets.coef_row.push_back(n + p);
    targets.scores.push_back(run.mean_scores + p * run.n_rows);
    if (p + 1 == n || run.problems[p + 1].lam != run.problems[p].lam)
      targets.group_ends.push_back(n + p + 1);
  }
  return targets;
}

}  // namespace

// A block is decided row by row, then all scores are read and written once: the longer the better, as long as
// the rows that change something are about as many as a shortest block has.
constexpr int64_t kLongestBlock = 4;  // times the shortest

template <class T>
int64_t kernel_steps(KernelRun& run, const StoredRows<T>& rows, const int64_t* draws,
                     int64_t n_draws, int64_t block, int n_threads) {
  const int64_t most = std::min(kLongestBlock * block, n_draws);
  const int64_t n_problems = static_cast<int64_t>(run.problems.size());
  const int64_t n_targets = run.options.mean ? 2 * n_problems : n_problems;
  Workplace<T> workplace(run, most, n_threads);
  std::vector<double> delta(n_targets * most);
  std::vector<const T*> full(most);
  const ProductTargets targets = targets_of(run);
  RowProduct<T> product(targets);
  int64_t done = 0, length = block;
  while (done < n_draws) {
    const int64_t n = std::min(length, n_draws - done);
    for (int64_t k = 0; k < n; ++k) {
      full[k] = rows.at(draws[done + k]);
      if (!full[k]) return done;
    }
    double* mean_delta = run.options.mean ? delta.data() + n_problems * n : nullptr;
    workplace.decide_block(draws + done, n, nullptr, full.data(), delta.data(), mean_delta);
    product.collect(full.data(), n, delta.data());
    workplace.add(product);
    done += n;
    length = std::clamp(block * n / std::max<int64_t>(1, product.n_used()), block,
                        kLongestBlock * block);
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
      if (!may_move(run.labels, run.options.loss, problem, per_mass, slack, draws[t])) continue;
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
  ProductTargets targets;
  for (int64_t p = 0; p < n_problems; ++p) {
    targets.scores.push_back(scores + p * n_columns);
    targets.coef_row.push_back(p);
  }
  targets.group_ends.push_back(n_problems);
  RowProduct<T> product(targets);
  product.collect(full.data(), n, coef);
  Team team(n_threads);
  product.add(level_table(), team, n_columns);
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
