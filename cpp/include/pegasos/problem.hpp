// One binary problem of a (one-vs-rest) fit: its labels, weight vectors and running counts.
//
// The arrays belong to Python; the solvers write into them. Several problems advance in lockstep over the
// same draws, so that each row is fetched once for all of them.
#pragma once

#include <cstdint>

#include "pegasos/lanes.hpp"

namespace pegasos {

struct Labels {
  const int32_t* code;   // class of each row
  const double* weight;  // sample weight of each row, or null for all ones
  double total_weight;   // S = sum of the weights

  PEGASOS_INLINE double weight_of(int64_t i) const { return weight ? weight[i] : 1; }
};

// Counts that go on from call to call. Laid out as doubles: Python sees a structured NumPy array.
struct Tally {
  double clock;  // W_t, the weight that the steps so far have moved; t itself with unit weights
  double mean_clock;   // C_t of the running mean (how_it_works, "Averages that cost nothing")
  double mean_weight;  // sum of c_t
  double gain;         // dual value earned by the visits
  double violations;   // visits with a margin below 1 (perceptron: mistakes)
  double norm2;        // ||v||^2, kept only with projection
  double shrink;       // product of the projections' factors since Python last set it to 1
  double mass_unit;    // what a stored mass of 1 stands for (projections lower it)
  double scale;        // w = scale * stored weights (sgd start)
};

struct Problem {
  int32_t positive;  // rows of this class are +1, all others -1
  double* w;         // weights (sdca) or their sum form v (pegasos), n_features + 1 entries
  double* u;         // what the running mean subtracts, or null: no mean
  Two* pairs;        // w and u side by side, in place of both while a solver runs (InPairs)
  double* mass;      // per row: dual mass earned (pegasos, may be null) or held (sdca)
  uint8_t* asleep;   // per row: how many visits to skip (sdca)
  Tally* tally;
  double lam;  // of this problem (pegasos)

  PEGASOS_INLINE double sign(const Labels& labels, int64_t i) const {
    return labels.code[i] == positive ? 1.0 : -1.0;
  }
};

}  // namespace pegasos
