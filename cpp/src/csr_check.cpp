#include <algorithm>
#include <vector>

#include "pegasos/engine.hpp"
#include "pegasos/parallel.hpp"
#include "pegasos/ranges.hpp"
#include "pegasos/worth_threads.hpp"

namespace pegasos {
namespace {

template <class Index>
CsrFault row_pointer_fault(const RowsView& view, int64_t n_entries) {
  const Index* start = static_cast<const Index*>(view.indptr);
  if (start[0] != 0 || start[view.n_rows] > n_entries) return CsrFault::row_pointers;
  for (int64_t i = 0; i < view.n_rows; ++i)
    if (start[i] > start[i + 1]) return CsrFault::row_pointers;
  return CsrFault::none;
}

// Rows in any order of columns will do, but not a column listed twice: its square would be wrong.
template <class Index>
bool lists_a_column_twice(const RowsView& view) {
  const Index* start = static_cast<const Index*>(view.indptr);
  const Index* column = static_cast<const Index*>(view.indices);
  std::vector<int64_t> last_row(view.n_features, -1);
  for (int64_t i = 0; i < view.n_rows; ++i)
    for (Index k = start[i]; k < start[i + 1]; ++k) {
      if (last_row[column[k]] == i) return true;
      last_row[column[k]] = i;
    }
  return false;
}

template <class Index>
CsrFault find_csr_fault(const RowsView& view, int64_t n_entries, int n_threads) {
  if (row_pointer_fault<Index>(view, n_entries) != CsrFault::none) return CsrFault::row_pointers;
  const int64_t n_ranges = count_ranges(view.n_rows, kRowsPerRange);
  std::vector<CsrFault> faults(n_ranges, CsrFault::none);
  n_threads = worth_threads(static_cast<double>(count_entries(view)), n_threads);
  parallel_for(n_ranges, n_threads, [&](int64_t k) {
    faults[k] = level_table().column_fault(view, range_at(k, view.n_rows, kRowsPerRange));
  });
  if (std::find(faults.begin(), faults.end(), CsrFault::column_range) != faults.end())
    return CsrFault::column_range;
  const bool ordered =
      std::find(faults.begin(), faults.end(), CsrFault::column_twice) == faults.end();
  return ordered || !lists_a_column_twice<Index>(view) ? CsrFault::none : CsrFault::column_twice;
}

}  // namespace

CsrFault csr_fault(const RowsView& view, int64_t n_entries, int n_threads) {
  const bool wide = view.kind == RowsView::csr_f32_i64 || view.kind == RowsView::csr_f64_i64;
  return wide ? find_csr_fault<int64_t>(view, n_entries, n_threads)
              : find_csr_fault<int32_t>(view, n_entries, n_threads);
}

}  // namespace pegasos
