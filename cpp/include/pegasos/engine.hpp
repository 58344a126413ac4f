// What Python calls: the functions of the level, spread over threads. Problems go to threads in groups, rows in fixed
// ranges whose sums are added in order; so no result depends on the number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "pegasos/level_table.hpp"

namespace pegasos {

struct Data {
  RowsView rows;
  Labels labels;
};

void pegasos_steps(const Data&, LossName, const PegasosOptions&, const int64_t* draws,
                   int64_t n_draws, std::vector<Problem>&, int n_threads);
void sgd_start_steps(const Data&, LossName, const StartOptions&, const int64_t* draws,
                     int64_t n_draws, std::vector<Problem>&, int n_threads);
void sdca_steps(const Data&, LossName, const SdcaOptions&, const int64_t* draws, int64_t n_draws,
                std::vector<Problem>&, int n_threads);
void perceptron_steps(const Data&, const int64_t* draws, int64_t n_draws, std::vector<Problem>&,
                      int n_threads);

// Per problem: sum_i s_i loss_i. Not finite if a row is not.
void loss_sums(const Data&, LossName, const std::vector<Problem>&, int n_threads, double* sums);

// Per problem: masses guessed from the margins by a ramp of this width (written), the sum of their rows, the
// loss sum.
void guess_masses(const Data&, LossName, double width, std::vector<Problem>&, int n_threads,
                  double* dual_rows, double* sums);

// Per problem: newton_length() sums, for a step of Newton's method at its weights.
void newton_terms(const Data&, LossName, double width, bool curvature, const std::vector<Problem>&,
                  int n_threads, double* terms);

// Per problem: kLineSteps sums, along the steps (n_problems x (n_features + 1)).
void line_slopes(const Data&, LossName, double width, const double* steps,
                 const std::vector<Problem>&, int n_threads, double* slopes);

// Turns `right` into the solution, see newton.hpp. Returns false if there is none.
bool solve_newton(double* matrix, double ridge, double* right, int64_t n);

// Per problem: the sum of the rows of the masses held (n_problems x (n_features + 1)).
void dual_rows(const Data&, const std::vector<Problem>&, int n_threads, double* dual_rows);

// Per problem: sum_i s_i gain(b_i).
void gain_sums(const Data&, LossName, const std::vector<Problem>&, int n_threads, double* sums);

void scores(const RowsView&, const double* weights, int n_problems, int n_threads, double* scores);

// What is wrong with a CSR matrix, before anything trusts it.
CsrFault csr_fault(const RowsView&, int64_t n_entries, int n_threads);

}  // namespace pegasos
