// NumPy's Generator.permutation, draw for draw, in a third of its time.
#pragma once

#include <cstdint>

namespace pegasos {

// A random stream of NumPy: the struct that every BitGenerator offers in its capsule (numpy/random/bitgen.h).
struct BitGenerator {
  void* state;
  uint64_t (*next_uint64)(void*);
  uint32_t (*next_uint32)(void*);
  double (*next_double)(void*);
  uint64_t (*next_raw)(void*);
};

// Writes a permutation of 0..n-1: for i = n-1 .. 1, row i changes places with a row drawn from 0..i, which is
// the first draw of as many bits as i has that is not above i.
void permutation(const BitGenerator& generator, int64_t n, int64_t* rows);

}  // namespace pegasos
