// The same for sparse rows: values and the columns they are in.
#pragma once

#include "pegasos/lanes.hpp"

namespace pegasos {
inline namespace PEGASOS_LEVEL {

// Weights by column: `w[column]` where they lie one after the other, `w[column][0]` where each is the first of
// a pair.
template <class Index>
PEGASOS_INLINE double weight_at(const double* w, Index column) {
  return w[column];
}
template <class Index>
PEGASOS_INLINE double weight_at(const Two* w, Index column) {
  return w[column][0];
}

// The weights of four columns as lanes. Plain loads: instructions that gather eight made epochs of texts a tenth
// shorter on Sapphire Rapids, but a fifth to a half longer on Cascade Lake, and were slower on Zen 3.
template <class Weight, class Index>
PEGASOS_INLINE Four gather_four(const Weight* w, const Index* column) {
  return Four{weight_at(w, column[0]), weight_at(w, column[1]), weight_at(w, column[2]),
              weight_at(w, column[3])};
}

// sum_k x_k w[column_k]: bound by the loads from w, so two sums of four lanes hide their latency.
template <class T, class Index, class Weight>
PEGASOS_INLINE double sparse_dot(const T* x, const Index* column, const Weight* w, int64_t n) {
  Four low = {0, 0, 0, 0}, high = low;
  double tail = 0;
  int64_t k = 0;
  for (; k + 8 <= n; k += 8) {
    low += load_four(x + k) * gather_four(w, column + k);
    high += load_four(x + k + 4) * gather_four(w, column + k + 4);
  }
  if (n & 4) {
    low += load_four(x + k) * gather_four(w, column + k);
    k += 4;
  }
  for (; k < n; ++k) tail += static_cast<double>(x[k]) * weight_at(w, column[k]);
  return sum_lanes(low + high) + tail;
}

// The same, and sum_k x_k^2 with it.
template <class T, class Index, class Weight>
PEGASOS_INLINE double sparse_dot_and_square(const T* x, const Index* column, const Weight* w,
                                            int64_t n, double* square) {
  Four low = {0, 0, 0, 0}, high = low, square_low = low, square_high = low;
  double tail = 0, square_tail = 0;
  int64_t k = 0;
  for (; k + 8 <= n; k += 8) {
    const Four first = load_four(x + k), second = load_four(x + k + 4);
    low += first * gather_four(w, column + k);
    high += second * gather_four(w, column + k + 4);
    square_low += first * first;
    square_high += second * second;
  }
  if (n & 4) {
    const Four first = load_four(x + k);
    low += first * gather_four(w, column + k);
    square_low += first * first;
    k += 4;
  }
  for (; k < n; ++k) {
    const double last = static_cast<double>(x[k]);
    tail += last * weight_at(w, column[k]);
    square_tail += last * last;
  }
  *square = sum_lanes(square_low + square_high) + square_tail;
  return sum_lanes(low + high) + tail;
}

// w[column_k] += c x_k. No column occurs twice in a row, so four can be under way at a time.
template <class T, class Index>
PEGASOS_INLINE void sparse_axpy(double c, const T* x, const Index* column, double* w, int64_t n) {
  int64_t k = 0;
  for (; k + 4 <= n; k += 4) {
    const Four sum = gather_four(w, column + k) + c * load_four(x + k);
    for (int lane = 0; lane < 4; ++lane) w[column[k + lane]] = sum[lane];
  }
  for (; k < n; ++k) w[column[k]] += c * static_cast<double>(x[k]);
}

// The same for pairs, each half with a factor of its own: one load and one store serve both.
template <class T, class Index>
PEGASOS_INLINE void sparse_axpy(Two c, const T* x, const Index* column, Two* w, int64_t n) {
  for (int64_t k = 0; k < n; ++k) w[column[k]] += c * static_cast<double>(x[k]);
}

}  // namespace PEGASOS_LEVEL
}  // namespace pegasos
