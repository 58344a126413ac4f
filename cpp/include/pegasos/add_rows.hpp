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
PEGASOS_INLINE void add_some(const T* const* rows, const double* coef, int64_t first, int64_t last,
                             double* __restrict scores) {
  static_assert(N == 1 || N == 4 || N == 8);
  const T* __restrict r[N];
  T c[N];
  for (int k = 0; k < N; ++k) {
    r[k] = rows[k];
    c[k] = static_cast<T>(coef[k]);
  }
  for (int64_t j = first; j < last; ++j) {
    T sum;
    if constexpr (N == 1)
      sum = c[0] * r[0][j];
    else
      sum = (c[0] * r[0][j] + c[1] * r[1][j]) + (c[2] * r[2][j] + c[3] * r[3][j]);
    if constexpr (N == 8)
      sum += (c[4] * r[4][j] + c[5] * r[5][j]) + (c[6] * r[6][j] + c[7] * r[7][j]);
    scores[j] += static_cast<double>(sum);
  }
}

// Bound by reading the rows: eight at a time, so that the scores are not what is read most.
template <class T>
void add_rows(const T* const* rows, const double* coef, int64_t n, int64_t first, int64_t last,
              double* scores) {
  int64_t v = 0;
  for (; v + 8 <= n; v += 8) add_some<8>(rows + v, coef + v, first, last, scores);
  for (; v + 4 <= n; v += 4) add_some<4>(rows + v, coef + v, first, last, scores);
  for (; v < n; ++v) add_some<1>(rows + v, coef + v, first, last, scores);
}

}  // namespace PEGASOS_LEVEL
}  // namespace pegasos
