#include "pegasos/gram.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "pegasos/level_table.hpp"
#include "pegasos/ranges.hpp"
#include "pegasos/team.hpp"

namespace pegasos {
namespace {

Gemm<float> gemm_f32 = nullptr;
Gemm<double> gemm_f64 = nullptr;

// The values of a tile stay in the L2 cache between the product and the kernel function.
constexpr int64_t kTileRows = 256, kTileColumns = 256;
constexpr size_t kLineBytes = 64;
constexpr int64_t kMostCopied = int64_t{1}
                                << 23;  // values in copies of rows, but never less than one row

bool is_dense(const RowsView& view) {
  return view.kind == RowsView::dense_f32 || view.kind == RowsView::dense_f64;
}
bool is_double(const RowsView& view) {
  return view.kind == RowsView::dense_f64 || view.kind == RowsView::csr_f64_i32 ||
         view.kind == RowsView::csr_f64_i64;
}

template <class C, class T>
void spread_dense(const RowsView& view, int64_t i, C* to, int64_t step) {
  const T* x = static_cast<const T*>(view.values) + i * view.n_features;
  for (int64_t j = 0; j < view.n_features; ++j) to[j * step] = static_cast<C>(x[j]);
}

template <class C, class T, class Index>
void spread_csr(const RowsView& view, int64_t i, C* to, int64_t step) {
  const Index* start = static_cast<const Index*>(view.indptr);
  const Index* column = static_cast<const Index*>(view.indices);
  const T* x = static_cast<const T*>(view.values);
  for (Index k = start[i]; k < start[i + 1]; ++k) to[column[k] * step] = static_cast<C>(x[k]);
}

// Row i written out in full, its features `step` apart; where it is sparse, over zeros.
template <class C>
void spread(const RowsView& view, int64_t i, C* to, int64_t step) {
  switch (view.kind) {
    case RowsView::dense_f32: return spread_dense<C, float>(view, i, to, step);
    case RowsView::dense_f64: return spread_dense<C, double>(view, i, to, step);
    case RowsView::csr_f32_i32: return spread_csr<C, float, int32_t>(view, i, to, step);
    case RowsView::csr_f32_i64: return spread_csr<C, float, int64_t>(view, i, to, step);
    case RowsView::csr_f64_i32: return spread_csr<C, double, int32_t>(view, i, to, step);
    case RowsView::csr_f64_i64: return spread_csr<C, double, int64_t>(view, i, to, step);
  }
}

template <class C>
void gemm(int64_t m, int64_t n, int64_t k, const C* a, const C* b, C* c, int64_t ldc) {
  char yes = 'T', no = 'N';
  int rows = static_cast<int>(m), columns = static_cast<int>(n), depth = static_cast<int>(k);
  int stride = static_cast<int>(ldc), features = std::max(depth, 1);
  C one = 1, zero = 0;
  C *first = const_cast<C*>(a), *second = const_cast<C*>(b);
  if constexpr (std::is_same_v<C, float>)
    gemm_f32(&yes, &no, &rows, &columns, &depth, &one, first, &features, second, &features, &zero,
             c, &stride);
  else
    gemm_f64(&yes, &no, &rows, &columns, &depth, &one, first, &features, second, &features, &zero,
             c, &stride);
}

// One thread's part: a tile of values and copies of what goes into it.
template <class C>
struct Scratch {
  std::vector<C> values, others, squares;
};

// Makes the tiles of kernel values in the precision C and hands them to use(tile).
template <class C>
class Tiles {
 public:
  struct Tile {
    const C* values;  // row k of the tile begins at values + k * kTileColumns
    int64_t first_picked, n_picked, first_other, n_others;
  };

  Tiles(const GramSide& picked, const GramSide& others, const GramOptions& options)
      : picked_(picked),
        others_(others),
        options_(options),
        level_(level_table()),
        d_(others.view.n_features),
        dense_(is_dense(others.view)),
        in_place_(dense_ && !others.which && is_double(others.view) == std::is_same_v<C, double>) {
    const int64_t rows_at_once = std::max<int64_t>(1, kMostCopied / std::max<int64_t>(d_, 1));
    picked_at_once_ = std::min(kTileRows, rows_at_once);
    if (!dense_) picked_at_once_ = kPanelRows<C> * panels_at_once();
    others_at_once_ = in_place_ || !dense_ ? kTileColumns : std::min(kTileColumns, rows_at_once);
  }

  // Tiles with the same other rows go to use() on one thread, in the order of the picked rows.
  template <class Use>
  void make(Use use) {
    Team team(options_.n_threads);
    std::vector<Scratch<C>> scratch(team.size());
    for (Scratch<C>& part : scratch) {
      part.values.resize(kTileRows * kTileColumns);
      part.squares.resize(kTileColumns);
      if (dense_ && !in_place_) part.others.resize(others_at_once_ * d_);
    }
    const int64_t n_tiles = count_ranges(others_.n, others_at_once_);
    for (int64_t first = 0; first < picked_.n; first += picked_at_once_) {
      const int64_t n_picked = std::min(picked_at_once_, picked_.n - first);
      copy_picked(first, n_picked, team);
      const int64_t skipped = options_.upper ? first / others_at_once_ : 0;
      team.run(n_tiles - skipped, [&](int64_t k, int member) {
        const RowRange range = range_at(skipped + k, others_.n, others_at_once_);
        const Tile tile{scratch[member].values.data(), first, n_picked, range.first,
                        range.last - range.first};
        fill(tile, scratch[member]);
        use(tile);
      });
    }
  }

