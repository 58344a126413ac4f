// Asking for memory ahead of time.
#pragma once

#include <cstdint>

#include "pegasos/lanes.hpp"

namespace pegasos {
inline namespace PEGASOS_LEVEL {

// Every cache line that holds one of these bytes: a row may begin in the middle of a line, and end in one more
// than its length would need. Into the L2 cache, which keeps more lines under way than the L1 cache does.
PEGASOS_INLINE void prefetch_lines(const void* first, int64_t bytes) {
  constexpr uintptr_t kLine = 64;
  constexpr int kRead = 0, kIntoL2 = 2;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(first), end = begin + bytes;
  for (uintptr_t line = begin & ~(kLine - 1); line < end; line += kLine)
    __builtin_prefetch(reinterpret_cast<const void*>(line), kRead, kIntoL2);
}

}  // namespace PEGASOS_LEVEL
}  // namespace pegasos
