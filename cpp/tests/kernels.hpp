// The kernels of the C++ tests, and their values one by one.
#pragma once

#include "check.hpp"
#include "pegasos/kernel_function.hpp"

namespace tests {

using pegasos::KernelFunction;

inline const KernelFunction kKernels[] = {
    {KernelFunction::linear, 1, 0, 1},   {KernelFunction::poly, 0.5, 1, 1},
    {KernelFunction::poly, 0.5, 1, 6},   {KernelFunction::rbf, 0.3, 0, 1},
    {KernelFunction::linear, 1, 0.5, 1}, {KernelFunction::rbf, 0.3, 2, 1}};

inline double value(const KernelFunction& kernel, const Matrix& a, int64_t i, const Matrix& b,
                    int64_t j) {
  const int64_t d = a.n_features;
  double product = 0, distance = 0;
  for (int64_t f = 0; f < d; ++f) {
    const double x = a.f64[i * d + f], z = b.f64[j * d + f];
    product += x * z;
    distance += (x - z) * (x - z);
  }
  if (kernel.kind == KernelFunction::linear) return product + kernel.coef0;
  if (kernel.kind == KernelFunction::rbf) return std::exp(-kernel.gamma * distance) + kernel.coef0;
  return std::pow(kernel.gamma * product + kernel.coef0, static_cast<double>(kernel.degree));
}

}  // namespace tests
