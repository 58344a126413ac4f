// Runs tasks 0 .. n_tasks-1 on up to n_threads threads. Which thread takes which task is left to chance:
// a task must write only what belongs to it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace pegasos {

template <class Task>
void parallel_for(int64_t n_tasks, int n_threads, Task task) {
  const int64_t n_workers = std::min<int64_t>(n_tasks, n_threads);
  if (n_workers <= 1) {
    for (int64_t k = 0; k < n_tasks; ++k) task(k);
    return;
  }
  std::atomic<int64_t> next{0};
  const auto work = [&] {
    for (int64_t k = next++; k < n_tasks; k = next++) task(k);
  };
  std::vector<std::thread> helpers;
  for (int64_t k = 1; k < n_workers; ++k) helpers.emplace_back(work);
  work();
  for (auto& helper : helpers) helper.join();
}

}  // namespace pegasos