 private:
  // Panels are read at random: together they must fit the L2 cache, or there is only one.
  int64_t panels_at_once() const {
    constexpr int64_t kCache = 1 << 18;
    const int64_t panel =
        std::max<int64_t>(1, d_) * kPanelRows<C> * static_cast<int64_t>(sizeof(C));
    return std::clamp<int64_t>(kCache / panel, 1, kTileRows / kPanelRows<C>);
  }

  // Dense: row after row, for BLAS. Sparse: panels of some rows, feature after feature.
  void copy_picked(int64_t first, int64_t n, Team& team) {
    constexpr int64_t step = kPanelRows<C>;
    const int64_t rows = dense_ ? n : count_ranges(n, step) * step;
    copy_ = aligned_zeros(rows * d_);
    team.run(n, [&](int64_t k, int) {
      const int64_t i = picked_.row(first + k);
      if (dense_)
        spread(picked_.view, i, copy_ + k * d_, 1);
      else
        spread(picked_.view, i, copy_ + k / step * step * d_ + k % step, step);
    });
  }

  // Panels are read a whole line of the cache at a time.
  C* aligned_zeros(int64_t n) {
    space_.assign(n + kLineBytes / sizeof(C), C(0));
    void* first = space_.data();
    size_t bytes = space_.size() * sizeof(C);
    return static_cast<C*>(std::align(kLineBytes, n * sizeof(C), first, bytes));
  }

  void fill(const Tile& tile, Scratch<C>& scratch) {
    C* values = scratch.values.data();
    if (dense_)
      gemm(tile.n_others, tile.n_picked, d_, dense_others(tile, scratch), copy_, values,
           kTileColumns);
    else
      for (int64_t k = 0; k < tile.n_picked; k += kPanelRows<C>)
        panel(tile, copy_ + k * d_, values + k * kTileColumns);
    for (int64_t j = 0; j < tile.n_others; ++j)
      scratch.squares[j] = static_cast<C>(others_.squares[others_.row(tile.first_other + j)]);
    for (int64_t k = 0; k < tile.n_picked; ++k) {
      const int64_t i = picked_.row(tile.first_picked + k);
      C* row = values + k * kTileColumns;
      apply(static_cast<C>(picked_.squares[i]), scratch.squares.data(), row, tile.n_others);
      if (options_.same_matrix && options_.kernel.kind == KernelFunction::rbf)
        set_diagonal(tile, i, row);
    }
  }

  // What rounding has left of the distance of a row to itself does not count.
  void set_diagonal(const Tile& tile, int64_t i, C* row) const {
    if (!others_.which) {
      const int64_t j = i - others_.row(tile.first_other);
      if (j >= 0 && j < tile.n_others) row[j] = 1;
      return;
    }
    for (int64_t j = 0; j < tile.n_others; ++j)
      if (others_.which[tile.first_other + j] == i) row[j] = 1;
  }

  const C* dense_others(const Tile& tile, Scratch<C>& scratch) const {
    if (in_place_)
      return static_cast<const C*>(others_.view.values) + others_.row(tile.first_other) * d_;
    std::fill(scratch.others.begin(), scratch.others.end(), C(0));
    for (int64_t j = 0; j < tile.n_others; ++j)
      spread(others_.view, others_.row(tile.first_other + j), scratch.others.data() + j * d_, 1);
    return scratch.others.data();
  }

  void panel(const Tile& tile, const C* panel, C* values) const {
    const int64_t first = tile.first_other + (others_.which ? 0 : others_.first);
    if constexpr (std::is_same_v<C, float>)
      level_.panel_products_f32(others_.view, others_.which, first, tile.n_others, panel, values,
                                kTileColumns);
    else
      level_.panel_products_f64(others_.view, others_.which, first, tile.n_others, panel, values,
                                kTileColumns);
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
  int64_t d_;
  bool dense_, in_place_;
  int64_t picked_at_once_, others_at_once_;
  std::vector<C> space_;
  C* copy_ = nullptr;  // of the picked rows, in that space
};

// In float32 only where all data is, and the caller has not asked for more.
template <class Use>
void with_tiles(const GramSide& picked, const GramSide& others, const GramOptions& options,
                Use use) {
  if (!gemm_f32 || !gemm_f64) throw std::logic_error("use_blas must be called first");
  if (options.in_double || is_double(picked.view) || is_double(others.view))
    Tiles<double>(picked, others, options).make(use);
  else
    Tiles<float>(picked, others, options).make(use);
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
    for (int64_t k = 0; k < tile.n_picked; ++k) rows[k] = tile.values + k * kTileColumns;
    for (int64_t p = 0; p < n_problems; ++p) {
      const double* c = coef + p * picked.n + tile.first_picked;
      double* to = scores + p * others.n + tile.first_other;
      if constexpr (std::is_same_v<C, float>)
        level.add_rows_f32(rows, c, tile.n_picked, 0, tile.n_others, to);
      else
        level.add_rows_f64(rows, c, tile.n_picked, 0, tile.n_others, to);
    }
  });
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
