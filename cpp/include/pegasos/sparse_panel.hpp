// Inner products of a panel of rows with sparse rows.
//
// The panel holds kPanelRows rows feature by feature, so that an entry of a sparse row meets all of them with
// one broadcast and two or four vector products: no gather.
#pragma once

#include "pegasos/rows.hpp"

namespace pegasos {

constexpr int64_t kPanelRows = 16;

inline namespace PEGASOS_LEVEL {

// products[v * stride + k] = <panel row v, row k of `rows`>, k = 0 .. n-1; row k is row which[k] of the
// data, or first + k without `which`.
template <class C, class T, class Index>
void panel_products(const CsrRows<T, Index>& rows, const int64_t* which, int64_t first, int64_t n,
                    const C* panel, C* products, int64_t stride) {
  typedef C Values __attribute__((vector_size(32)));
  constexpr int lanes = 32 / sizeof(C), groups = static_cast<int>(kPanelRows) / lanes;
  for (int64_t k = 0; k < n; ++k) {
    const auto row = rows.at(which ? which[first + k] : first + k);
    Values sum[groups] = {};
    for (int64_t e = 0; e < row.n; ++e) {
      const C x = static_cast<C>(row.x[e]);
      const C* column = panel + row.column[e] * kPanelRows;
      for (int g = 0; g < groups; ++g) {
        Values part;
        std::memcpy(&part, column + g * lanes, sizeof(part));
        sum[g] += part * x;
      }
    }
    for (int g = 0; g < groups; ++g)
      for (int lane = 0; lane < lanes; ++lane)
        products[(g * lanes + lane) * stride + k] = sum[g][lane];
  }
}

}  // namespace PEGASOS_LEVEL
}  // namespace pegasos
