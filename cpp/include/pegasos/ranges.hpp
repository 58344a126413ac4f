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

// The rows of one member of a team, in whole ranges: always the same for the same member.
inline RowRange share_of(int member, int n_members, int64_t n_rows, int64_t per_range) {
  const int64_t n_ranges = count_ranges(n_rows, per_range);
  return {std::min(n_rows, member * n_ranges / n_members * per_range),
          std::min(n_rows, (member + 1) * n_ranges / n_members * per_range)};
}

}  // namespace pegasos
