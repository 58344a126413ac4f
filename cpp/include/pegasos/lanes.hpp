// Fixed-width vector arithmetic: eight double lanes, whatever the CPU offers.
//
// The lanes are explicit, so every CPU level adds the same numbers in the same order and gives the same
// bits (the library is compiled without FMA contraction). The compiler maps eight lanes to one AVX-512
// register, two AVX or four SSE/NEON ones.
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

template <class T, int Lanes>
struct Pack {
  typedef T type __attribute__((vector_size(sizeof(T) * Lanes)));
};

template <int Lanes, class T>
PEGASOS_INLINE typename Pack<double, Lanes>::type load_as_double(const T* source) {
  typename Pack<T, Lanes>::type packed;
  std::memcpy(&packed, source, sizeof(packed));
  return __builtin_convertvector(packed, typename Pack<double, Lanes>::type);
}

template <int Lanes>
PEGASOS_INLINE void store(double* target, typename Pack<double, Lanes>::type packed) {
  std::memcpy(target, &packed, sizeof(packed));
}

// Lanes of a running sum: bulk in eights, then one step each of four, two and one.
struct LaneSum {
  Pack<double, 8>::type eight = {0, 0, 0, 0, 0, 0, 0, 0};
  Pack<double, 4>::type four = {0, 0, 0, 0};
  Pack<double, 2>::type two = {0, 0};
  double one = 0;

  PEGASOS_INLINE double total() const {
    const double low = (eight[0] + eight[4]) + (eight[1] + eight[5]);
    const double high = (eight[2] + eight[6]) + (eight[3] + eight[7]);
    const double tail = ((four[0] + four[2]) + (four[1] + four[3])) + ((two[0] + two[1]) + one);
    return (low + high) + tail;
  }
};

// sum_j x_j w_j
template <class T>
PEGASOS_INLINE double dense_dot(const T* x, const double* w, int64_t n) {
  LaneSum sum;
  int64_t j = 0;
  for (; j + 8 <= n; j += 8) sum.eight += load_as_double<8>(x + j) * load_as_double<8>(w + j);
  if (n & 4) {
    sum.four = load_as_double<4>(x + j) * load_as_double<4>(w + j);
    j += 4;
  }
  if (n & 2) {
    sum.two = load_as_double<2>(x + j) * load_as_double<2>(w + j);
    j += 2;
  }
  if (n & 1) sum.one = static_cast<double>(x[j]) * w[j];
  return sum.total();
}

// sum_j x_j w_j and sum_j x_j^2 in one reading of the row
template <class T>
PEGASOS_INLINE double dense_dot_and_square(const T* x, const double* w, int64_t n, double* square) {
  LaneSum dot, norm;
  int64_t j = 0;
  for (; j + 8 <= n; j += 8) {
    const auto xs = load_as_double<8>(x + j);
    dot.eight += xs * load_as_double<8>(w + j);
    norm.eight += xs * xs;
  }
  if (n & 4) {
    const auto xs = load_as_double<4>(x + j);
    dot.four = xs * load_as_double<4>(w + j);
    norm.four = xs * xs;
    j += 4;
  }
  if (n & 2) {
    const auto xs = load_as_double<2>(x + j);
    dot.two = xs * load_as_double<2>(w + j);
    norm.two = xs * xs;
    j += 2;
  }
  if (n & 1) {
    const double xs = x[j];
    dot.one = xs * w[j];
    norm.one = xs * xs;
  }
  *square = norm.total();
  return dot.total();
}

template <int Lanes, class T>
PEGASOS_INLINE void axpy_lanes(double c, const T* x, double* w) {
  store<Lanes>(w, load_as_double<Lanes>(w) + c * load_as_double<Lanes>(x));
}

// w += c x
template <class T>
PEGASOS_INLINE void dense_axpy(double c, const T* x, double* w, int64_t n) {
  int64_t j = 0;
  for (; j + 8 <= n; j += 8) axpy_lanes<8>(c, x + j, w + j);
  if (n & 4) {
    axpy_lanes<4>(c, x + j, w + j);
    j += 4;
  }
  if (n & 2) {
    axpy_lanes<2>(c, x + j, w + j);
    j += 2;
  }
  if (n & 1) w[j] += c * static_cast<double>(x[j]);
}

}  // namespace PEGASOS_LEVEL
}  // namespace pegasos
