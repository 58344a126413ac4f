// The numeric functions behind plain function pointers: compiled once per CPU level, chosen at run time.
#pragma once

#include "pegasos/add_rows.hpp"
#include "pegasos/csr_columns.hpp"
#include "pegasos/kernel_function.hpp"
#include "pegasos/kernel_pass.hpp"
#include "pegasos/matrix_unit.hpp"
#include "pegasos/newton.hpp"
#include "pegasos/passes.hpp"
#include "pegasos/pegasos_solver.hpp"
#include "pegasos/sdca_solver.hpp"
#include "pegasos/sgd_start.hpp"
#include "pegasos/sparse_panel.hpp"

namespace pegasos {

// Each works on one thread's share: a group of problems, or a range of rows.
struct LevelTable {
  const char* level;
  void (*pegasos)(const RowsView&, const Labels&, LossName, const PegasosOptions&,
                  const int64_t* draws, int64_t n_draws, Problem*, int n_problems, double* slopes,
                  bool reader);
  void (*sgd_start)(const RowsView&, const Labels&, LossName, const StartOptions&,
                    const int64_t* draws, int64_t n_draws, Problem*, int n_problems, bool reader);
  void (*sdca)(const RowsView&, const Labels&, LossName, const SdcaOptions&, const int64_t* draws,
               int64_t n_draws, Problem&, int64_t* awake, bool reader);
  void (*perceptron)(const RowsView&, const Labels&, const int64_t* draws, int64_t n_draws,
                     Problem*, int n_problems, bool reader);
  double (*square_sum)(const RowsView&, const int64_t* rows, int64_t n_rows);
  int64_t (*nonzero_sum)(const RowsView&, const int64_t* rows, int64_t n_rows);
  double (*loss_sum)(const RowsView&, const Labels&, LossName, RowRange, const Problem&);
  double (*guess_masses)(const RowsView&, const Labels&, LossName, RowRange, const Problem&,
                         double width, double* sum);
  void (*newton_terms)(const RowsView&, const Labels&, LossName, RowRange, const Problem&,
                       double width, bool curvature, double* terms);
  void (*line_slopes)(const RowsView&, const Labels&, LossName, RowRange, const Problem&,
                      const double* step, double width, double* slopes);
  bool (*solve_newton)(double* matrix, double ridge, double* right, int64_t n);
  void (*add_dual_rows)(const RowsView&, const Labels&, RowRange, const Problem&, double* sum);
  double (*gain_sum)(const Labels&, LossName, RowRange, const double* mass);
  void (*score_rows)(const RowsView&, RowRange, const double* weights, int n_problems,
                     double* scores);
  void (*squared_norms)(const RowsView&, RowRange, double* squares);
  CsrFault (*column_fault)(const RowsView&, RowRange);

  // Kernel machines: float32 and float64 kernel rows.
  void (*kernel_values_f32)(const KernelFunction&, float square, const float* squares,
                            float* values, int64_t n);
  void (*kernel_values_f64)(const KernelFunction&, double square, const double* squares,
                            double* values, int64_t n);
  void (*panel_products_f32)(const RowsView&, const int64_t* which, int64_t first, int64_t n,
                             const float* panel, float* products, int64_t stride);
  void (*panel_products_f64)(const RowsView&, const int64_t* which, int64_t first, int64_t n,
                             const double* panel, double* products, int64_t stride);
  void (*add_rows_f32)(const float* const* rows, const double* coef, int64_t n, int64_t first,
                       int64_t last, double* scores);
  void (*add_rows_f64)(const double* const* rows, const double* coef, int64_t n, int64_t first,
                       int64_t last, double* scores);
  void (*kernel_block_f32)(const Labels&, const KernelOptions&, const LocalGram<float>&,
                           const double* diagonal, KernelProblem&);
  void (*kernel_block_f64)(const Labels&, const KernelOptions&, const LocalGram<double>&,
                           const double* diagonal, KernelProblem&);
  const MatrixUnit* unit;  // null: there is none
};

// The table in use: the highest level this CPU has, or the one that PEGASOS_CPU_LEVEL names.
// Throws std::runtime_error, with the remedy, for a level that is unknown or not to be had here.
const LevelTable& level_table();

}  // namespace pegasos
