// Compiled for CPUs with AVX-512 and AMX alone; cpu_level.cpp sees to it that no other gets here. So nothing of the
// standard library either: a template that is instantiated here may be the one that other CPUs get.
#include "pegasos/matrix_unit.hpp"

#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmath>

namespace pegasos {
namespace {

constexpr int64_t kLanes = 16;

// --- Packing --------------------------------------------------------------------------------------

__m512 wide(__m256i bfloats) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bfloats), 16));
}

__m512 load_up_to(const float* from, int64_t n) {
  if (n >= kLanes) return _mm512_loadu_ps(from);
  return n <= 0 ? _mm512_setzero_ps()
                : _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << n) - 1), from);
}

// Rounds to bfloat16, and leaves what rounding has cut off.
__m256i split_off(__m512* x) {
  const __m256i head = reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(*x));
  *x = _mm512_sub_ps(*x, wide(head));
  return head;
}

// The tile as 16 x 16 pairs of features, rows and columns exchanged: four rounds, each of which exchanges the
// halves that two lines `far` apart do not have in common.
void transpose(uint16_t* tile) {
  __m512i line[kUnitRows];
  for (int64_t k = 0; k < kUnitRows; ++k) line[k] = _mm512_load_si512(tile + k * kUnitDepth);
  for (int far = 8; far; far /= 2) {
    alignas(64) int32_t first[kUnitRows], second[kUnitRows];
    for (int j = 0; j < kUnitRows; ++j) {
      first[j] = j & far ? 16 + (j ^ far) : j;
      second[j] = j & far ? 16 + j : j ^ far;
    }
    const __m512i from = _mm512_load_si512(first), with = _mm512_load_si512(second);
    for (int k = 0; k < kUnitRows; ++k) {
      if (k & far) continue;
      const __m512i a = line[k], b = line[k + far];
      line[k] = _mm512_permutex2var_epi32(a, from, b);
      line[k + far] = _mm512_permutex2var_epi32(a, with, b);
    }
  }
  for (int64_t k = 0; k < kUnitRows; ++k) _mm512_store_si512(tile + k * kUnitDepth, line[k]);
}

// One row's line in every tile. A row after the other: data is read in order, and no line is loaded again before
// its store is through.
void pack_row(const float* row, int64_t d, __m512 factor, int terms, uint16_t* line) {
  for (int64_t f = 0; f < d; f += kUnitDepth, line += terms * kUnitTile) {
    __m512 low = _mm512_mul_ps(load_up_to(row + f, d - f), factor);
    __m512 high = _mm512_mul_ps(load_up_to(row + f + kLanes, d - f - kLanes), factor);
    for (int t = 0; t < terms; ++t) {
      const __m512i first = _mm512_castsi256_si512(split_off(&low));
      _mm512_store_si512(line + t * kUnitTile, _mm512_inserti64x4(first, split_off(&high), 1));
    }
  }
}

void pack(const float* const* rows, int64_t d, float factor, int terms, bool transposed,
          uint16_t* tiles) {
  const int64_t n_tiles = (d + kUnitDepth - 1) / kUnitDepth * terms;
  for (int64_t k = 0; k < kUnitRows; ++k) {
    uint16_t* line = tiles + k * kUnitDepth;
    if (rows[k])
      pack_row(rows[k], d, _mm512_set1_ps(factor), terms, line);
    else
      for (int64_t t = 0; t < n_tiles; ++t)
        _mm512_store_si512(line + t * kUnitTile, _mm512_setzero_si512());
  }
  if (transposed)
    for (int64_t t = 0; t < n_tiles; ++t) transpose(tiles + t * kUnitTile);
}

// --- Products -------------------------------------------------------------------------------------

