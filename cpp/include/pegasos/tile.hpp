// The size of tiles of kernel values, and of what is copied to make them.
#pragma once

#include <algorithm>
#include <cstdint>

namespace pegasos {

// The values of a tile stay in the L2 cache between the product and the kernel function.
constexpr int64_t kTileRows = 256, kTileColumns = 256;

// How many rows of d features may be copied at once: 8 million values, but never less than one row.
inline int64_t most_copied_rows(int64_t d) {
  return std::max<int64_t>(1, (int64_t{1} << 23) / std::max<int64_t>(d, 1));
}

}  // namespace pegasos
