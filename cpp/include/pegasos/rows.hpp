// Rows of the data: the one place that knows how a row is stored.
//
// Every solver is a template over these two types, so nothing is written twice for sparse data. A row acts
// as if it had one more feature, the constant `bias` (intercept_scaling, or 0 without an intercept): weight
// vectors have n_features + 1 entries and the last one is the intercept's.
#pragma once

#include <cstdint>

#include "pegasos/lanes.hpp"
#include "pegasos/prefetch.hpp"
#include "pegasos/row_feed.hpp"
#include "pegasos/sparse_lanes.hpp"

namespace pegasos {

inline namespace PEGASOS_LEVEL {

PEGASOS_INLINE int64_t append_constant(int64_t count, int64_t d, double bias, int64_t* column,
                                       double* value) {
  column[count] = d;
  value[count] = bias;
  return count + (bias != 0);
}

// One row, wherever it lies.
template <class T>
struct DenseRow {
  const T* x;
  int64_t d;
  double bias;

  PEGASOS_INLINE double dot(const double* w) const { return dense_dot(x, w, d) + bias * w[d]; }
  PEGASOS_INLINE double dot_and_square(const double* w, double* square) const {
    const double sum = dense_dot_and_square(x, w, d, square);
    *square += bias * bias;
    return sum + bias * w[d];
  }
  PEGASOS_INLINE void axpy(double c, double* w) const {
    dense_axpy(c, x, w, d);
    w[d] += c * bias;
  }
  int64_t count_nonzero() const {
    int64_t count = 0;
    for (int64_t j = 0; j < d; ++j) count += x[j] != 0;
    return count;
  }
  // The entries that are not 0, the constant last; there is room for d + 1. Returns how many.
  PEGASOS_INLINE int64_t copy_nonzero(int64_t* column, double* value) const {
    int64_t count = 0;
    for (int64_t j = 0; j < d; ++j) {
      column[count] = j;
      value[count] = static_cast<double>(x[j]);
      count += x[j] != 0;
    }
    return append_constant(count, d, bias, column, value);
  }
  double square() const {
    double sum = bias * bias;
    for (int64_t j = 0; j < d; ++j) sum += static_cast<double>(x[j]) * x[j];
    return sum;
  }
};

template <class T, class Index>
struct CsrRow {
  const T* x;
  const Index* column;
  int64_t n;
  int64_t d;
  double bias;

  // Weights are doubles, or Two: pairs of a weight and what goes with it.
  template <class Weight>
  PEGASOS_INLINE double dot(const Weight* w) const {
    return sparse_dot(x, column, w, n) + bias * weight_at(w, d);
  }
  template <class Weight>
  PEGASOS_INLINE double dot_and_square(const Weight* w, double* square) const {
    const double sum = sparse_dot_and_square(x, column, w, n, square);
    *square += bias * bias;
    return sum + bias * weight_at(w, d);
  }
  template <class Weight>
  PEGASOS_INLINE void axpy(Weight c, Weight* w) const {
    sparse_axpy(c, x, column, w, n);
    w[d] += c * bias;
  }
  int64_t count_nonzero() const {
    int64_t count = 0;
    for (int64_t k = 0; k < n; ++k) count += x[k] != 0;
    return count;
  }
  PEGASOS_INLINE int64_t copy_nonzero(int64_t* column_to, double* value) const {
    for (int64_t k = 0; k < n; ++k) {
      column_to[k] = column[k];
      value[k] = static_cast<double>(x[k]);
    }
    return append_constant(n, d, bias, column_to, value);
  }
  double square() const {
    double sum = bias * bias;
    for (int64_t k = 0; k < n; ++k) sum += static_cast<double>(x[k]) * x[k];
    return sum;
  }
};

template <class T>
class DenseRows {
 public:
  static constexpr bool kSparse = false;
  explicit DenseRows(const RowsView& view)
      : x_(static_cast<const T*>(view.values)), d_(view.n_features), bias_(view.bias) {}

  PEGASOS_INLINE DenseRow<T> at(int64_t i) const { return {x_ + i * d_, d_, bias_}; }

  // Rows are visited in random order: what is asked for now arrives while earlier rows are worked on.
  PEGASOS_INLINE void prefetch(int64_t i) const {
    const int64_t bytes = d_ * static_cast<int64_t>(sizeof(T));
    prefetch_lines(x_ + i * d_, bytes < kMostPrefetchedBytes ? bytes : kMostPrefetchedBytes);
  }

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
  static constexpr bool kSparse = true;
  explicit CsrRows(const RowsView& view)
      : view_(view),
        x_(static_cast<const T*>(view.values)),
        column_(static_cast<const Index*>(view.indices)),
        start_(static_cast<const Index*>(view.indptr)) {}

  PEGASOS_INLINE CsrRow<T, Index> at(int64_t i) const {
    const Index first = start_[i];
    return {x_ + first, column_ + first, start_[i + 1] - first, view_.n_features, view_.bias};
  }
  PEGASOS_INLINE CsrRow<T, Index> fed(const RowFeed::Row& row) const {
    return {static_cast<const T*>(row.values), static_cast<const Index*>(row.columns), row.n,
            view_.n_features, view_.bias};
  }
  const RowsView& view() const { return view_; }

  PEGASOS_INLINE void prefetch_pointer(int64_t i) const { __builtin_prefetch(start_ + i); }
  PEGASOS_INLINE void prefetch(int64_t i) const {
    const int64_t first = start_[i], all = start_[i + 1] - first;
    const int64_t n = all < kMostPrefetched ? all : kMostPrefetched;
    prefetch_lines(x_ + first, n * static_cast<int64_t>(sizeof(T)));
    prefetch_lines(column_ + first, n * static_cast<int64_t>(sizeof(Index)));
  }

 private:
  static constexpr int64_t kMostPrefetched = 256;  // entries
  const RowsView& view_;
  const T* x_;
  const Index* column_;
  const Index* start_;
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
