// Inner products of picked rows with tiles of other, dense rows, by BLAS.
#pragma once

#include <type_traits>
#include <vector>

#include "pegasos/aligned.hpp"
#include "pegasos/gram.hpp"
#include "pegasos/spread.hpp"
#include "pegasos/team.hpp"
#include "pegasos/tile.hpp"

namespace pegasos {

template <class C>
class BlasProducts {
 public:
  BlasProducts(const GramSide& picked, const GramSide& others, Gemm<C> gemm, int n_members)
      : picked_(picked),
        others_(others),
        gemm_(gemm),
        d_(others.view.n_features),
        in_place_(!others.which && is_double(others.view) == std::is_same_v<C, double>),
        right_(n_members) {}

  int64_t picked_at_once() const { return std::min(kTileRows, most_copied_rows(d_)); }
  int64_t others_at_once() const {
    return in_place_ ? kTileColumns : std::min(kTileColumns, most_copied_rows(d_));
  }

  // The next picked rows: all threads copy them.
  void pick(int64_t first, int64_t n, Team& team) {
    left_ = copy_.zeros(n * d_);
    team.run(n, [&](int64_t k, int) {
      spread(picked_.view, picked_.row(first + k), left_ + k * d_, 1);
    });
  }

  // The next other rows of a thread.
  void take(int member, int64_t first, int64_t n) {
    Right& right = right_[member];
    right.n = n;
    if (in_place_) {
      right.rows = static_cast<const C*>(others_.view.values) + others_.row(first) * d_;
      return;
    }
    C* rows = right.copy.resize(n * d_);
    for (int64_t j = 0; j < n; ++j) spread(others_.view, others_.row(first + j), rows + j * d_, 1);
    right.rows = rows;
  }

  // values[k * kTileColumns + j] = <picked row first + k, other row j>
  void multiply(int member, int64_t first, int64_t n, C* values) const {
    const Right& right = right_[member];
    char yes = 'T', no = 'N';
    int rows = static_cast<int>(right.n), columns = static_cast<int>(n), d = static_cast<int>(d_);
    int stride = static_cast<int>(kTileColumns), features = std::max(d, 1);
    C one = 1, zero = 0;
    gemm_(&yes, &no, &rows, &columns, &d, &one, const_cast<C*>(right.rows), &features,
          left_ + first * d_, &features, &zero, values, &stride);
  }

 private:
  struct Right {
    const C* rows;
    int64_t n;
    AlignedArray<C> copy;
  };
  const GramSide& picked_;
  const GramSide& others_;
  const Gemm<C> gemm_;
  const int64_t d_;
  const bool in_place_;
  AlignedArray<C> copy_;
  C* left_ = nullptr;
  std::vector<Right> right_;
};

}  // namespace pegasos
