// Inner products of float32 rows by the matrix unit (AMX) that server CPUs have had since 2023.
//
// It multiplies 16 x 32 by 32 x 16 bfloat16 numbers at a time and adds up in float32, ten times as fast as vector
// instructions. A bfloat16 number has 8 binary digits, a float32 number 24: so rows are written as sums of up to
// three, x = x0 + x1 + x2, and <a, b> is the sum of the <a_s, b_t> that still show. Values that are small whole
// multiples of one number, their *grid* (pixels, counts, zeros and ones), need one term when divided by it.
#pragma once

#include <cstdint>

namespace pegasos {

constexpr int64_t kUnitRows = 16, kUnitDepth = 32;
constexpr int64_t kUnitTile = kUnitRows * kUnitDepth;  // numbers in a tile
constexpr int64_t kUnitBlock =
    2 * kUnitRows;  // rows on either side of a product: every tile loaded serves twice
constexpr int kMostTerms = 3;

// How many products of terms make up an inner product: those of a_s and b_t with s + t < 3; others do not show.
inline int64_t count_unit_products(int terms, int other_terms) {
  int64_t n = 0;
  for (int s = 0; s < terms; ++s)
    for (int t = 0; t < other_terms; ++t) n += s + t < kMostTerms;
  return n;
}

struct MatrixUnit {
  // Each thread calls the first before multiply, and the second after it: what the tiles hold is part of a
  // thread's state, which the system saves and restores.
  void (*begin)();
  void (*end)();

  // Writes 16 rows of d features, times `factor`, as ceil(d / 32) times `terms` tiles; a null row is all zeros.
  // A tile holds 32 features of each row, row after row; `transposed`: pair of features after pair of features.
  void (*pack)(const float* const* rows, int64_t d, float factor, int terms, bool transposed,
               uint16_t* tiles);

  // out[i * stride + j] = scale <left row i, right row j>, i < n_left <= 32, j < n_right <= 32: two packed groups of
  // 16 rows on either side, those on the right transposed.
  void (*multiply)(const uint16_t* left, int left_terms, const uint16_t* right, int right_terms,
                   int64_t d, float scale, float* out, int64_t stride, int64_t n_left,
                   int64_t n_right);

  // values[j] holds <a, b_j>; becomes exp(-gamma ||a - b_j||^2), 0 for exponents below `smallest`. `square` is ||a||^2,
  // squares[j] is ||b_j||^2.
  void (*rbf)(float gamma, float smallest, float square, const float* squares, float* values,
              int64_t n);

  // The smallest number that is not zero, without its sign; 0 if all are.
  float (*smallest)(const float* values, int64_t n);
  // Whether all values are whole multiples of `grid`, up to rounding, and none more than 256 times.
  bool (*on_grid)(const float* values, int64_t n, float grid);
};

// Asks the system for the unit; null if it refuses. Only for CPUs that have one.
const MatrixUnit* permitted_matrix_unit();

}  // namespace pegasos
