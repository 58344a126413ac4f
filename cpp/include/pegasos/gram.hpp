// Kernel values of vectors, made in tiles: inner products by the matrix unit, BLAS (dense) or panels (sparse), the kernel
// function applied while they are in cache. Tiles do not depend on the number of threads.
#pragma once

#include <cstdint>

#include "pegasos/kernel_function.hpp"
#include "pegasos/rows_view.hpp"

namespace pegasos {

// BLAS as Fortran has it. The caller sees to it that it runs on one thread: the tiles are ours to spread.
template <class T>
using Gemm = void (*)(char* trans_a, char* trans_b, int* m, int* n, int* k, T* alpha, T* a,
                      int* lda, T* b, int* ldb, T* beta, T* c, int* ldc);
void use_blas(Gemm<float> single, Gemm<double> twice);

// Some rows of a matrix and the squared norms of all of them (rbf).
struct GramSide {
  const RowsView& view;
  const double* squares;  // per row of the matrix
  const int64_t* which;   // n row numbers; null: the n rows that begin with row `first`
  int64_t n;
  int64_t first = 0;

  int64_t row(int64_t k) const { return which ? which[k] : first + k; }
};

struct GramOptions {
  KernelFunction kernel;
  bool
      same_matrix;  // both sides are of one matrix: an rbf kernel is then exactly 1 on the diagonal
  bool in_double;   // float32 norms so large that their differences need float64
  int n_threads;
  bool upper = false;  // both sides begin with the same row: no tiles before the diagonal
};

// rows[k][j] = K(picked row k, other row j); the rows are float32 or float64.
void kernel_rows(const GramSide& picked, const GramSide& others, const GramOptions&,
                 float* const* rows);
void kernel_rows(const GramSide& picked, const GramSide& others, const GramOptions&,
                 double* const* rows);

// Rows first .. last-1 of the kernel matrix of these rows with each other, from the diagonal on, and the same as
// columns: when all rows are done, in order, the matrix is. Half the products, and exactly symmetric. Row i
// begins at matrix + i * stride.
void kernel_matrix(const GramSide& all, const GramOptions&, int64_t first, int64_t last,
                   float* matrix, int64_t stride);
void kernel_matrix(const GramSide& all, const GramOptions&, int64_t first, int64_t last,
                   double* matrix, int64_t stride);

// scores[p, j] += sum_k coef[p, k] K(picked row k, other row j)
void kernel_scores(const GramSide& picked, const GramSide& others, const GramOptions&,
                   const double* coef, int64_t n_problems, double* scores);

// How many products of numbers the matrix unit makes for one kernel value of these rows; 0: it is not used.
int64_t unit_depth(const GramSide&, const GramOptions&);

void squared_norms(const RowsView&, double* squares, int n_threads);

}  // namespace pegasos
