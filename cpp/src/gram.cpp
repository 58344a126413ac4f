#include "pegasos/gram.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "pegasos/blas_products.hpp"
#include "pegasos/level_table.hpp"
#include "pegasos/panel_tiles.hpp"
#include "pegasos/ranges.hpp"
#include "pegasos/team.hpp"
#include "pegasos/unit_plan.hpp"
#include "pegasos/unit_products.hpp"

namespace pegasos {
namespace {

Gemm<float> gemm_f32 = nullptr;
Gemm<double> gemm_f64 = nullptr;

// Makes the tiles of kernel values in the precision C and hands them to use(tile). Products: how inner products
// are made; their picked rows are copied some at a time, the others tile by tile.
template <class C, class Products>
class Tiles {
 public:
  struct Tile {
    const C* values;  // row k of the tile begins at values + k * kTileColumns
    int64_t first_picked, n_picked, first_other, n_others;
  };

  Tiles(const GramSide& picked, const GramSide& others, const GramOptions& options, Team& team,
        Products& products)
      : picked_(picked),
        others_(others),
        options_(options),
        level_(level_table()),
        team_(team),
        products_(products) {}

  // Tiles with the same other rows go to use() on one thread, in the order of the picked rows.
  template <class Use>
  void make(Use use) {
    std::vector<Scratch> scratch(team_.size());
    for (Scratch& part : scratch) {
      part.values.resize(kTileRows * kTileColumns);
      part.squares.resize(kTileColumns);
    }
    const int64_t picked_at_once = products_.picked_at_once();
    const int64_t others_at_once = products_.others_at_once();
    const int64_t n_tiles = count_ranges(others_.n, others_at_once);
    for (int64_t first = 0; first < picked_.n; first += picked_at_once) {
      const RowRange picked{first, std::min(picked_.n, first + picked_at_once)};
      products_.pick(picked.first, picked.last - picked.first, team_);
      const int64_t skipped = options_.upper ? first / others_at_once : 0;
      team_.run(n_tiles - skipped, [&](int64_t k, int member) {
        const RowRange others = range_at(skipped + k, others_.n, others_at_once);
        make_column(picked, others, member, scratch[member], use);
      });
    }
  }

 private:
  // One thread's part: a tile of values, the squared norms of its other rows, and between which numbers these are.
  struct Scratch {
    std::vector<C> values, squares;
    int64_t least, most;
  };

  template <class Use>
  void make_column(RowRange picked, RowRange others, int member, Scratch& scratch, Use& use) {
    const int64_t n_others = others.last - others.first;
    products_.take(member, others.first, n_others);
    scratch.least = scratch.most = others_.row(others.first);
    for (int64_t j = 0; j < n_others; ++j) {
      const int64_t i = others_.row(others.first + j);
      scratch.squares[j] = static_cast<C>(others_.squares[i]);
      scratch.least = std::min(scratch.least, i);
      scratch.most = std::max(scratch.most, i);
    }
    for (int64_t first = picked.first; first < picked.last; first += kTileRows) {
      if (options_.upper && others.last <= first) return;
      const Tile tile{scratch.values.data(), first, std::min(kTileRows, picked.last - first),
                      others.first, n_others};
      products_.multiply(member, first - picked.first, tile.n_picked, scratch.values.data());
      apply_kernel(tile, scratch);
      use(tile);
    }
  }

  void apply_kernel(const Tile& tile, Scratch& scratch) const {
    for (int64_t k = 0; k < tile.n_picked; ++k) {
      const int64_t i = picked_.row(tile.first_picked + k);
      C* row = scratch.values.data() + k * kTileColumns;
      apply(static_cast<C>(picked_.squares[i]), scratch.squares.data(), row, tile.n_others);
      if (options_.same_matrix && options_.kernel.kind == KernelFunction::rbf &&
          scratch.least <= i && i <= scratch.most)
        set_diagonal(tile, i, row);
    }
  }

