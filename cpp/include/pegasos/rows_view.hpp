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
};

}  // namespace pegasos
