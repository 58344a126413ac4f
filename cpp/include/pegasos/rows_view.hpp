// The data matrix as the bindings hand it over; kept in place, never copied.
#pragma once

#include <cstdint>

namespace pegasos {

struct RowsView {
  enum Kind { dense_f32, dense_f64, csr_f32_i32, csr_f32_i64, csr_f64_i32, csr_f64_i64 };
  Kind kind;
  const void* values;
  const void* indices;  // CSR only
  const void* indptr;   // CSR only
  int64_t n_rows;
  int64_t n_features;
  double bias;
  // All values are whole multiples of it, none more than 256 times (grid.hpp); 0: not known to be.
  float grid = 0;
};

// Stored entries: all of a dense matrix, those listed in a CSR matrix.
inline int64_t count_entries(const RowsView& view) {
  switch (view.kind) {
    case RowsView::csr_f32_i32:
    case RowsView::csr_f64_i32: return static_cast<const int32_t*>(view.indptr)[view.n_rows];
    case RowsView::csr_f32_i64:
    case RowsView::csr_f64_i64: return static_cast<const int64_t*>(view.indptr)[view.n_rows];
    default: return view.n_rows * view.n_features;
  }
}

}  // namespace pegasos