struct alignas(64) TileShapes {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t bytes_per_row[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
// A constant: GCC takes the instruction to read the first 8 bytes alone, and leaves out what would fill the others.
constexpr TileShapes kShapes;

void begin() { _tile_loadconfig(&kShapes); }

void end() { _tile_release(); }

// Tiles 0 to 3 are the sums of the 32 x 32 products, 4 and 5 come from the left, 6 and 7 from the right.
void multiply_terms(const uint16_t* left, const uint16_t* right, int64_t next_left,
                    int64_t next_right) {
  constexpr int64_t kLine = kUnitDepth * sizeof(uint16_t);
  _tile_loadd(4, left, kLine);
  _tile_loadd(6, right, kLine);
  _tile_loadd(5, left + next_left, kLine);
  _tile_loadd(7, right + next_right, kLine);
  _tile_dpbf16ps(0, 4, 6);
  _tile_dpbf16ps(1, 4, 7);
  _tile_dpbf16ps(2, 5, 6);
  _tile_dpbf16ps(3, 5, 7);
}

void multiply(const uint16_t* left, int left_terms, const uint16_t* right, int right_terms,
              int64_t d, float scale, float* out, int64_t stride, int64_t n_left, int64_t n_right) {
  const int64_t n_chunks = (d + kUnitDepth - 1) / kUnitDepth;
  const int64_t next_left = n_chunks * left_terms * kUnitTile;  // the second group of 16 rows
  const int64_t next_right = n_chunks * right_terms * kUnitTile;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (int64_t c = 0; c < n_chunks; ++c) {
    for (int s = 0; s < left_terms; ++s)
      for (int t = 0; t < right_terms && s + t < kMostTerms; ++t)
        multiply_terms(left + s * kUnitTile, right + t * kUnitTile, next_left, next_right);
    left += left_terms * kUnitTile;
    right += right_terms * kUnitTile;
  }
  alignas(64) float sums[kUnitBlock][kUnitBlock];
  constexpr int64_t kLine = sizeof(sums[0]);
  _tile_stored(0, sums[0], kLine);
  _tile_stored(1, sums[0] + kUnitRows, kLine);
  _tile_stored(2, sums[kUnitRows], kLine);
  _tile_stored(3, sums[kUnitRows] + kUnitRows, kLine);
  for (int64_t i = 0; i < n_left; ++i)
    for (int64_t j = 0; j < n_right; ++j) out[i * stride + j] = scale * sums[i][j];
}

// --- The Gaussian kernel --------------------------------------------------------------------------

// exp(x) for x <= 0 as in kernel_function.hpp: x = n ln 2 + r and the Taylor polynomial of r. In half the
// instructions that other CPUs need: products and sums in one, and one for the power of two.
__m512 exp_of_negative(__m512 x, __m512 smallest) {
  constexpr float kInverseFactorials[] = {1.0f,      1.0f,       1.0f / 2,   1.0f / 6,
                                          1.0f / 24, 1.0f / 120, 1.0f / 720, 1.0f / 5040};
  const __mmask16 shows = _mm512_cmp_ps_mask(x, smallest, _CMP_GE_OQ);
  const __m512 whole = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(1.44269504f)),
                                            _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  __m512 r = _mm512_fnmadd_ps(whole, _mm512_set1_ps(0.693359375f), x);  // ln 2 in two parts
  r = _mm512_fnmadd_ps(whole, _mm512_set1_ps(-2.12194440e-4f), r);
  __m512 sum = _mm512_set1_ps(kInverseFactorials[7]);
  for (int k = 6; k >= 0; --k) sum = _mm512_fmadd_ps(sum, r, _mm512_set1_ps(kInverseFactorials[k]));
  return _mm512_maskz_scalef_ps(shows, sum, whole);
}

void rbf(float gamma, float smallest, float square, const float* squares, float* values,
         int64_t n) {
  const __m512 zero = _mm512_setzero_ps(), minus_gamma = _mm512_set1_ps(-gamma);
  const __m512 least = _mm512_set1_ps(smallest), own = _mm512_set1_ps(square);
  for (int64_t j = 0; j < n; j += kLanes) {
    const __mmask16 lanes = n - j >= kLanes ? 0xffff : static_cast<__mmask16>((1u << (n - j)) - 1);
    const __m512 product = _mm512_maskz_loadu_ps(lanes, values + j);
    const __m512 both = _mm512_add_ps(_mm512_maskz_loadu_ps(lanes, squares + j), own);
    const __m512 distance = _mm512_fnmadd_ps(_mm512_set1_ps(2), product, both);
    const __m512 x = _mm512_mul_ps(minus_gamma, _mm512_max_ps(distance, zero));
    _mm512_mask_storeu_ps(values + j, lanes, exp_of_negative(x, least));
  }
}

// --- Grids ----------------------------------------------------------------------------------------

constexpr float kMostSteps = 256;        // 8 binary digits hold every whole number up to here
constexpr float kRounding = 0x1.0p-22f;  // of a value, and of the product that stands for it

float smallest(const float* values, int64_t n) {
  const __m512 zero = _mm512_setzero_ps();
  __m512 least = _mm512_set1_ps(INFINITY);
  for (int64_t k = 0; k < n; k += kLanes) {
    const __m512 size = _mm512_abs_ps(load_up_to(values + k, n - k));
    least = _mm512_mask_min_ps(least, _mm512_cmp_ps_mask(size, zero, _CMP_GT_OQ), least, size);
  }
  const float found = _mm512_reduce_min_ps(least);
  return found == INFINITY ? 0 : found;
}

bool on_grid(const float* values, int64_t n, float grid) {
  const __m512 step = _mm512_set1_ps(grid), inverse = _mm512_set1_ps(1 / grid);
  for (int64_t k = 0; k < n; k += kLanes) {
    const __m512 x = load_up_to(values + k, n - k);
    const __m512 steps = _mm512_roundscale_ps(_mm512_mul_ps(x, inverse),
                                              _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m512 off = _mm512_abs_ps(_mm512_sub_ps(x, _mm512_mul_ps(steps, step)));
    const __m512 limit = _mm512_mul_ps(_mm512_abs_ps(x), _mm512_set1_ps(kRounding));
    if (_mm512_cmp_ps_mask(off, limit, _CMP_NLE_UQ) ||
        _mm512_cmp_ps_mask(_mm512_abs_ps(steps), _mm512_set1_ps(kMostSteps), _CMP_NLE_UQ))
      return false;
  }
  return true;
}

// Linux gives a process the tiles when it asks for them.
bool permitted() {
  constexpr long kRequest = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
}

constexpr MatrixUnit kUnit = {begin, end, pack, multiply, rbf, smallest, on_grid};

}  // namespace

const MatrixUnit* permitted_matrix_unit() {
  static const MatrixUnit* const unit = permitted() ? &kUnit : nullptr;
  return unit;
}

}  // namespace pegasos
