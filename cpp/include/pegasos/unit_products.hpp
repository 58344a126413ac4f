// Inner products of picked rows with tiles of other rows, by the matrix unit (matrix_unit.hpp).
#pragma once

#include <vector>

#include "pegasos/aligned.hpp"
#include "pegasos/gram.hpp"
#include "pegasos/ranges.hpp"
#include "pegasos/spread.hpp"
#include "pegasos/team.hpp"
#include "pegasos/tile.hpp"

namespace pegasos {

// How the rows of both sides are written for the unit.
struct UnitPlan {
  int picked_terms, other_terms;
  float factor;  // all values are multiplied by it
};

// 16 rows of a side, as the unit wants them.
class UnitPacker {
 public:
  UnitPacker(const MatrixUnit& unit, const GramSide& side, float factor, int terms, bool transposed)
      : unit_(unit), side_(side), factor_(factor), terms_(terms), transposed_(transposed) {}

  int64_t tiles_per_group() const {
    return count_ranges(side_.view.n_features, kUnitDepth) * terms_;
  }

  // Rows first .. first+n-1 of the side, n at most 16; `space` is where sparse rows are written out.
  void pack(int64_t first, int64_t n, AlignedArray<float>& space, uint16_t* tiles) const {
    const int64_t d = side_.view.n_features;
    const float* rows[kUnitRows] = {};
    float* full = is_dense(side_.view) ? nullptr : space.zeros(n * d);
    for (int64_t k = 0; k < n; ++k) {
      const int64_t i = side_.row(first + k);
      rows[k] = full ? full + k * d : static_cast<const float*>(side_.view.values) + i * d;
      if (full) spread(side_.view, i, full + k * d, 1);
    }
    unit_.pack(rows, d, factor_, terms_, transposed_, tiles);
  }

 private:
  const MatrixUnit& unit_;
  const GramSide& side_;
  const float factor_;
  const int terms_;
  const bool transposed_;
};

class UnitProducts {
 public:
  UnitProducts(const GramSide& picked, const GramSide& others, const MatrixUnit& unit,
               const UnitPlan& plan, int n_members)
      : d_(picked.view.n_features),
        unit_(unit),
        plan_(plan),
        left_packer_(unit, picked, plan.factor, plan.picked_terms, false),
        right_packer_(unit, others, plan.factor, plan.other_terms, true),
        members_(n_members) {}

  // The more, the less it matters that the other rows are packed for each lot of picked ones.
  int64_t picked_at_once() const { return at_once(2048); }
  int64_t others_at_once() const { return at_once(kTileColumns); }

  // The next picked rows: all threads pack them.
  void pick(int64_t first, int64_t n, Team& team) {
    const int64_t tiles = left_packer_.tiles_per_group();
    left_ = left_copy_.resize(padded(n) * tiles * kUnitTile / kUnitRows);
    team.run(padded(n) / kUnitRows, [&](int64_t group, int member) {
      const int64_t k = group * kUnitRows;
      left_packer_.pack(first + k, std::clamp<int64_t>(n - k, 0, kUnitRows), members_[member].space,
                        left_ + group * tiles * kUnitTile);
    });
  }

  // The next other rows of a thread.
  void take(int member, int64_t first, int64_t n) {
    Member& my = members_[member];
    const int64_t tiles = right_packer_.tiles_per_group();
    my.n = n;
    my.right = my.copy.resize(padded(n) * tiles * kUnitTile / kUnitRows);
    for (int64_t k = 0; k < padded(n); k += kUnitRows)
      right_packer_.pack(first + k, std::clamp<int64_t>(n - k, 0, kUnitRows), my.space,
                         my.right + k / kUnitRows * tiles * kUnitTile);
  }

  // values[k * kTileColumns + j] = <picked row first + k, other row j>
  void multiply(int member, int64_t first, int64_t n, float* values) const {
    const Member& my = members_[member];
    const int64_t left_tiles = left_packer_.tiles_per_group() * kUnitTile / kUnitRows;
    const int64_t right_tiles = right_packer_.tiles_per_group() * kUnitTile / kUnitRows;
    const float scale = 1 / (plan_.factor * plan_.factor);
    unit_.begin();
    for (int64_t j = 0; j < my.n; j += kUnitBlock)
      for (int64_t k = 0; k < n; k += kUnitBlock)
        unit_.multiply(left_ + (first + k) * left_tiles, plan_.picked_terms,
                       my.right + j * right_tiles, plan_.other_terms, d_, scale,
                       values + k * kTileColumns + j, kTileColumns, std::min(kUnitBlock, n - k),
                       std::min(kUnitBlock, my.n - j));
    unit_.end();
  }

 private:
  // The unit takes two groups of 16 rows at a time.
  static int64_t padded(int64_t n) { return count_ranges(n, kUnitBlock) * kUnitBlock; }

  int64_t at_once(int64_t most) const {
    return std::clamp(most_copied_rows(d_) / kUnitBlock * kUnitBlock, kUnitBlock, most);
  }

  struct Member {
    int64_t n = 0;
    uint16_t* right = nullptr;
    AlignedArray<uint16_t> copy;
    AlignedArray<float> space;
  };
  const int64_t d_;
  const MatrixUnit& unit_;
  const UnitPlan plan_;
  const UnitPacker left_packer_, right_packer_;
  AlignedArray<uint16_t> left_copy_;
  uint16_t* left_ = nullptr;
  std::vector<Member> members_;
};

}  // namespace pegasos
