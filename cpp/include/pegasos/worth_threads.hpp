// When threads are worth starting.
#pragma once

namespace pegasos {

// The threads to take for this much work, in numbers touched (dense ones take about 0.3 ns, sparse ones 1 or
// more): starting a thread took 0.1 ms on an idle machine and 2 ms on a busy one.
inline int worth_threads(double work, int n_threads) {
  constexpr double kWorthAThread = 4e6;
  return work < kWorthAThread ? 1 : n_threads;
}

}  // namespace pegasos
