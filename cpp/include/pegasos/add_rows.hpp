// scores += sum_v coef_v (kernel row v): what a block of steps does to the scores of all rows.
#pragma once

#include <cstdint>

#include "pegasos/lanes.hpp"

namespace pegasos {
inline namespace PEGASOS_LEVEL {

// Columns first .. last-1 of N rows, added up in their own precision, then to the scores in float64: nothing
// drifts over millions of steps. Plain loops over columns, for the compiler to vectorise: no sum crosses
// columns, so the bits are the same however wide it does.
template <int N, class T>
PEGASOS_INLINE T sum_some(const T* __restrict const* r, const T* c, int64_t j) {
  if constexpr (N == 1)
    return c[0] * r[0][j];
  else
    return sum_some<N / 2>(r, c, j) + sum_some<N - N / 2>(r + N / 2, c + N / 2, j);
}

template <int N, class T>
void add_some(const T* const* rows, const double* coef, int64_t first, int64_t last,
              double* __restrict scores) {
  const T* __restrict r[N];  // from `first` on: with two addresses per row registers would run out
  T c[N];
  for (int k = 0; k < N; ++k) {
    r[k] = rows[k] + first;
    c[k] = static_cast<T>(coef[k]);
  }
  scores += first;
  for (int64_t j = 0; j < last - first; ++j) scores[j] += static_cast<double>(sum_some<N>(r, c, j));
}

// Bound by reading the rows: eight at a time, so that the scores are not what is read most.
template <class T>
void add_rows(const T* const* rows, const double* coef, int64_t n, int64_t first, int64_t last,
              double* scores) {
  int64_t v = 0;
  for (; v + 8 <= n; v += 8) add_some<8>(rows + v, coef + v, first, last, scores);
  switch (n - v) {
    case 7: return add_some<7>(rows + v, coef + v, first, last, scores);
    case 6: return add_some<6>(rows + v, coef + v, first, last, scores);
    case 5: return add_some<5>(rows + v, coef + v, first, last, scores);
    case 4: return add_some<4>(rows + v, coef + v, first, last, scores);
    case 3: return add_some<3>(rows + v, coef + v, first, last, scores);
    case 2: return add_some<2>(rows + v, coef + v, first, last, scores);
    case 1: return add_some<1>(rows + v, coef + v, first, last, scores);
  }
}

}  // namespace PEGASOS_LEVEL
}  // namespace pegasos
