// The same for sparse rows: values and the columns they are in.
#pragma once

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

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

// The weights of four columns as lanes. Plain loads: gather instructions were slower (Zen 3).
template <class Weight, class Index>
PEGASOS_INLINE Four gather_four(const Weight* w, const Index* column) {
  return Four{weight_at(w, column[0]), weight_at(w, column[1]), weight_at(w, column[2]),
              weight_at(w, column[3])};
}

#if defined(__AVX512F__)
// Eight columns at a time: here the instructions for it are quicker than plain loads and stores (Sapphire Rapids:
// a tenth of an epoch over texts). The lanes are those of the plain code.
PEGASOS_INLINE __m512i eight_columns(const int32_t* column) {
  return _mm512_cvtepi32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(column)));
}
PEGASOS_INLINE __m512i eight_columns(const int64_t* column) { return _mm512_loadu_si512(column); }
template <class Index>
PEGASOS_INLINE __m512d gather_eight(const double* w, const Index* column) {
  return _mm512_i64gather_pd(eight_columns(column), w, sizeof(double));
}
template <class Index>
PEGASOS_INLINE __m512d gather_eight(const Two* w, const Index* column) {
  return _mm512_i64gather_pd(_mm512_slli_epi64(eight_columns(column), 1), w, sizeof(double));
}
PEGASOS_INLINE __m512d load_eight(const float* x) { return _mm512_cvtps_pd(_mm256_loadu_ps(x)); }
PEGASOS_INLINE __m512d load_eight(const double* x) { return _mm512_loadu_pd(x); }
PEGASOS_INLINE Four low_half(__m512d x) { return Four(_mm512_castpd512_pd256(x)); }
PEGASOS_INLINE Four high_half(__m512d x) { return Four(_mm512_extractf64x4_pd(x, 1)); }
#endif

// sum_k x_k w[column_k]: bound by the loads from w, so two sums of four lanes hide their latency.
template <class T, class Index, class Weight>
PEGASOS_INLINE double sparse_dot(const T* x, const Index* column, const Weight* w, int64_t n) {
  Four low = {0, 0, 0, 0}, high = low;
  double tail = 0;
  int64_t k = 0;
#if defined(__AVX512F__)
  __m512d both = _mm512_setzero_pd();
  for (; k + 8 <= n; k += 8)
    both = _mm512_add_pd(both, _mm512_mul_pd(load_eight(x + k), gather_eight(w, column + k)));
  low = low_half(both), high = high_half(both);
#else
  for (; k + 8 <= n; k += 8) {
    low += load_four(x + k) * gather_four(w, column + k);
    high += load_four(x + k + 4) * gather_four(w, column + k + 4);
  }
#endif
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
#if defined(__AVX512F__)
  __m512d both = _mm512_setzero_pd(), squares = both;
  for (; k + 8 <= n; k += 8) {
    const __m512d row = load_eight(x + k);
    both = _mm512_add_pd(both, _mm512_mul_pd(row, gather_eight(w, column + k)));
    squares = _mm512_add_pd(squares, _mm512_mul_pd(row, row));
  }
  low = low_half(both), high = high_half(both);
  square_low = low_half(squares), square_high = high_half(squares);
#else
  for (; k + 8 <= n; k += 8) {
    const Four first = load_four(x + k), second = load_four(x + k + 4);
    low += first * gather_four(w, column + k);
    high += second * gather_four(w, column + k + 4);
    square_low += first * first;
    square_high += second * second;
  }
#endif
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
#if defined(__AVX512F__)
  for (; k + 8 <= n; k += 8) {
    const __m512d change = _mm512_mul_pd(_mm512_set1_pd(c), load_eight(x + k));
    const __m512d sum = _mm512_add_pd(gather_eight(w, column + k), change);
    _mm512_i64scatter_pd(w, eight_columns(column + k), sum, sizeof(double));
  }
#endif
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
