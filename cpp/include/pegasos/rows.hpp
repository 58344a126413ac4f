// Rows of the data: the one place that knows how a row is stored.
//
// Every solver is a template over these two types, so nothing is written twice for sparse data. A row acts
// as if it had one more feature, the constant `bias` (intercept_scaling, or 0 without an intercept): weight
// vectors have n_features + 1 entries and the last one is the intercept's.
#pragma once

#include <cstdint>

#include "pegasos/lanes.hpp"

namespace pegasos {

// What the bindings hand over; kept in place, never copied.
struct RowsView {
  enum Kind { dense_f32, dense_f64, csr_f32_i32, csr_f32_i64, csr_f64_i32, csr_f64_i64 };
  Kind kind;
  const void* values;
  const void* indices;  // CSR only
  const void* indptr;   // CSR only
  int64_t n_rows;
  int64_t n_features;
  double bias;
};

inline namespace PEGASOS_LEVEL {

template <class T>
class DenseRows {
 public:
  explicit DenseRows(const RowsView& view)
      : x_(static_cast<const T*>(view.values)), d_(view.n_features), bias_(view.bias) {}

  PEGASOS_INLINE double dot(int64_t i, const double* w) const {
    return dense_dot(x_ + i * d_, w, d_) + bias_ * w[d_];
  }
  PEGASOS_INLINE double dot_and_square(int64_t i, const double* w, double* square) const {
    const double sum = dense_dot_and_square(x_ + i * d_, w, d_, square);
    *square += bias_ * bias_;
    return sum + bias_ * w[d_];
  }
  int64_t count_nonzero(int64_t i) const {
    int64_t count = 0;
    for (int64_t j = 0; j < d_; ++j) count += x_[i * d_ + j] != 0;
    return count;
  }
  double square(int64_t i) const {
    double sum = bias_ * bias_;
    for (int64_t j = 0; j < d_; ++j) sum += static_cast<double>(x_[i * d_ + j]) * x_[i * d_ + j];
    return sum;
  }
  PEGASOS_INLINE void axpy(int64_t i, double c, double* w) const {
    dense_axpy(c, x_ + i * d_, w, d_);
    w[d_] += c * bias_;
  }
  // Rows are visited in random order: what is asked for now arrives while earlier rows are worked on.
  PEGASOS_INLINE void prefetch(int64_t i) const {
    const char* first = reinterpret_cast<const char*>(x_ + i * d_);
    const int64_t bytes = d_ * static_cast<int64_t>(sizeof(T));
    const int64_t end = bytes < kMostPrefetchedBytes ? bytes : kMostPrefetchedBytes;
    for (int64_t b = 0; b < end; b += 64) __builtin_prefetch(first + b);
  }
  PEGASOS_INLINE void prefetch_pointer(int64_t) const {}

 private:
  static constexpr int64_t kMostPrefetchedBytes =
      1024;  // the hardware prefetcher takes over in long rows
  const T* x_;
  int64_t d_;
  double bias_;
};

template <class T, class Index>
class CsrRows {
 public:
  explicit CsrRows(const RowsView& view)
      : x_(static_cast<const T*>(view.values)),
        column_(static_cast<const Index*>(view.indices)),
        start_(static_cast<const Index*>(view.indptr)),
        d_(view.n_features),
        bias_(view.bias) {}

  // Bound by the gather from w: four independent sums hide its latency.
  PEGASOS_INLINE double dot(int64_t i, const double* w) const {
    double sum[4] = {0, 0, 0, 0};
    const Index end = start_[i + 1];
    Index k = start_[i];
    for (; end - k >= 4; k += 4)
      for (int lane = 0; lane < 4; ++lane)
        sum[lane] += static_cast<double>(x_[k + lane]) * w[column_[k + lane]];
    for (int lane = 0; k < end; ++k, ++lane)
      sum[lane] += static_cast<double>(x_[k]) * w[column_[k]];
    return ((sum[0] + sum[2]) + (sum[1] + sum[3])) + bias_ * w[d_];
  }
  PEGASOS_INLINE double dot_and_square(int64_t i, const double* w, double* square) const {
    double sum[4] = {0, 0, 0, 0}, squares[4] = {0, 0, 0, 0};
    const Index end = start_[i + 1];
    Index k = start_[i];
    for (; end - k >= 4; k += 4)
      for (int lane = 0; lane < 4; ++lane) {
        const double x = x_[k + lane];
        sum[lane] += x * w[column_[k + lane]];
        squares[lane] += x * x;
      }
    for (int lane = 0; k < end; ++k, ++lane) {
      const double x = x_[k];
      sum[lane] += x * w[column_[k]];
      squares[lane] += x * x;
    }
    *square = ((squares[0] + squares[2]) + (squares[1] + squares[3])) + bias_ * bias_;
    return ((sum[0] + sum[2]) + (sum[1] + sum[3])) + bias_ * w[d_];
  }
  int64_t count_nonzero(int64_t i) const {
    int64_t count = 0;
    for (Index k = start_[i]; k < start_[i + 1]; ++k) count += x_[k] != 0;
    return count;
  }
  double square(int64_t i) const {
    double sum = bias_ * bias_;
    for (Index k = start_[i]; k < start_[i + 1]; ++k) sum += static_cast<double>(x_[k]) * x_[k];
    return sum;
  }
  PEGASOS_INLINE void axpy(int64_t i, double c, double* w) const {
    const Index end = start_[i + 1];
    for (Index k = start_[i]; k < end; ++k) w[column_[k]] += c * static_cast<double>(x_[k]);
    w[d_] += c * bias_;
  }
  PEGASOS_INLINE void prefetch(int64_t i) const {
    const Index first = start_[i];
    const int64_t entries = static_cast<int64_t>(start_[i + 1] - first);
    const int64_t end = entries < kMostPrefetchedEntries ? entries : kMostPrefetchedEntries;
    for (int64_t k = 0; k < end; k += 64 / sizeof(T)) __builtin_prefetch(x_ + first + k);
    for (int64_t k = 0; k < end; k += 64 / sizeof(Index)) __builtin_prefetch(column_ + first + k);
  }
  PEGASOS_INLINE void prefetch_pointer(int64_t i) const { __builtin_prefetch(start_ + i); }

 private:
  static constexpr int64_t kMostPrefetchedEntries = 256;
  const T* x_;
  const Index* column_;
  const Index* start_;
  int64_t d_;
  double bias_;
};

// Calls use(rows) with the type that the view stands for: one switch outside all loops.
template <class Use>
void with_rows(const RowsView& view, Use use) {
  switch (view.kind) {
    case RowsView::dense_f32: return use(DenseRows<float>(view));
    case RowsView::dense_f64: return use(DenseRows<double>(view));
    case RowsView::csr_f32_i32: return use(CsrRows<float, int32_t>(view));
    case RowsView::csr_f32_i64: return use(CsrRows<float, int64_t>(view));
    case RowsView::csr_f64_i32: return use(CsrRows<double, int32_t>(view));
    case RowsView::csr_f64_i64: return use(CsrRows<double, int64_t>(view));
  }
}

}  // namespace PEGASOS_LEVEL
}  // namespace pegasos
