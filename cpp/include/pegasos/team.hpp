// Threads that stay together for many short tasks: a block of kernel steps takes microseconds, too little to
// start threads for. Between tasks they spin, then yield; a team lives no longer than one call from Python.
//
// As with parallel_for, which thread takes which task is left to chance: a task writes only what is its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

#include "pegasos/spin.hpp"

namespace pegasos {

class Team {
 public:
  explicit Team(int n_threads) {
    try {
      for (int k = 1; k < n_threads; ++k) helpers_.emplace_back([this] { help(); });
    } catch (const std::system_error&) {  // no more threads to be had: fewer will do
    }
  }
  ~Team() {
    stop_.store(true, std::memory_order_release);
    for (auto& helper : helpers_) helper.join();
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return static_cast<int>(helpers_.size()) + 1; }

  // task(k, member) for k in 0 .. n_tasks-1; `member` numbers the thread (for its scratch). The tasks must
  // not throw.
  template <class Task>
  void run(int64_t n_tasks, Task task) {
    if (helpers_.empty() || n_tasks <= 1) {
      for (int64_t k = 0; k < n_tasks; ++k) task(k, 0);
      return;
    }
    start(task, n_tasks, false);
  }

  // task(member), once for every member: always the same thread for what it wrote last time. A cache line
  // that another core has written takes longer to get than one from memory.
  template <class Task>
  void each(Task task) {
    auto one = [&](int64_t, int member) { task(member); };
    if (helpers_.empty())
      task(0);
    else
      start(one, size(), true);
  }

 private:
  template <class Task>
  void start(Task& task, int64_t n_tasks, bool each_once) {
    call_ = [](void* context, int64_t k, int member) { (*static_cast<Task*>(context))(k, member); };
    context_ = &task;
    n_tasks_ = n_tasks;
    each_once_ = each_once;
    next_.store(0, std::memory_order_relaxed);
    busy_.store(static_cast<int>(helpers_.size()), std::memory_order_relaxed);
    round_.fetch_add(1, std::memory_order_release);
    work(0);
    wait_until([&] { return busy_.load(std::memory_order_acquire) == 0; });
  }

  void work(int member) {
    if (each_once_) {
      call_(context_, member, member);
      return;
    }
    for (int64_t k = next_++; k < n_tasks_; k = next_++) call_(context_, k, member);
  }

  void help() {
    const int member = 1 + members_++;
    for (int64_t seen = 0;; ++seen) {
      wait_until([&] {
        return round_.load(std::memory_order_acquire) > seen ||
               stop_.load(std::memory_order_acquire);
      });
      if (round_.load(std::memory_order_acquire) == seen) return;
      work(member);
      busy_.fetch_sub(1, std::memory_order_release);
    }
  }

  void (*call_)(void*, int64_t, int) = nullptr;
  void* context_ = nullptr;
  int64_t n_tasks_ = 0;
  bool each_once_ = false;
  std::atomic<int64_t> next_{0}, round_{0};
  std::atomic<int> busy_{0}, members_{0};
  std::atomic<bool> stop_{false};
  std::vector<std::thread> helpers_;
};

}  // namespace pegasos
