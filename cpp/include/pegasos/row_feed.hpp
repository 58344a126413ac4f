// The drawn rows of a CSR matrix, copied side by side by a second thread shortly before they are used.
//
// In random order a sparse row costs a dozen cache misses. Prefetching hides them as long as the data fits
// into the last cache; beyond it, a thread that does nothing but copy rows keeps more of them under way.
// The steps never wait for it: a block that is not there in time they read in place. Same rows, same order,
// same bits.
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
  static constexpr int64_t kRows = 64;  // a block: few enough to stay in the L1 and L2 caches

  // `reader`: there is a thread to spare. It is started only for draws that are worth it.
  RowFeed(const RowsView& view, const int64_t* draws, int64_t n_draws, bool reader);
  ~RowFeed();
  RowFeed(const RowFeed&) = delete;
  RowFeed& operator=(const RowFeed&) = delete;

  // The rows of draws kRows * block and on, or null if they are not copied. Blocks are asked for in order;
  // the rows of the one before are gone.
  const Row* take(int64_t block);

 private:
  struct Slot;
  void read_all();
  template <class Index>
  void fill(Slot& slot, int64_t block) const;

  const RowsView& view_;
  const int64_t* draws_;
  int64_t n_draws_;
  int64_t value_bytes_, index_bytes_;
  std::unique_ptr<Slot[]> slots_;
  std::atomic<int64_t> at_{-1};  // the block that the steps are at
  std::atomic<bool> stop_{false};
  std::thread reader_;
};

}  // namespace pegasos
