// Rows written out in full, whatever they are kept as.
#pragma once

#include "pegasos/rows_view.hpp"

namespace pegasos {

inline bool is_dense(const RowsView& view) {
  return view.kind == RowsView::dense_f32 || view.kind == RowsView::dense_f64;
}
inline bool is_double(const RowsView& view) {
  return view.kind == RowsView::dense_f64 || view.kind == RowsView::csr_f64_i32 ||
         view.kind == RowsView::csr_f64_i64;
}

template <class C, class T>
void spread_dense(const RowsView& view, int64_t i, C* to, int64_t step) {
  const T* x = static_cast<const T*>(view.values) + i * view.n_features;
  for (int64_t j = 0; j < view.n_features; ++j) to[j * step] = static_cast<C>(x[j]);
}

template <class C, class T, class Index>
void spread_csr(const RowsView& view, int64_t i, C* to, int64_t step) {
  const Index* start = static_cast<const Index*>(view.indptr);
  const Index* column = static_cast<const Index*>(view.indices);
  const T* x = static_cast<const T*>(view.values);
  for (Index k = start[i]; k < start[i + 1]; ++k) to[column[k] * step] = static_cast<C>(x[k]);
}

// Row i, its features `step` apart; where it is sparse, over zeros.
template <class C>
void spread(const RowsView& view, int64_t i, C* to, int64_t step) {
  switch (view.kind) {
    case RowsView::dense_f32: return spread_dense<C, float>(view, i, to, step);
    case RowsView::dense_f64: return spread_dense<C, double>(view, i, to, step);
    case RowsView::csr_f32_i32: return spread_csr<C, float, int32_t>(view, i, to, step);
    case RowsView::csr_f32_i64: return spread_csr<C, float, int64_t>(view, i, to, step);
    case RowsView::csr_f64_i32: return spread_csr<C, double, int32_t>(view, i, to, step);
    case RowsView::csr_f64_i64: return spread_csr<C, double, int64_t>(view, i, to, step);
  }
}

}  // namespace pegasos
