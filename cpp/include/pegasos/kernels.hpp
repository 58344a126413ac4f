// The numeric kernels behind plain function pointers: compiled once per CPU level, chosen at run time.
#pragma once

#include "pegasos/passes.hpp"
#include "pegasos/pegasos_solver.hpp"
#include "pegasos/sdca_solver.hpp"
#include "pegasos/sgd_start.hpp"

namespace pegasos {

// Each works on one thread's share: a group of problems, or a range of rows.
struct Kernels {
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
                         double* sum);
  void (*add_dual_rows)(const RowsView&, const Labels&, RowRange, const Problem&, double* sum);
  double (*gain_sum)(const Labels&, LossName, RowRange, const double* mass);
  void (*score_rows)(const RowsView&, RowRange, const double* weights, int n_problems,
                     double* scores);
};

// The table in use: the highest level this CPU has, or the one that PEGASOS_CPU_LEVEL names.
// Throws std::runtime_error, with the remedy, for a level that is unknown or not to be had here.
const Kernels& kernels();

}  // namespace pegasos
