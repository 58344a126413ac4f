// Chooses the functions for this CPU, once.
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

const LevelTable& choose() {
#ifdef PEGASOS_X86_LEVELS
  __builtin_cpu_init();
  const Level levels[] = {// best first
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
