// Blocks of kernel steps for several problems in lockstep: they share the draws, hence each kernel row is
// read once for all of them. Problems are spread over threads while a block is decided, columns while its
// updates reach all scores; no result depends on the number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "pegasos/kernel_pass.hpp"

namespace pegasos {

struct KernelRun {
  Labels labels;
  KernelOptions options;
  const double* diagonal;  // K(x_i, x_i)
  int64_t n_rows;
  std::vector<KernelProblem> problems;
  double* mean_scores;  // per problem and row: scores of what the mean subtracts, or null
  double* mean_mass;    // and its coefficients
};

// Kernel rows in memory: row i of the data is row slot[i] of `values` (slot < 0: not there; null: row i).
template <class T>
struct StoredRows {
  const T* values;
  int64_t stride;
  const int64_t* slot;

  const T* at(int64_t i) const {
    const int64_t s = slot ? slot[i] : i;
    return s < 0 ? nullptr : values + s * stride;
  }
};

// Makes the steps of the draws, block by block, until a row is needed that is not stored. Returns the
// number of draws made.
template <class T>
int64_t kernel_steps(KernelRun& run, const StoredRows<T>& rows, const int64_t* draws,
                     int64_t n_draws, int64_t block, int n_threads);

// The decisions of one block. `gram` holds the kernel among its rows (n x n), or is null if all its rows are
// stored. Writes what the coefficients gained: delta[p, k] and, with a mean, mean_delta[p, k].
template <class T>
void kernel_decisions(KernelRun& run, const int64_t* block, int64_t n, const T* gram,
                      const StoredRows<T>& rows, double* delta, double* mean_delta, int n_threads);

// The next block of dual ascent: the drawn rows that may move for some problem, at most `most` of them.
// Returns how many draws were looked at; `block` gets the rows, `n` their number.
int64_t next_movers(const KernelRun& run, const int64_t* draws, int64_t n_draws, double slack,
                    int64_t most, int64_t* block, int64_t* n);

// scores[p, :] += sum_k coef[p, k] (stored row which[k])
template <class T>
void add_stored_rows(const StoredRows<T>& rows, const int64_t* which, int64_t n, int64_t n_columns,
                     const double* coef, int64_t n_problems, double* scores, int n_threads);

}  // namespace pegasos
