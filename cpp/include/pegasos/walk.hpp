// The walk over the drawn rows. They come in random order, so without prefetching each step would wait for
// memory four times: for the row, its label, its weight and its mass.
#pragma once

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

// Calls step(t, i) for draw t of row i, with what later steps need already under way.
// The distances are not critical: on cov1 (216-byte rows) 4 to 64 rows ahead differed by less than the noise.
// Pointers are asked for earlier, since a CSR row cannot be prefetched before its pointer is there.
template <class Rows, class Step>
PEGASOS_INLINE void walk(const Rows& rows, const Labels& labels, const Problem* problems,
                         int n_problems, const int64_t* draws, int64_t n, Step step) {
  constexpr int64_t kRowsAhead = 8, kPointersAhead = 16;
  for (int64_t t = 0; t < n; ++t) {
    if (t + kPointersAhead < n) {
      const int64_t i = draws[t + kPointersAhead];
      rows.prefetch_pointer(i);
      prefetch_labels(labels, i);
      prefetch_masses(problems, n_problems, i);
    }
    if (t + kRowsAhead < n) rows.prefetch(draws[t + kRowsAhead]);
    step(t, draws[t]);
  }
}

}  // namespace PEGASOS_LEVEL
}  // namespace pegasos
