// The drawn rows of a CSR matrix, copied side by side shortly before they are used.
//
// In random order a sparse row costs a dozen cache misses, and prefetching them between the steps does not
// keep enough of them under way: visiting the rows so took several times as long as in storage order. A loop
// that does nothing but copy rows has many misses under way at once, and it can run on a thread of its own.
// The steps read what it has copied: same rows, same order, same bits.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include "pegasos/rows_view.hpp"

namespace pegasos {

class RowFeed {
 public:
  struct Row {
    const void* values;
    const void* columns;
    int64_t n;
  };
  struct Block {
    const Row* rows;
    int64_t n;  // 0: all draws have been handed out
  };

  // `reader`: copy on a thread of its own.
  RowFeed(const RowsView& view, const int64_t* draws, int64_t n_draws, bool reader);
  ~RowFeed();
  RowFeed(const RowFeed&) = delete;
  RowFeed& operator=(const RowFeed&) = delete;

  // The next rows; those of the block before are gone.
  Block next();

 private:
  struct Slot;
  template <class Index>
  void fill(Slot& slot);
  void fill_next();
  void read_all();

  const RowsView& view_;
  const int64_t* draws_;
  int64_t n_draws_;
  int64_t n_read_ = 0;  // draws copied so far
  int64_t value_bytes_, index_bytes_;
  int64_t n_slots_;
  std::unique_ptr<Slot[]> slots_;
  std::atomic<int64_t> filled_{0}, emptied_{0};  // blocks
  std::atomic<bool> stop_{false};
  int64_t taken_ = 0;
  std::thread reader_;
};

}  // namespace pegasos
