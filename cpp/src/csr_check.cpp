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

// Rows that are looked at twice, the second time in the cache.
constexpr int64_t kRowsInCache = 64;

// How many entries are not greater than the one before: one long loop, whatever the rows, for the
// compiler to vectorise.
template <class Index>
int64_t count_descents(const Index* column, int64_t first, int64_t end) {
  int64_t descents = 0;
  for (int64_t from = first + 1; from < end;) {
    const int64_t to = std::min<int64_t>(end, from + 65536);
    Index part = 0;
    for (int64_t k = from; k < to; ++k) part += column[k - 1] >= column[k];
    descents += part;
    from = to;
  }
  return descents;
}

// column_twice stands for "perhaps" here: the columns do not strictly increase.
template <class Index>
CsrFault column_fault(const RowsView& view, RowRange range) {
  const Index* start = static_cast<const Index*>(view.indptr);
  const Index* column = static_cast<const Index*>(view.indices);
  const int64_t d = view.n_features;
  // Ordered within a row, the first and the last column tell about all; and then there is no descent but
  // from one row to the next. Descents are counted first: the memory is then read from end to end.
  const int64_t descents = count_descents(column, start[range.first], start[range.last]);
  bool outside = false;
  int64_t between_rows = 0;
  for (int64_t i = range.first; i < range.last; ++i) {
    const Index first = start[i], end = start[i + 1];
    if (first == end) continue;
    outside |= (column[first] < 0) | (column[end - 1] >= d);
    between_rows += first > start[range.first] && column[first - 1] >= column[first];
  }
  const bool unordered = descents != between_rows;
  if (unordered && !outside)
    for (Index k = start[range.first]; k < start[range.last]; ++k)
      outside |= (column[k] < 0) | (column[k] >= d);
  return outside ? CsrFault::column_range : (unordered ? CsrFault::column_twice : CsrFault::none);
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
    const RowRange range = range_at(k, view.n_rows, kRowsPerRange);
    for (int64_t first = range.first; first < range.last; first += kRowsInCache) {
      const RowRange part = {first, std::min(range.last, first + kRowsInCache)};
      const CsrFault fault = column_fault<Index>(view, part);
      if (fault == CsrFault::column_range || faults[k] == CsrFault::none) faults[k] = fault;
    }
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
