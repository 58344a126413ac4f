#include "pegasos/permutation.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace pegasos {
namespace {

constexpr int64_t kBlock = 128;  // partners under way at a time

// 2^k - 1, the least that is not below i
uint64_t mask_of(int64_t i) {
  uint64_t mask = static_cast<uint64_t>(i);
  for (int shift = 1; shift < 64; shift *= 2) mask |= mask >> shift;
  return mask;
}

// Finds the partners of rows first, first - 1, ... An accepted draw is as likely as not, so there is no
// branch on it; and where the partners lie does not depend on earlier swaps, so all their cache misses are
// under way together. A plain loop waits for both.
template <class Draw>
void draw_partners(Draw draw, uint64_t mask, int64_t first, int64_t count, const int64_t* rows,
                   int64_t* partners) {
  for (int64_t k = 0; k < count;) {
    const int64_t partner = static_cast<int64_t>(draw() & mask);
    __builtin_prefetch(rows + partner, 1);
    partners[k] = partner;
    k += partner <= first - k;
  }
}

}  // namespace

void permutation(const BitGenerator& generator, int64_t n, int64_t* rows) {
  std::iota(rows, rows + n, int64_t{0});
  int64_t partners[kBlock];
  for (int64_t first = n - 1; first > 0;) {
    const uint64_t mask = mask_of(first);
    const int64_t same_mask = first - static_cast<int64_t>(mask / 2);  // rows down to 2^(k-1)
    const int64_t count = std::min(kBlock, same_mask);
    if (first <= int64_t{0xffffffff})
      draw_partners([&] { return uint64_t{generator.next_uint32(generator.state)}; }, mask, first,
                    count, rows, partners);
    else
      draw_partners([&] { return generator.next_uint64(generator.state); }, mask, first, count,
                    rows, partners);
    for (int64_t k = 0; k < count; ++k) std::swap(rows[first - k], rows[partners[k]]);
    first -= count;
  }
}

}  // namespace pegasos
