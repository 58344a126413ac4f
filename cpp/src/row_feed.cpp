#include "pegasos/row_feed.hpp"

#include <algorithm>
#include <cstring>
#include <system_error>

#include "pegasos/spin.hpp"

namespace pegasos {
namespace {

constexpr int64_t kRows = 64;       // a block: few enough to stay in the L1 and L2 caches
constexpr int64_t kEntries = 8192;  // of long rows, fewer make a block
constexpr int64_t kLongRow = 1024;  // entries; the hardware prefetcher takes over: used in place
constexpr int64_t kRowsAhead = 8;   // prefetched while earlier rows are copied
constexpr int64_t kPointersAhead = 16;  // a row cannot be prefetched before its pointer is there
constexpr int64_t kSlotsOfReader = 8;
constexpr int64_t kFewestDrawsForReader = 4096;  // below, a thread costs more than it saves

// memcpy for a few hundred bytes, inlined: a call would hold up the misses of the rows to come.
inline void copy_row(char* to, const char* from, int64_t bytes) {
  constexpr int64_t kPiece = 32;
  if (bytes < kPiece) {
    std::copy(from, from + bytes, to);
    return;
  }
  for (int64_t b = 0; b < bytes - kPiece; b += kPiece) std::memcpy(to + b, from + b, kPiece);
  std::memcpy(to + bytes - kPiece, from + bytes - kPiece, kPiece);
}

}  // namespace

struct RowFeed::Slot {
  std::unique_ptr<char[]> values, columns;
  Row rows[kRows];
  int64_t n = 0;
};

RowFeed::RowFeed(const RowsView& view, const int64_t* draws, int64_t n_draws, bool reader)
    : view_(view), draws_(draws), n_draws_(n_draws) {
  const bool f32 = view.kind == RowsView::csr_f32_i32 || view.kind == RowsView::csr_f32_i64;
  const bool i32 = view.kind == RowsView::csr_f32_i32 || view.kind == RowsView::csr_f64_i32;
  value_bytes_ = f32 ? sizeof(float) : sizeof(double);
  index_bytes_ = i32 ? sizeof(int32_t) : sizeof(int64_t);
  reader = reader && n_draws >= kFewestDrawsForReader;
  n_slots_ = reader ? kSlotsOfReader : 1;
  slots_.reset(new Slot[n_slots_]);
  for (int64_t s = 0; s < n_slots_; ++s) {
    slots_[s].values.reset(new char[(kEntries + kLongRow) * value_bytes_]);
    slots_[s].columns.reset(new char[(kEntries + kLongRow) * index_bytes_]);
  }
  if (!reader) return;
  try {
    reader_ = std::thread([this] { read_all(); });
  } catch (const std::system_error&) {  // no thread to be had: next() will copy
  }
}

RowFeed::~RowFeed() {
  stop_ = true;
  if (reader_.joinable()) reader_.join();
}

RowFeed::Block RowFeed::next() {
  emptied_.store(taken_, std::memory_order_release);
  if (!reader_.joinable()) fill_next();
  wait_until([&] { return filled_.load(std::memory_order_acquire) > taken_; });
  const Slot& slot = slots_[taken_++ % n_slots_];
  return {slot.rows, slot.n};
}

void RowFeed::read_all() {
  for (bool more = true; more && !stop_;) {
    wait_until([&] {
      const int64_t used =
          filled_.load(std::memory_order_relaxed) - emptied_.load(std::memory_order_acquire);
      return used < n_slots_ || stop_;
    });
    more = n_read_ < n_draws_;
    if (!stop_) fill_next();
  }
}

void RowFeed::fill_next() {
  const int64_t block = filled_.load(std::memory_order_relaxed);
  Slot& slot = slots_[block % n_slots_];
  if (index_bytes_ == sizeof(int32_t))
    fill<int32_t>(slot);
  else
    fill<int64_t>(slot);
  filled_.store(block + 1, std::memory_order_release);
}

template <class Index>
void RowFeed::fill(Slot& slot) {
  const Index* start = static_cast<const Index*>(view_.indptr);
  const char* values = static_cast<const char*>(view_.values);
  const char* columns = static_cast<const char*>(view_.indices);
  const int64_t v = value_bytes_, c = index_bytes_;
  int64_t entries = 0, k = 0;
  for (; k < kRows && entries < kEntries && n_read_ < n_draws_; ++k, ++n_read_) {
    if (n_read_ + kPointersAhead < n_draws_)
      __builtin_prefetch(start + draws_[n_read_ + kPointersAhead]);
    if (n_read_ + kRowsAhead < n_draws_) {
      const int64_t i = draws_[n_read_ + kRowsAhead];
      const int64_t first = start[i], n = std::min<int64_t>(start[i + 1] - first, kLongRow);
      for (int64_t b = 0; b < n * v; b += 64) __builtin_prefetch(values + first * v + b);
      for (int64_t b = 0; b < n * c; b += 64) __builtin_prefetch(columns + first * c + b);
    }
    const int64_t i = draws_[n_read_], first = start[i], n = start[i + 1] - first;
    if (n > kLongRow) {
      slot.rows[k] = {values + first * v, columns + first * c, n};
      continue;
    }
    char* to_values = slot.values.get() + entries * v;
    char* to_columns = slot.columns.get() + entries * c;
    copy_row(to_values, values + first * v, n * v);
    copy_row(to_columns, columns + first * c, n * c);
    slot.rows[k] = {to_values, to_columns, n};
    entries += n;
  }
  slot.n = k;
}

}  // namespace pegasos
