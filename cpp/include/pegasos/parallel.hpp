// Runs tasks 0 .. n_tasks-1 on up to n_threads threads. Which thread takes which task is left to chance:
// a task must write only what belongs to it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
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
  std::exception_ptr failure;
  std::mutex failing;
  const auto work = [&] {
    try {
      for (int64_t k = next++; k < n_tasks; k = next++) task(k);
    } catch (...) {  // to be thrown where somebody can catch it
      const std::lock_guard<std::mutex> lock(failing);
      failure = std::current_exception();
      next = n_tasks;
    }
  };
  std::vector<std::thread> helpers;
  helpers.reserve(n_workers);
  try {
    for (int64_t k = 1; k < n_workers; ++k) helpers.emplace_back(work);
  } catch (const std::system_error&) {  // no more threads to be had: fewer will do
  }
  work();
  for (auto& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace pegasos
