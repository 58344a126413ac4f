// Inner products of a panel of rows with sparse rows.
//
// The panel holds some rows feature by feature, so that an entry of a sparse row meets all of them with one
// broadcast and two vector products: no gather.
#pragma once

#include "pegasos/rows.hpp"

namespace pegasos {

// Two lines of the cache for each feature: half of that needs as many loads of entries for half of the products,
// twice that no longer stays in the cache (MNIST: 6.5, 5.5 and 7.0 ns a value).
template <class C>
constexpr int64_t kPanelRows = 128 / sizeof(C);

inline namespace PEGASOS_LEVEL {

// products[v * stride + k] = <panel row v, row k of `rows`>, k = 0 .. n-1; row k is row which[k] of the
// data, or first + k without `which`.
//
// Even and odd entries have sums of their own: with one sum every addition waits for the one before (MNIST: 15.6
// instead of 5.5 ns a value). Now bound by reading the panel from the L2 cache.
template <class C, class T, class Index>
void panel_products(const CsrRows<T, Index>& rows, const int64_t* which, int64_t first, int64_t n,
                    const C* panel, C* products, int64_t stride) {
  typedef C Values __attribute__((vector_size(64)));
  constexpr int lanes = 64 / sizeof(C), groups = 2;
  for (int64_t k = 0; k < n; ++k) {
    const auto row = rows.at(which ? which[first + k] : first + k);
    Values even[groups] = {}, odd[groups] = {};
    const auto add = [&](int64_t e, Values* sum) {
      const C x = static_cast<C>(row.x[e]);
      const C* column = panel + row.column[e] * kPanelRows<C>;
      for (int g = 0; g < groups; ++g) {
        Values part;
        std::memcpy(&part, column + g * lanes, sizeof(part));
        sum[g] += part * x;
      }
    };
    int64_t e = 0;
    for (; e + 2 <= row.n; e += 2) {
      add(e, even);
      add(e + 1, odd);
    }
    if (e < row.n) add(e, even);
    for (int g = 0; g < groups; ++g) {
      const Values sum = even[g] + odd[g];
      for (int lane = 0; lane < lanes; ++lane)
        products[(g * lanes + lane) * stride + k] = sum[lane];
    }
  }
}

}  // namespace PEGASOS_LEVEL
}  // namespace pegasos
