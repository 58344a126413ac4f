// Fixed-width vector arithmetic: eight double lanes, whatever the CPU offers.
//
// The lanes are explicit, so every CPU level adds the same numbers in the same order and gives the same
// bits (the library is compiled without FMA contraction). The compiler maps the eight lanes to two AVX or
// four SSE/NEON registers.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__GNUC__) || defined(__clang__)
#define PEGASOS_INLINE inline __attribute__((always_inline))
#else
#error "pegasos needs GCC or Clang (vector extensions)"
#endif

namespace pegasos {
inline namespace PEGASOS_LEVEL {

typedef double Four __attribute__((vector_size(32)));
typedef double Two __attribute__((vector_size(16)));

// Conversions of at most four lanes: GCC takes wider ones apart, lane by lane.
template <class T>
PEGASOS_INLINE Four load_four(const T* source) {
  typedef T Packed __attribute__((vector_size(4 * sizeof(T))));
  Packed packed;
  std::memcpy(&packed, source, sizeof(packed));
  return __builtin_convertvector(packed, Four);
}
template <class T>
PEGASOS_INLINE Two load_two(const T* source) {
  return Two{static_cast<double>(source[0]), static_cast<double>(source[1])};
}
PEGASOS_INLINE double sum_lanes(Four x) { return (x[0] + x[2]) + (x[1] + x[3]); }

// sum_j x_j w_j: eight lanes for the bulk, then four, two and one.
template <class T>
PEGASOS_INLINE double dense_dot(const T* x, const double* w, int64_t n) {
  Four low = {0, 0, 0, 0}, high = {0, 0, 0, 0};
  double tail = 0;
  int64_t j = 0;
  for (; j + 8 <= n; j += 8) {
    low += load_four(x + j) * load_four(w + j);
    high += load_four(x + j + 4) * load_four(w + j + 4);
  }
  if (n & 4) {
    low += load_four(x + j) * load_four(w + j);
    j += 4;
  }
  if (n & 2) {
    const Two last = load_two(x + j) * load_two(w + j);
    tail = last[0] + last[1];
    j += 2;
  }
  if (n & 1) tail += static_cast<double>(x[j]) * w[j];
  return sum_lanes(low + high) + tail;
}

// The same, and sum_j x_j^2 with it: the row is read and converted once.
template <class T>
PEGASOS_INLINE double dense_dot_and_square(const T* x, const double* w, int64_t n, double* square) {
  Four low = {0, 0, 0, 0}, high = low, square_low = low, square_high = low;
  double tail = 0, square_tail = 0;
  int64_t j = 0;
  for (; j + 8 <= n; j += 8) {
    const Four first = load_four(x + j), second = load_four(x + j + 4);
    low += first * load_four(w + j);
    high += second * load_four(w + j + 4);
    square_low += first * first;
    square_high += second * second;
  }
  if (n & 4) {
    const Four first = load_four(x + j);
    low += first * load_four(w + j);
    square_low += first * first;
    j += 4;
  }
  if (n & 2) {
    const Two pair = load_two(x + j);
    const Two last = pair * load_two(w + j), last_square = pair * pair;
    tail = last[0] + last[1];
    square_tail = last_square[0] + last_square[1];
    j += 2;
  }
  if (n & 1) {
    const double last = static_cast<double>(x[j]);
    tail += last * w[j];
    square_tail += last * last;
  }
  *square = sum_lanes(square_low + square_high) + square_tail;
  return sum_lanes(low + high) + tail;
}

template <class Lanes>
PEGASOS_INLINE void store(double* target, Lanes lanes) {
  std::memcpy(target, &lanes, sizeof(lanes));
}

// w += c x. Stores have the widths of dense_dot's loads: the next dot can take them from the store buffer.
template <class T>
PEGASOS_INLINE void dense_axpy(double c, const T* x, double* w, int64_t n) {
  int64_t j = 0;
  for (; j + 4 <= n; j += 4) store(w + j, load_four(w + j) + c * load_four(x + j));
  if (n & 2) {
    store(w + j, load_two(w + j) + c * load_two(x + j));
    j += 2;
  }
  if (n & 1) w[j] += c * static_cast<double>(x[j]);
}

}  // namespace PEGASOS_LEVEL
}  // namespace pegasos
