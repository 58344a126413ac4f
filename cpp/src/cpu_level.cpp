// Chooses the functions for this CPU, once.
#ifdef PEGASOS_MATRIX_UNIT
#include <cpuid.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "pegasos/level_table.hpp"

namespace pegasos {

#ifdef PEGASOS_X86_LEVELS
namespace v2 {
extern const LevelTable kTable;
}
namespace v3 {
extern const LevelTable kTable;
}
namespace v4 {
extern const LevelTable kTable;
}
#else
namespace plain {
extern const LevelTable kTable;
}
#endif

namespace {

struct Level {
  const LevelTable* table;
  bool supported;
};

#ifdef PEGASOS_X86_LEVELS
bool has_v3() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
bool has_v4() {
  return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}
#endif

#ifdef PEGASOS_MATRIX_UNIT
// AVX-512 with bfloat16, and AMX with bfloat16 tiles.
bool has_matrix_unit() {
  constexpr unsigned kTiles = 1u << 24, kTileBfloats = 1u << 22, kBfloats = 1u << 5;
  unsigned a, b, c, d;
  if (!has_v4() || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  if (!(d & kTiles) || !(d & kTileBfloats)) return false;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & kBfloats);
}

void kernel_values_f32(const KernelFunction& kernel, float square, const float* squares,
                       float* values, int64_t n) {
  if (kernel.kind != KernelFunction::rbf)
    return v4::kTable.kernel_values_f32(kernel, square, squares, values, n);
  const double smallest = std::max(kernel.smallest_exponent, kSmallestExponent<float>);
  permitted_matrix_unit()->rbf(static_cast<float>(kernel.gamma), static_cast<float>(smallest),
                               square, squares, values, n);
  const float coef0 = static_cast<float>(kernel.coef0);
  if (coef0 != 0)
    for (int64_t j = 0; j < n; ++j) values[j] += coef0;
}

// As v4, with the matrix unit for kernels of float32 rows.
LevelTable with_matrix_unit() {
  LevelTable table = v4::kTable;
  table.level = "amx";
  table.unit = has_matrix_unit() ? permitted_matrix_unit() : nullptr;
  table.kernel_values_f32 = kernel_values_f32;
  return table;
}
#endif

const LevelTable& choose() {
#ifdef PEGASOS_X86_LEVELS
  __builtin_cpu_init();
#ifdef PEGASOS_MATRIX_UNIT
  static const LevelTable amx = with_matrix_unit();
#endif
  const Level levels[] = {// best first
#ifdef PEGASOS_MATRIX_UNIT
                          {&amx, amx.unit != nullptr},
#endif
                          {&v4::kTable, has_v4()},
                          {&v3::kTable, has_v3()},
                          {&v2::kTable, static_cast<bool>(__builtin_cpu_supports("sse4.2"))}};
#else
  const Level levels[] = {{&plain::kTable, true}};
#endif
  const char* wanted = std::getenv("PEGASOS_CPU_LEVEL");
  std::string available;
  for (const Level& level : levels) {
    if (!level.supported) continue;
    if (!wanted || !*wanted || std::string(wanted) == level.table->level) return *level.table;
    available += available.empty() ? "" : ", ";
    available += level.table->level;
  }
  if (available.empty())
    throw std::runtime_error("this CPU has no SSE 4.2 (x86-64-v2), which pegasos needs");
  throw std::runtime_error(
      "PEGASOS_CPU_LEVEL=" + std::string(wanted) +
      " is not available on this CPU; unset it or choose one of: " + available);
}

}  // namespace

const LevelTable& level_table() {
  static const LevelTable& chosen = choose();
  return chosen;
}

}  // namespace pegasos
