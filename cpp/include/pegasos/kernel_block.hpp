// A block of kernel steps: a few rows, their scores, the kernel among them.
//
// Scores of all rows are kept, f_j = sum_i coef_i K(x_i, x_j), so a draw costs one comparison. Within a block
// only the scores of its own rows must follow each update at once; all others get the sum of the updates
// afterwards (add_rows). The decisions are those of the published loop, draw for draw.
#pragma once

#include <cstdint>

#include "pegasos/losses.hpp"
#include "pegasos/problem.hpp"

namespace pegasos {

enum class KernelSolver { pegasos, sdca, perceptron };

struct KernelOptions {
  KernelSolver solver;
  LossName loss;
  bool mean;            // keep what a mean of the functions subtracts
  bool weighted_mean;   // weights c_t = W_t instead of 1
  int64_t most_passes;  // sdca: so many steps for each row of a block,
  double enough;        // fewer if more would raise the dual by no more than this part
};

constexpr int64_t kLocalArrays = 7;

// One binary problem: all rows' scores and masses, and what this block adds to them.
struct KernelProblem {
  int32_t positive;
  double lam;
  double* scores;  // per row of the data
  double* mass;    // per row of the data: alpha (pegasos, perceptron) or b in [0, 1] (sdca)
  Tally* tally;
  double* local;       // kLocalArrays per row of the block; the first: its score
  double* delta;       // per row of the block: what its signed coefficient has gained
  double* mean_delta;  // the same for what the mean subtracts, or null
  int64_t n_steps;     // that the block has taken (sdca)
};

// The rows of a block and the kernel among them. Row k of `values` is filled when it is first asked for, from
// the kernel row in `full`; without `full` it is there from the start.
template <class T>
struct LocalGram {
  const int64_t* rows;  // n row numbers
  int64_t n;
  const T* const* full;  // per row of the block: its kernel row over all data, or null
  T* values;             // n x n
  uint8_t* filled;       // per row, with `full`

  PEGASOS_INLINE const T* row(int64_t k, int64_t from) const {
    T* row = values + k * n;
    if (full && !filled[k]) {
      for (int64_t j = from; j < n; ++j) row[j] = full[k][rows[j]];
      filled[k] = 1;
    }
    return row;
  }
};

inline namespace PEGASOS_LEVEL {

// f[j] += c k[j], j = first .. n-1. A plain loop, for the compiler to vectorise as wide as it can: nothing is
// summed up, so the bits are the same.
template <class T>
PEGASOS_INLINE void follow(double c, const T* __restrict k, double* __restrict f, int64_t first,
                           int64_t n) {
  for (int64_t j = first; j < n; ++j) f[j] += c * static_cast<double>(k[j]);
}

}  // namespace PEGASOS_LEVEL
}  // namespace pegasos
