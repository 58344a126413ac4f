// A use for a second core where one problem must go step by step: it reads the coming rows into the cache
// that the cores share, so the working core waits for that cache instead of memory. Nothing is computed
// there, so the result cannot depend on it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>

namespace pegasos {

// Calls work(first, last) over blocks of draws; if `ahead`, another thread calls touch(first, last) for
// the blocks to come, at most two of them ahead of the work.
template <class Touch, class Work>
void work_with_read_ahead(int64_t n_draws, int64_t block, bool ahead, Touch touch, Work work) {
  if (!ahead || n_draws <= 2 * block) {
    work(int64_t{0}, n_draws);
    return;
  }
  std::atomic<int64_t> done{0};
  std::thread reader([&] {
    for (int64_t first = block; first < n_draws; first += block) {
      while (first > done.load(std::memory_order_relaxed) + 2 * block) std::this_thread::yield();
      touch(first, std::min(n_draws, first + block));
    }
  });
  for (int64_t first = 0; first < n_draws; first += block) {
    const int64_t last = std::min(n_draws, first + block);
    work(first, last);
    done.store(last, std::memory_order_relaxed);
  }
  reader.join();
}

}  // namespace pegasos
