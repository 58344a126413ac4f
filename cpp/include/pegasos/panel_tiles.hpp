// Inner products of picked rows with tiles of other, sparse rows, by panels (sparse_panel.hpp).
#pragma once

#include <type_traits>
#include <vector>

#include "pegasos/aligned.hpp"
#include "pegasos/gram.hpp"
#include "pegasos/level_table.hpp"
#include "pegasos/ranges.hpp"
#include "pegasos/spread.hpp"
#include "pegasos/team.hpp"
#include "pegasos/tile.hpp"

namespace pegasos {

template <class C>
class PanelTiles {
 public:
  PanelTiles(const GramSide& picked, const GramSide& others, const LevelTable& level, int n_members)
      : picked_(picked),
        others_(others),
        level_(level),
        d_(others.view.n_features),
        right_(n_members) {}

  // Panels are read at random: together they must fit the L2 cache, or there is only one.
  int64_t picked_at_once() const {
    constexpr int64_t kCache = 1 << 18;
    const int64_t panel = std::max<int64_t>(1, d_) * kRows * static_cast<int64_t>(sizeof(C));
    return kRows * std::clamp<int64_t>(kCache / panel, 1, kTileRows / kRows);
  }
  int64_t others_at_once() const { return kTileColumns; }

  // The next picked rows, as panels: all threads copy them.
  void pick(int64_t first, int64_t n, Team& team) {
    panels_ = copy_.zeros(count_ranges(n, kRows) * kRows * d_);
    team.run(n, [&](int64_t k, int) {
      spread(picked_.view, picked_.row(first + k), panels_ + k / kRows * kRows * d_ + k % kRows,
             kRows);
    });
  }

  // The next other rows of a thread.
  void take(int member, int64_t first, int64_t n) { right_[member] = {first, n}; }

  // values[k * kTileColumns + j] = <picked row first + k, other row j>
  void multiply(int member, int64_t first, int64_t n, C* values) const {
    const Right& right = right_[member];
    const int64_t begin = right.first + (others_.which ? 0 : others_.first);
    for (int64_t k = 0; k < n; k += kRows) {
      const C* panel = panels_ + (first + k) * d_;
      C* products = values + k * kTileColumns;
      if constexpr (std::is_same_v<C, float>)
        level_.panel_products_f32(others_.view, others_.which, begin, right.n, panel, products,
                                  kTileColumns);
      else
        level_.panel_products_f64(others_.view, others_.which, begin, right.n, panel, products,
                                  kTileColumns);
    }
  }

 private:
  static constexpr int64_t kRows = kPanelRows<C>;
  struct Right {
    int64_t first, n;
  };
  const GramSide& picked_;
  const GramSide& others_;
  const LevelTable& level_;
  const int64_t d_;
  AlignedArray<C> copy_;
  C* panels_ = nullptr;
  std::vector<Right> right_;
};

}  // namespace pegasos
