// scores += sum_v coef_v (kernel row v): what a block of steps does to the scores of all rows.
#pragma once

#include "pegasos/kernel_function.hpp"

namespace pegasos {
inline namespace PEGASOS_LEVEL {

// Columns first .. last-1. Four rows at a time are added up in their own precision, then to the scores in
// float64: this is bound by reading the rows, and nothing drifts over millions of steps.
template <class T>
void add_rows(const T* const* rows, const double* coef, int64_t n, int64_t first, int64_t last,
              double* scores) {
  using W = Wide<T>;
  typedef typename W::Values Values;
  const T zero[1] = {0};
  for (int64_t v = 0; v < n; v += 4) {
    const T* row[4];
    T c[4];
    for (int64_t k = 0; k < 4; ++k) {
      row[k] = v + k < n ? rows[v + k] : rows[v];
      c[k] = v + k < n ? static_cast<T>(coef[v + k]) : zero[0];
    }
    int64_t j = first;
    for (; j + W::lanes <= last; j += W::lanes) {
      Values x[4];
      for (int k = 0; k < 4; ++k) std::memcpy(&x[k], row[k] + j, sizeof(Values));
      const Values sum = (c[0] * x[0] + c[1] * x[1]) + (c[2] * x[2] + c[3] * x[3]);
      for (int part = 0; part < W::lanes; part += 4) {
        T lanes[4];
        std::memcpy(lanes, reinterpret_cast<const char*>(&sum) + part * sizeof(T), sizeof(lanes));
        store(scores + j + part, load_four(scores + j + part) + load_four(lanes));
      }
    }
    for (; j < last; ++j)
      scores[j] += static_cast<double>((c[0] * row[0][j] + c[1] * row[1][j]) +
                                       (c[2] * row[2][j] + c[3] * row[3][j]));
  }
}

}  // namespace PEGASOS_LEVEL
}  // namespace pegasos
