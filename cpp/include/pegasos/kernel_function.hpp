// Kernel functions of vectors, computed from inner products:
//   linear  <a, b> + coef0      poly  (gamma <a, b> + coef0)^degree      rbf  exp(-gamma ||a - b||^2) + coef0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "pegasos/lanes.hpp"

namespace pegasos {

// The rbf kernel is 0 for exponents below this (1.6e-28, 1.1e-278), although T could hold less: such values,
// and their differences, would be subnormal numbers, with which a Xeon took ten times as long for the steps.
template <class T>
constexpr double kSmallestExponent = sizeof(T) == sizeof(float) ? -64 : -640;

struct KernelFunction {
  enum Kind { linear, poly, rbf };
  Kind kind;
  double gamma;
  double coef0;
  int64_t degree;
  double smallest_exponent = kSmallestExponent<double>;  // of the type that values are stored in
};

inline namespace PEGASOS_LEVEL {

// A register of T, with the integers of the same width for its exponent. Not wider than the CPU has them: GCC
// takes comparisons of longer vectors apart, lane by lane.
#ifdef __AVX512F__
constexpr int kWideBytes = 64;
#else
constexpr int kWideBytes = 32;
#endif

template <class T>
struct Wide;
template <>
struct Wide<float> {
  typedef float Values __attribute__((vector_size(kWideBytes)));
  typedef int32_t Bits __attribute__((vector_size(kWideBytes)));
  static constexpr int lanes = kWideBytes / 4, mantissa = 23, bias = 127, terms = 7;
  static constexpr float round_trick = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  static constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
};
template <>
struct Wide<double> {
  typedef double Values __attribute__((vector_size(kWideBytes)));
  typedef int64_t Bits __attribute__((vector_size(kWideBytes)));
  static constexpr int lanes = kWideBytes / 8, mantissa = 52, bias = 1023, terms = 13;
  static constexpr double round_trick = 6755399441055744.0;  // 1.5 * 2^52
  static constexpr double ln2_high = 0.693145751953125, ln2_low = 1.42860682030941723212e-6;
};

constexpr double kInverseFactorials[] = {1.0,
                                         1.0,
                                         1.0 / 2,
                                         1.0 / 6,
                                         1.0 / 24,
                                         1.0 / 120,
                                         1.0 / 720,
                                         1.0 / 5040,
                                         1.0 / 40320,
                                         1.0 / 362880,
                                         1.0 / 3628800,
                                         1.0 / 39916800,
                                         1.0 / 479001600,
                                         1.0 / 6227020800};

// exp(x) for x <= 0 in every lane, 0 for x below `smallest`: x = n ln 2 + r, the Taylor polynomial of r
// (|r| <= 0.35, cut off where it no longer shows), and n put into the exponent. Within 2 units of the last
// place.
template <class T>
PEGASOS_INLINE typename Wide<T>::Values exp_of_negative(typename Wide<T>::Values x, T smallest) {
  using W = Wide<T>;
  typedef typename W::Values Values;
  typedef typename W::Bits Bits;
  const Values zero = {};
  const Values floor = zero + smallest;
  const Bits vanishes = x < floor;
  x = x < floor ? floor : x;
  const Values shifted = x * static_cast<T>(1.44269504088896340736) + W::round_trick;
  const Values n = shifted - W::round_trick;
  const Values r = (x - n * W::ln2_high) - n * W::ln2_low;
  Values sum = zero + static_cast<T>(kInverseFactorials[W::terms]);
  for (int k = W::terms - 1; k >= 0; --k) sum = sum * r + static_cast<T>(kInverseFactorials[k]);
  Bits exponent;
  const Values trick = zero + W::round_trick;
  Bits shifted_bits, trick_bits;
  std::memcpy(&shifted_bits, &shifted, sizeof(Bits));
  std::memcpy(&trick_bits, &trick, sizeof(Bits));
  exponent = (shifted_bits - trick_bits + W::bias) << W::mantissa;
  Values scale;
  std::memcpy(&scale, &exponent, sizeof(Values));
  return vanishes ? zero : sum * scale;
}

// g[j] holds <a, b_j>; becomes the kernel of a and b_j. `square` is ||a||^2, squares[j] is ||b_j||^2.
template <class T>
struct KernelValues {
  using W = Wide<T>;
  typedef typename W::Values Values;

  template <class Each>
  static PEGASOS_INLINE void for_each(T* g, const T* squares, int64_t n, Each each) {
    int64_t j = 0;
    Values values, others = {};
    for (; j + W::lanes <= n; j += W::lanes) {
      std::memcpy(&values, g + j, sizeof(values));
      if (squares) std::memcpy(&others, squares + j, sizeof(others));
      values = each(values, others);
      std::memcpy(g + j, &values, sizeof(values));
    }
    if (j == n) return;
    const size_t rest = static_cast<size_t>(n - j) * sizeof(T);
    values = others = Values{};
    std::memcpy(&values, g + j, rest);
    if (squares) std::memcpy(&others, squares + j, rest);
    values = each(values, others);
    std::memcpy(g + j, &values, rest);
  }

  static void apply(const KernelFunction& kernel, T square, const T* squares, T* g, int64_t n) {
    const T gamma = static_cast<T>(kernel.gamma), coef0 = static_cast<T>(kernel.coef0);
    if (kernel.kind == KernelFunction::rbf) {
      const T smallest = static_cast<T>(std::max(kernel.smallest_exponent, kSmallestExponent<T>));
      for_each(g, squares, n, [&](Values product, Values others) {
        const Values distance = (others + square) - (product + product);
        const Values zero = {};
        return exp_of_negative<T>(-gamma * (distance > zero ? distance : zero), smallest) + coef0;
      });
    } else if (kernel.kind == KernelFunction::poly) {
      for_each(g, nullptr, n, [&](Values product, Values) {
        const Values base = product * gamma + coef0;
        Values result = base, power = base;
        for (int64_t left = kernel.degree - 1; left > 0; left >>= 1) {
          if (left & 1) result *= power;
          power *= power;
        }
        return result;
      });
    } else if (coef0 != 0) {
      for_each(g, nullptr, n, [&](Values product, Values) { return product + coef0; });
    }
  }
};

}  // namespace PEGASOS_LEVEL
}  // namespace pegasos
