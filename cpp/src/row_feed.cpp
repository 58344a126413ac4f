#include "pegasos/row_feed.hpp"

#include <algorithm>
#include <cstring>
#include <system_error>

#include "pegasos/prefetch.hpp"
#include "pegasos/spin.hpp"

namespace pegasos {
namespace {

constexpr int64_t kEntries = 8192;  // copied in a block at most; rows beyond are used in place
constexpr int64_t kLongRow = 1024;  // entries; the hardware prefetcher takes over: used in place
constexpr int64_t kRowsAhead = 16;  // prefetched while earlier rows are copied
constexpr int64_t kPointersAhead = 24;  // a row cannot be prefetched before its pointer is there
constexpr int64_t kSlots = 8;
// Entries below which a thread costs more than it saves: starting one took 0.1 ms, on a busy machine 2 ms,
// and data that fits into the cache gains nothing.
constexpr double kWorthAThread = 4e6;

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
  std::atomic<int64_t> block{-1};  // whose rows these are
};

RowFeed::RowFeed(const RowsView& view, const int64_t* draws, int64_t n_draws, bool reader)
    : view_(view), draws_(draws), n_draws_(n_draws) {
  const bool f32 = view.kind == RowsView::csr_f32_i32 || view.kind == RowsView::csr_f32_i64;
  const bool i32 = view.kind == RowsView::csr_f32_i32 || view.kind == RowsView::csr_f64_i32;
  value_bytes_ = f32 ? sizeof(float) : sizeof(double);
  index_bytes_ = i32 ? sizeof(int32_t) : sizeof(int64_t);
  if (!reader || view.n_rows == 0) return;
  const double per_row = static_cast<double>(count_entries(view)) / view.n_rows;
  if (per_row * n_draws < kWorthAThread) return;
  slots_.reset(new Slot[kSlots]);
  for (int64_t s = 0; s < kSlots; ++s) {
    slots_[s].values.reset(new char[kEntries * value_bytes_]);
    slots_[s].columns.reset(new char[kEntries * index_bytes_]);
  }
  try {
    reader_ = std::thread([this] { read_all(); });
  } catch (const std::system_error&) {  // no thread to be had: nothing is copied
  }
}

RowFeed::~RowFeed() {
  stop_ = true;
  if (reader_.joinable()) reader_.join();
}

const RowFeed::Row* RowFeed::take(int64_t block) {
  if (!slots_) return nullptr;
  at_.store(block, std::memory_order_release);
  const Slot& slot = slots_[block % kSlots];
  return slot.block.load(std::memory_order_acquire) == block ? slot.rows : nullptr;
}

void RowFeed::read_all() {
  const int64_t n_blocks = (n_draws_ + kRows - 1) / kRows;
  for (int64_t block = 0;; ++block) {
    // The slot is free when the steps are past the block that was in it.
    wait_until([&] { return at_.load(std::memory_order_acquire) > block - kSlots || stop_; });
    // Steps that have overtaken the reader do without it: it goes on ahead of them.
    block = std::max(block, at_.load(std::memory_order_acquire) + 1);
    if (block >= n_blocks || stop_) return;
    Slot& slot = slots_[block % kSlots];
    if (index_bytes_ == sizeof(int32_t))
      fill<int32_t>(slot, block);
    else
      fill<int64_t>(slot, block);
    slot.block.store(block, std::memory_order_release);
  }
}

template <class Index>
void RowFeed::fill(Slot& slot, int64_t block) const {
  const Index* start = static_cast<const Index*>(view_.indptr);
  const char* values = static_cast<const char*>(view_.values);
  const char* columns = static_cast<const char*>(view_.indices);
  const int64_t v = value_bytes_, c = index_bytes_;
  const int64_t first_draw = block * kRows, end = std::min(n_draws_, first_draw + kRows);
  int64_t entries = 0;
  for (int64_t t = first_draw; t < end; ++t) {
    if (t + kPointersAhead < n_draws_) __builtin_prefetch(start + draws_[t + kPointersAhead]);
    if (t + kRowsAhead < n_draws_) {
      const int64_t i = draws_[t + kRowsAhead];
      const int64_t first = start[i], n = std::min<int64_t>(start[i + 1] - first, kLongRow);
      prefetch_lines(values + first * v, n * v);
      prefetch_lines(columns + first * c, n * c);
    }
    const int64_t i = draws_[t], first = start[i], n = start[i + 1] - first;
    Row& row = slot.rows[t - first_draw];
    if (n > kLongRow || entries + n > kEntries) {
      row = {values + first * v, columns + first * c, n};
      continue;
    }
    char* to_values = slot.values.get() + entries * v;
    char* to_columns = slot.columns.get() + entries * c;
    copy_row(to_values, values + first * v, n * v);
    copy_row(to_columns, columns + first * c, n * c);
    row = {to_values, to_columns, n};
    entries += n;
  }
}

}  // namespace pegasos
