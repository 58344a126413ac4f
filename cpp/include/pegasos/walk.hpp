// The walk over the drawn rows. They come in random order, so without help each step would wait for memory
// four times: for the row, its label, its weight and its mass.
#pragma once

#include <algorithm>

#include "pegasos/problem.hpp"
#include "pegasos/rows.hpp"

namespace pegasos {
inline namespace PEGASOS_LEVEL {

PEGASOS_INLINE void prefetch_labels(const Labels& labels, int64_t i) {
  __builtin_prefetch(labels.code + i);
  if (labels.weight) __builtin_prefetch(labels.weight + i);
}

PEGASOS_INLINE void prefetch_masses(const Problem* problems, int n_problems, int64_t i) {
  for (int p = 0; p < n_problems; ++p)
    if (problems[p].mass) __builtin_prefetch(problems[p].mass + i, 1);
}

// What a walk goes over.
struct Walk {
  const Labels& labels;
  const Problem* problems;
  int n_problems;
  const int64_t* draws;
  int64_t n_draws;
  bool reader;  // sparse rows may be copied on a thread of their own

  PEGASOS_INLINE void prefetch(int64_t t) const {
    constexpr int64_t kAhead = 16;
    if (t + kAhead >= n_draws) return;
    prefetch_labels(labels, draws[t + kAhead]);
    prefetch_masses(problems, n_problems, draws[t + kAhead]);
  }
};

// Calls step(t, i, row) for draw t of row i, with what later steps need already under way.
// The distance is not critical: on cov1 (216-byte rows) 4 to 64 rows ahead differed by less than the noise.
template <class T, class Step>
PEGASOS_INLINE void go(const Walk& walk, const DenseRows<T>& rows, Step step) {
  constexpr int64_t kRowsAhead = 8;
  for (int64_t t = 0; t < walk.n_draws; ++t) {
    walk.prefetch(t);
    if (t + kRowsAhead < walk.n_draws) rows.prefetch(walk.draws[t + kRowsAhead]);
    step(t, walk.draws[t], rows.at(walk.draws[t]));
  }
}

template <class T, class Index, class Step>
PEGASOS_INLINE void go(const Walk& walk, const CsrRows<T, Index>& rows, Step step) {
  constexpr int64_t kRowsAhead = 16;
  constexpr int64_t kPointersAhead = 24;  // a row cannot be prefetched before its pointer is there
  RowFeed feed(rows.view(), walk.draws, walk.n_draws, walk.reader);
  for (int64_t first = 0; first < walk.n_draws; first += RowFeed::kRows) {
    const RowFeed::Row* fed = feed.take(first / RowFeed::kRows);
    const int64_t last = std::min(walk.n_draws, first + RowFeed::kRows);
    for (int64_t t = first; t < last; ++t) {
      walk.prefetch(t);
      if (!fed && t + kPointersAhead < walk.n_draws) {
        rows.prefetch_pointer(walk.draws[t + kPointersAhead]);
        rows.prefetch(walk.draws[t + kRowsAhead]);
      }
      step(t, walk.draws[t], fed ? rows.fed(fed[t - first]) : rows.at(walk.draws[t]));
    }
  }
}

}  // namespace PEGASOS_LEVEL
}  // namespace pegasos
