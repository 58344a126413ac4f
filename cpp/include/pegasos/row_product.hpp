// scores[q] += sum_k coef[q, k] (kernel row k), for many targets q at once: what a block of steps does to the
// scores of all rows.
//
// Most targets get nearly the same as another one: early on every class gets a row with -1 but its own; of the
// lam of a grid, neighbours violate at nearly the same draws. So each target starts from the cheapest of three
// sums: nothing, what the target before it got, or what most of its group get; only rows that differ are added.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "pegasos/level_table.hpp"
#include "pegasos/ranges.hpp"
#include "pegasos/team.hpp"

namespace pegasos {

// Targets in the order in which they are like each other; groups of them share most.
struct ProductTargets {
  std::vector<double*> scores;
  std::vector<int64_t> coef_row;  // which row of `coef` each of them takes
  std::vector<int64_t> group_ends;
};

template <class T>
class RowProduct {
 public:
  static constexpr int64_t kColumns = 256;  // of the rows of a block, so many fit the L2 cache

  explicit RowProduct(const ProductTargets& targets) : targets_(targets) {}

  // Takes coef[q * n + k] for rows k = 0 .. n-1.
  void collect(const T* const* rows, int64_t n, const double* coef) {
    rows_.clear();
    coef_.clear();
    parts_.clear();
    none_.assign(n, 0.0);
    count_used(n, coef);
    int64_t begin = 0;
    for (int64_t end : targets_.group_ends) {
      collect_group(rows, n, coef, begin, end);
      begin = end;
    }
  }

  // How many of the rows go anywhere.
  int64_t n_used() const { return n_used_; }

  // Each member of the team has columns of its own: no result depends on their number.
  void add(const LevelTable& level, Team& team, int64_t n_columns) const {
    if (rows_.empty()) return;
    team.each([&](int member) {
      const RowRange mine = share_of(member, team.size(), n_columns, kColumns);
      for (int64_t first = mine.first; first < mine.last; first += kColumns)
        add_tile(level, {first, std::min(mine.last, first + kColumns)});
    });
  }

 private:
  enum class Start { nothing, before, common };
  // The sum starts somewhere, gets rows up to `end`, and goes to `scores` (null: it is what a group shares).
  struct Part {
    Start start;
    int64_t end;
    double* scores;
  };

  void collect_group(const T* const* rows, int64_t n, const double* coef, int64_t begin,
                     int64_t end) {
    find_common(n, coef, begin, end);
    take(Start::nothing, rows, n, common_.data(), none_.data(), nullptr);
    const double* before = none_.data();
    for (int64_t q = begin; q < end; ++q) {
      const double* mine = coef + targets_.coef_row[q] * n;
      const int64_t from_nothing = differing(mine, none_.data(), n);
      if (from_nothing == 0) continue;
      const int64_t from_before = 1 + differing(mine, before, n);
      const int64_t from_common = 1 + differing(mine, common_.data(), n);
      Start start = Start::nothing;
      const double* base = none_.data();
      if (from_before < from_nothing && from_before <= from_common) {
        start = Start::before;
        base = before;
      } else if (from_common < from_nothing) {
        start = Start::common;
        base = common_.data();
      }
      take(start, rows, n, mine, base, targets_.scores[q]);
      before = mine;
    }
  }

  void count_used(int64_t n, const double* coef) {
    used_.assign(n, 0);
    for (int64_t q : targets_.coef_row)
      for (int64_t k = 0; k < n; ++k) used_[k] |= coef[q * n + k] != 0;
    n_used_ = std::count(used_.begin(), used_.end(), 1);
  }

  // What more than half of a group get of each row (Boyer and Moore's vote), else 0.
  void find_common(int64_t n, const double* coef, int64_t begin, int64_t end) {
    common_.assign(n, 0.0);
    lead_.assign(n, 0.0);
    for (int64_t q = begin; q < end; ++q) {
      const double* mine = coef + targets_.coef_row[q] * n;
      for (int64_t k = 0; k < n; ++k) {
        common_[k] = lead_[k] == 0 ? mine[k] : common_[k];
        lead_[k] += mine[k] == common_[k] ? 1.0 : -1.0;
      }
    }
    std::fill(lead_.begin(), lead_.end(), 0.0);
    for (int64_t q = begin; q < end; ++q) {
      const double* mine = coef + targets_.coef_row[q] * n;
      for (int64_t k = 0; k < n; ++k) lead_[k] += mine[k] == common_[k] ? 1.0 : 0.0;
    }
    for (int64_t k = 0; k < n; ++k) common_[k] = 2 * lead_[k] > end - begin + 1 ? common_[k] : 0.0;
  }

  static int64_t differing(const double* a, const double* b, int64_t n) {
    int64_t count = 0;
    for (int64_t k = 0; k < n; ++k) count += a[k] != b[k];
    return count;
  }

  void take(Start start, const T* const* rows, int64_t n, const double* coef, const double* base,
            double* scores) {
    for (int64_t k = 0; k < n; ++k)
      if (coef[k] != base[k]) {
        rows_.push_back(rows[k]);
        coef_.push_back(coef[k] - base[k]);
      }
    parts_.push_back({start, static_cast<int64_t>(rows_.size()), scores});
  }

  void add_tile(const LevelTable& level, RowRange range) const {
    alignas(64) double sum[kColumns], common[kColumns];
    const int64_t width = range.last - range.first;
    int64_t begin = 0;
    for (const Part& part : parts_) {
      if (part.start == Start::nothing) std::fill(sum, sum + width, 0.0);
      if (part.start == Start::common) std::copy(common, common + width, sum);
      add_rows(level, begin, part.end - begin, range, sum);
      if (part.scores)
        for (int64_t j = 0; j < width; ++j) part.scores[range.first + j] += sum[j];
      else
        std::copy(sum, sum + width, common);
      begin = part.end;
    }
  }

  void add_rows(const LevelTable& level, int64_t begin, int64_t n, RowRange range,
                double* sum) const {
    const T* const* rows = rows_.data() + begin;
    const double* coef = coef_.data() + begin;
    if constexpr (std::is_same_v<T, float>)
      level.add_rows_f32(rows, coef, n, range.first, range.last, sum - range.first);
    else
      level.add_rows_f64(rows, coef, n, range.first, range.last, sum - range.first);
  }

  const ProductTargets& targets_;
  std::vector<const T*> rows_;
  std::vector<double> coef_, none_, common_, lead_;
  std::vector<Part> parts_;
  std::vector<uint8_t> used_;
  int64_t n_used_ = 0;
};

}  // namespace pegasos
