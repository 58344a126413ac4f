// Fixed ranges of rows for threads to share. They do not depend on the number of threads, hence neither do
// sums that are added range by range.
#pragma once

#include <algorithm>
#include <cstdint>

namespace pegasos {

struct RowRange {
  int64_t first;
  int64_t last;
};

constexpr int64_t kRowsPerRange = 4096;

inline int64_t count_ranges(int64_t n_rows, int64_t per_range) {
  return (n_rows + per_range - 1) / per_range;
}

inline RowRange range_at(int64_t k, int64_t n_rows, int64_t per_range) {
  return {k * per_range, std::min(n_rows, (k + 1) * per_range)};
}

}  // namespace pegasos
