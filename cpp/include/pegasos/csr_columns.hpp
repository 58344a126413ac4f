// Whether the columns of CSR rows can be trusted: within the matrix, and none twice in a row.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pegasos/ranges.hpp"
#include "pegasos/rows_view.hpp"

namespace pegasos {

enum class CsrFault { none, row_pointers, column_range, column_twice };

inline namespace PEGASOS_LEVEL {

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
  constexpr int64_t kBlock = 256;  // rows that are still in the cache when their ends are looked at
  const Index* start = static_cast<const Index*>(view.indptr);
  const Index* column = static_cast<const Index*>(view.indices);
  const int64_t d = view.n_features;
  // Ordered within a row, the first and the last column tell about all; and then there is no descent but
  // from one row to the next.
  bool outside = false;
  int64_t descents = 0, between_rows = 0;
  const int64_t begin = start[range.first];
  for (int64_t from = range.first; from < range.last; from += kBlock) {
    const int64_t to = std::min(range.last, from + kBlock);
    descents += count_descents(column, std::max<int64_t>(begin, start[from] - 1), start[to]);
    for (int64_t i = from; i < to; ++i) {
      const Index first = start[i], end = start[i + 1];
      if (first == end) continue;
      outside |= (column[first] < 0) | (column[end - 1] >= d);
      between_rows += first > begin && column[first - 1] >= column[first];
    }
  }
  const bool unordered = descents != between_rows;
  if (unordered && !outside)
    for (Index k = start[range.first]; k < start[range.last]; ++k)
      outside |= (column[k] < 0) | (column[k] >= d);
  return outside ? CsrFault::column_range : (unordered ? CsrFault::column_twice : CsrFault::none);
}

}  // namespace PEGASOS_LEVEL
}  // namespace pegasos