  // What rounding has left of the distance of a row to itself does not count.
  void set_diagonal(const Tile& tile, int64_t i, C* row) const {
    const C itself = 1 + static_cast<C>(options_.kernel.coef0);
    if (!others_.which) {
      row[i - others_.row(tile.first_other)] = itself;
      return;
    }
    for (int64_t j = 0; j < tile.n_others; ++j)
      if (others_.which[tile.first_other + j] == i) row[j] = itself;
  }

  void apply(C square, const C* squares, C* row, int64_t n) const {
    if constexpr (std::is_same_v<C, float>)
      level_.kernel_values_f32(options_.kernel, square, squares, row, n);
    else
      level_.kernel_values_f64(options_.kernel, square, squares, row, n);
  }

  const GramSide& picked_;
  const GramSide& others_;
  const GramOptions& options_;
  const LevelTable& level_;
  Team& team_;
  Products& products_;
};

template <class C, class Products, class Use>
void make_tiles(const GramSide& picked, const GramSide& others, const GramOptions& options,
                Team& team, Products products, Use& use) {
  Tiles<C, Products>(picked, others, options, team, products).make(use);
}

template <class C, class Use>
void with_tiles_in(const GramSide& picked, const GramSide& others, const GramOptions& options,
                   Gemm<C> gemm, Use& use) {
  const LevelTable& level = level_table();
  Team team(options.n_threads);
  if constexpr (std::is_same_v<C, float>)
    if (const std::optional<UnitPlan> plan = unit_plan(picked, others, options.kernel, level))
      return make_tiles<C>(picked, others, options, team,
                           UnitProducts(picked, others, *level.unit, *plan, team.size()), use);
  if (is_dense(others.view))
    make_tiles<C>(picked, others, options, team, BlasProducts<C>(picked, others, gemm, team.size()),
                  use);
  else
    make_tiles<C>(picked, others, options, team, PanelTiles<C>(picked, others, level, team.size()),
                  use);
}

// In float32 only where all data is, and the caller has not asked for more.
template <class Use>
void with_tiles(const GramSide& picked, const GramSide& others, const GramOptions& options,
                Use use) {
  if (!gemm_f32 || !gemm_f64) throw std::logic_error("use_blas must be called first");
  if (options.in_double || is_double(picked.view) || is_double(others.view))
    with_tiles_in<double>(picked, others, options, gemm_f64, use);
  else
    with_tiles_in<float>(picked, others, options, gemm_f32, use);
}

// Values made in float64 may be stored in float32: they must be fit for it.
template <class T>
GramOptions stored_in(GramOptions options) {
  options.kernel.smallest_exponent = kSmallestExponent<T>;
  return options;
}

GramSide part_of(const GramSide& side, int64_t first, int64_t last) {
  return {side.view, side.squares, side.which ? side.which + first : nullptr, last - first,
          side.first + first};
}

template <class T>
void store_rows(const GramSide& picked, const GramSide& others, const GramOptions& options,
                T* const* rows) {
  with_tiles(picked, others, stored_in<T>(options), [&](const auto& tile) {
    for (int64_t k = 0; k < tile.n_picked; ++k) {
      const auto* values = tile.values + k * kTileColumns;
      std::copy(values, values + tile.n_others, rows[tile.first_picked + k] + tile.first_other);
    }
  });
}

// to[j][k] = values[k][j], in squares that are copied line by line: either side is far apart in memory.
template <class C, class T>
void store_transposed(const C* values, int64_t n_rows, int64_t n_columns, T* to, int64_t stride) {
  constexpr int64_t kSide = 16;
  for (int64_t k0 = 0; k0 < n_rows; k0 += kSide)
    for (int64_t j0 = 0; j0 < n_columns; j0 += kSide) {
      T square[kSide][kSide];
      const int64_t height = std::min(kSide, n_rows - k0), width = std::min(kSide, n_columns - j0);
      for (int64_t k = 0; k < height; ++k)
        for (int64_t j = 0; j < width; ++j)
          square[j][k] = static_cast<T>(values[(k0 + k) * kTileColumns + j0 + j]);
      for (int64_t j = 0; j < width; ++j)
        std::copy(square[j], square[j] + height, to + (j0 + j) * stride + k0);
    }
}

// The part of a tile to the right of the diagonal, and its mirror image.
template <class C, class T>
void store_upper(const C* values, int64_t n_rows, int64_t n_columns, int64_t row, int64_t column,
                 T* matrix, int64_t stride) {
  for (int64_t k = 0; k < n_rows; ++k)
    for (int64_t j = std::max<int64_t>(0, row + k - column); j < n_columns; ++j)
      matrix[(row + k) * stride + column + j] = matrix[(column + j) * stride + row + k] =
          static_cast<T>(values[k * kTileColumns + j]);
}

template <class T>
void store_symmetric(const GramSide& all, GramOptions options, int64_t first, int64_t last,
                     T* matrix, int64_t stride) {
  const GramSide picked = part_of(all, first, last), others = part_of(all, first, all.n);
  options.upper = true;
  with_tiles(picked, others, stored_in<T>(options), [=](const auto& tile) {
    const int64_t row = first + tile.first_picked, column = first + tile.first_other;
    if (column < row + tile.n_picked)
      return store_upper(tile.values, tile.n_picked, tile.n_others, row, column, matrix, stride);
    for (int64_t k = 0; k < tile.n_picked; ++k)
      std::copy(tile.values + k * kTileColumns, tile.values + k * kTileColumns + tile.n_others,
                matrix + (row + k) * stride + column);
    store_transposed(tile.values, tile.n_picked, tile.n_others, matrix + column * stride + row,
                     stride);
  });
}

}  // namespace

void use_blas(Gemm<float> single, Gemm<double> twice) {
  gemm_f32 = single;
  gemm_f64 = twice;
}

void kernel_rows(const GramSide& picked, const GramSide& others, const GramOptions& options,
                 float* const* rows) {
  store_rows(picked, others, options, rows);
}

void kernel_rows(const GramSide& picked, const GramSide& others, const GramOptions& options,
                 double* const* rows) {
  store_rows(picked, others, options, rows);
}

void kernel_matrix(const GramSide& all, const GramOptions& options, int64_t first, int64_t last,
                   float* matrix, int64_t stride) {
  store_symmetric(all, options, first, last, matrix, stride);
}

void kernel_matrix(const GramSide& all, const GramOptions& options, int64_t first, int64_t last,
                   double* matrix, int64_t stride) {
  store_symmetric(all, options, first, last, matrix, stride);
}

void kernel_scores(const GramSide& picked, const GramSide& others, const GramOptions& options,
                   const double* coef, int64_t n_problems, double* scores) {
  const LevelTable& level = level_table();
  with_tiles(picked, others, options, [&](const auto& tile) {
    using C = std::decay_t<decltype(*tile.values)>;
    const C* rows[kTileRows];
    double used[kTileRows];
    for (int64_t p = 0; p < n_problems; ++p) {
      const double* c = coef + p * picked.n + tile.first_picked;
      int64_t n = 0;
      for (int64_t k = 0; k < tile.n_picked; ++k) {
        if (c[k] == 0) continue;  // of several problems, few need the same row
        rows[n] = tile.values + k * kTileColumns;
        used[n++] = c[k];
      }
      double* to = scores + p * others.n + tile.first_other;
      if constexpr (std::is_same_v<C, float>)
        level.add_rows_f32(rows, used, n, 0, tile.n_others, to);
      else
        level.add_rows_f64(rows, used, n, 0, tile.n_others, to);
    }
  });
}

int64_t unit_depth(const GramSide& side, const GramOptions& options) {
  if (options.in_double || is_double(side.view)) return 0;
  const std::optional<UnitPlan> plan = unit_plan(side, side, options.kernel, level_table());
  if (!plan) return 0;
  return count_unit_products(plan->picked_terms, plan->other_terms) *
         count_ranges(side.view.n_features, kUnitDepth) * kUnitDepth;
}

void squared_norms(const RowsView& view, double* squares, int n_threads) {
  const LevelTable& level = level_table();
  Team team(n_threads);
  team.run(count_ranges(view.n_rows, kRowsPerRange), [&](int64_t k, int) {
    const RowRange range = range_at(k, view.n_rows, kRowsPerRange);
    level.squared_norms(view, range, squares);
  });
}

}  // namespace pegasos
