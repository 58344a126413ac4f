// Kernel values by a naive product in place of BLAS, and sums of kernel rows, in arrays of the right size.
#include "pegasos/gram.hpp"

#include <memory>
#include <stdexcept>

#include "kernels.hpp"
#include "pegasos/kernel_engine.hpp"
#include "pegasos/level_table.hpp"

namespace {

using namespace tests;
using pegasos::GramOptions;
using pegasos::GramSide;
using pegasos::StoredRows;

// --- Kernel values --------------------------------------------------------------------------------

// c = a^T b for columns a (m of them) and b (n), as BLAS has it; columns of c are ldc apart.
template <class T>
void naive_gemm(char* trans_a, char* trans_b, int* m, int* n, int* k, T* alpha, T* a, int* lda,
                T* b, int* ldb, T* beta, T* c, int* ldc) {
  if (*trans_a != 'T' || *trans_b != 'N' || *alpha != 1 || *beta != 0 || *lda < std::max(1, *k) ||
      *ldb < std::max(1, *k) || *ldc < *m)
    throw std::logic_error("not what this product is for");
  for (int j = 0; j < *n; ++j)
    for (int i = 0; i < *m; ++i) {
      T sum = 0;
      for (int f = 0; f < *k; ++f) sum += a[i * *lda + f] * b[j * *ldb + f];
      c[j * *ldc + i] = sum;
    }
}

bool is_single(RowsView::Kind kind) {
  return kind == RowsView::dense_f32 || kind == RowsView::csr_f32_i32 ||
         kind == RowsView::csr_f32_i64;
}

Doubles squares_of(const RowsView& view, int n_threads = 1) {
  Doubles squares(view.n_rows);
  pegasos::squared_norms(view, squares.data(), n_threads);
  return squares;
}

// Rows of kernel values, each in an array of its own.
template <class T>
std::vector<std::vector<T>> rows_of(const GramSide& picked, const GramSide& others,
                                    const GramOptions& options) {
  std::vector<std::vector<T>> rows(picked.n, std::vector<T>(others.n, T(-7)));
  std::vector<T*> targets;
  for (auto& row : rows) targets.push_back(row.data());
  pegasos::kernel_rows(picked, others, options, targets.data());
  return rows;
}

template <class T>
bool rows_are_right(const std::vector<std::vector<T>>& rows, const KernelFunction& kernel,
                    const Matrix& a, const GramSide& picked, const Matrix& b,
                    const GramSide& others, double tolerance) {
  for (int64_t k = 0; k < picked.n; ++k)
    for (int64_t j = 0; j < others.n; ++j) {
      const double expected = value(kernel, a, picked.row(k), b, others.row(j));
      const double found = static_cast<double>(rows[k][j]);
      if (!(std::fabs(found - expected) <= tolerance * (1 + std::fabs(expected)))) return false;
    }
  return true;
}

void kernel_values_need_a_product() {
  const Matrix matrix(2, 2, 1);
  const RowsView view = matrix.view(RowsView::csr_f64_i32, 0);
  const Doubles squares = squares_of(view);
  const GramSide side{view, squares.data(), nullptr, 2};
  std::string message;
  try {
    rows_of<double>(side, side, {kKernels[0], true, false, 1});
  } catch (const std::logic_error& error) {
    message = error.what();
  }
  CHECK(message == "use_blas must be called first", message);
}

void kernel_values_are_right_for_all_kinds_of_rows() {
  struct Size {
    int64_t n_picked, n_others, n_features;
  };
  for (const Size& size : {Size{1, 1, 1}, {1, 9, 0}, {17, 3, 5}, {5, 33, 16}, {16, 8, 7}})
    for (RowsView::Kind kind_a : kKinds)
      for (RowsView::Kind kind_b : kKinds) {
        const Matrix a(size.n_picked, size.n_features, 1), b(size.n_others, size.n_features, 2);
        const RowsView view_a = a.view(kind_a, 0), view_b = b.view(kind_b, 0);
        const Doubles squares_a = squares_of(view_a), squares_b = squares_of(view_b, 3);
        const GramSide picked{view_a, squares_a.data(), nullptr, size.n_picked};
        const GramSide others{view_b, squares_b.data(), nullptr, size.n_others};
        const std::string where = std::to_string(kind_a) + " x " + std::to_string(kind_b) + ", " +
                                  std::to_string(size.n_features) + " features";
        for (const KernelFunction& kernel : kKernels) {
          const bool single = is_single(kind_a) && is_single(kind_b);
          const auto rows = rows_of<double>(picked, others, {kernel, false, false, 1});
          CHECK(rows_are_right(rows, kernel, a, picked, b, others, single ? 1e-4 : 1e-12), where);
          const auto in_double = rows_of<double>(picked, others, {kernel, false, true, 2});
          CHECK(rows_are_right(in_double, kernel, a, picked, b, others, 1e-12), where);
          const auto narrow = rows_of<float>(picked, others, {kernel, false, false, 2});
          CHECK(rows_are_right(narrow, kernel, a, picked, b, others, 1e-4), where);
        }
      }
}

// Panels, tiles and what is left over; some rows, in any order, some twice.
void picked_rows_may_be_any_on_any_number_of_threads() {
  const Matrix matrix(270, 11, 5);
  for (RowsView::Kind kind : kKinds) {
    const RowsView view = matrix.view(kind, 0);
    const Doubles squares = squares_of(view);
    const Draws which = random_draws(270, 259, 6), few = random_draws(270, 21, 7);
    for (const GramSide& others : {GramSide{view, squares.data(), nullptr, 270},
                                   GramSide{view, squares.data(), which.data(), 259}}) {
      const GramSide picked{view, squares.data(), few.data(), 21};
      const KernelFunction& rbf = kKernels[3];
      const auto one = rows_of<float>(picked, others, {rbf, true, false, 1});
      CHECK(rows_are_right(one, rbf, matrix, picked, matrix, others, 1e-5), std::to_string(kind));
      bool ones = true;
      for (int64_t k = 0; k < 21; ++k)
        for (int64_t j = 0; j < others.n; ++j)
          ones = ones && (others.row(j) != few[k] || one[k][j] == 1);
      CHECK(ones, "a row with itself, " + std::to_string(kind));
      for (int n_threads : {2, 3, 5})
        CHECK(one == rows_of<float>(picked, others, {rbf, true, false, n_threads}), "threads");
    }
  }
}

void scores_are_sums_of_kernel_values() {
  for (RowsView::Kind kind : kKinds) {
    const Matrix a(270, 5, 8), b(261, 5, 9);
    const RowsView view_a = a.view(kind, 0), view_b = b.view(kind, 0);
    const Doubles squares_a = squares_of(view_a), squares_b = squares_of(view_b);
    const GramSide picked{view_a, squares_a.data(), nullptr, 270};
    const GramSide others{view_b, squares_b.data(), nullptr, 261};
    Doubles coef(2 * 270), expected(2 * 261, 1.0);
    for (size_t k = 0; k < coef.size(); ++k) coef[k] = std::sin(static_cast<double>(k));
    for (int64_t k = 0; k < 270; ++k)
      for (int64_t j = 0; j < 261; ++j) {
        const double K = value(kKernels[3], a, k, b, j);
        for (int p = 0; p < 2; ++p) expected[p * 261 + j] += coef[p * 270 + k] * K;
      }
    Doubles first;
    for (int n_threads : {1, 2, 4}) {
      Doubles scores(2 * 261, 1.0);
      pegasos::kernel_scores(picked, others, {kKernels[3], false, false, n_threads}, coef.data(), 2,
                             scores.data());
      CHECK(close(expected, scores, is_single(kind) ? 1e-4 : 1e-11), std::to_string(kind));
      if (n_threads == 1) first = scores;
      CHECK(scores == first, "threads, " + std::to_string(kind));
    }
  }
}

template <class T, class Apply>
void kernel_values_are_right_in_every_lane(Apply apply, double tolerance) {
  for (int64_t n = 0; n <= 33; ++n)
    for (const KernelFunction& kernel : kKernels) {
      std::vector<T> values, squares;
      for (int64_t j = 0; j < n; ++j) {
        values.push_back(static_cast<T>(j) / 8 - 2);
        squares.push_back(static_cast<T>(j * j % 7) + 5);
      }
      values.shrink_to_fit();
      squares.shrink_to_fit();
      const std::vector<T> products = values;
      apply(kernel, T(5), squares.data(), values.data(), n);
      double worst = 0;
      for (int64_t j = 0; j < n; ++j) {
        const double x = products[j];
        double expected = x + kernel.coef0;
        if (kernel.kind == KernelFunction::poly)
          expected = std::pow(kernel.gamma * x + kernel.coef0, static_cast<double>(kernel.degree));
        if (kernel.kind == KernelFunction::rbf)
          expected = std::exp(-kernel.gamma * std::max(0.0, 5 + squares[j] - 2 * x)) + kernel.coef0;
        worst = std::max(worst, std::fabs(values[j] - expected) / (1 + std::fabs(expected)));
      }
      CHECK(worst <= tolerance, std::to_string(n) + " values, kind " + std::to_string(kernel.kind));
    }
}

// --- Sums of rows ---------------------------------------------------------------------------------

template <class T, class Add>
void rows_are_added_in_every_range(Add add) {
  for (int64_t n : {0, 1, 3, 4, 5, 8, 9, 13})
    for (int64_t first : {0, 1, 6})
      for (int64_t width : {0, 1, 3, 4, 7, 8, 9, 17}) {
        const int64_t last = first + width;
        std::vector<std::vector<T>> rows;
        std::vector<const T*> pointers;
        Doubles coef, scores(last, 0.5), expected(scores);
        for (int64_t v = 0; v < n; ++v) {
          rows.emplace_back();
          for (int64_t j = 0; j < last; ++j)
            rows.back().push_back(static_cast<T>((v * 31 + j * 17) % 23) / 4);
          rows.back().shrink_to_fit();
          coef.push_back(static_cast<double>(v % 5) - 1.5);
          for (int64_t j = first; j < last; ++j) expected[j] += coef[v] * rows[v][j];
        }
        for (const auto& row : rows) pointers.push_back(row.data());
        coef.shrink_to_fit();
        add(pointers.data(), coef.data(), n, first, last, scores.data());
        CHECK(scores == expected, std::to_string(n) + " rows");  // small numbers: no rounding
      }
}

template <class T>
void stored_rows_are_added_for_each_problem() {
  const int64_t n_columns = 1033;  // two tiles
  for (int64_t n : {0, 1, 63, 64, 65, 131})
    for (int64_t n_problems : {1, 3}) {
      std::vector<T> values(140 * n_columns);
      for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<T>(k % 29) / 8;
      Draws slot(n_columns, -1), which;
      for (int64_t k = 0; k < n; ++k) {
        slot[7 * k] = 139 - k;
        which.push_back(7 * k);
      }
      Doubles coef(n_problems * n), start(n_problems * n_columns, 2.0);
      for (size_t k = 0; k < coef.size(); ++k) coef[k] = static_cast<double>(k % 4);
      Doubles expected = start;
      for (int64_t p = 0; p < n_problems; ++p)
        for (int64_t k = 0; k < n; ++k)
          for (int64_t j = 0; j < n_columns; ++j)
            expected[p * n_columns + j] +=
                coef[p * n + k] * static_cast<double>(values[(139 - k) * n_columns + j]);
      for (int n_threads = 1; n_threads <= 5; ++n_threads) {
        Doubles scores = start;
        const StoredRows<T> rows{values.data(), n_columns, slot.data()};
        pegasos::add_stored_rows(rows, which.data(), n, n_columns, coef.data(), n_problems,
                                 scores.data(), n_threads);
        CHECK(scores == expected, std::to_string(n) + " rows");
      }
    }
}

}  // namespace

void tests::gram_tests() {
  const pegasos::LevelTable& level = pegasos::level_table();
  kernel_values_need_a_product();
  pegasos::use_blas(&naive_gemm<float>, &naive_gemm<double>);
  kernel_values_are_right_in_every_lane<float>(level.kernel_values_f32, 1e-5);
  kernel_values_are_right_in_every_lane<double>(level.kernel_values_f64, 1e-13);
  kernel_values_are_right_for_all_kinds_of_rows();
  picked_rows_may_be_any_on_any_number_of_threads();
  scores_are_sums_of_kernel_values();
  rows_are_added_in_every_range<float>(level.add_rows_f32);
  rows_are_added_in_every_range<double>(level.add_rows_f64);
  stored_rows_are_added_for_each_problem<float>();
  stored_rows_are_added_for_each_problem<double>();
}
