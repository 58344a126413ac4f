// An array that grows without being filled or copied where the system can move its pages, and that can be given away.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace pegasos {

// Asks for large pages: a page fault for every 4 KiB took a fifth of the time of reading a file.
inline void prefer_large_pages(void* memory, size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr size_t kPage = 4096, kWorthwhile = size_t{4} << 20;
  if (bytes < kWorthwhile) return;
  // From the start of the first page on: memory of two kinds could no longer be moved without a copy.
  const uintptr_t first = reinterpret_cast<uintptr_t>(memory) / kPage * kPage;
  const uintptr_t last = reinterpret_cast<uintptr_t>(memory) + bytes;
  madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);  // only a wish
#else
  (void)memory, (void)bytes;
#endif
}

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

template <class T>
class Growing {
  static_assert(std::is_trivially_copyable<T>::value, "memory is moved by realloc");

 public:
  T* data() { return memory_.get(); }
  const T* data() const { return memory_.get(); }
  int64_t size() const { return size_; }

  // Room for n items; those beyond size() are not set.
  void reserve(int64_t n) {
    if (n > room_) resize_memory(std::max(n, room_ + room_ / 2));
  }
  // Declares that the first n items are set.
  void set_size(int64_t n) { size_ = n; }
  // Returns the memory and what is left over to the system.
  std::unique_ptr<T[], Free> give_away() {
    resize_memory(std::max<int64_t>(size_, 1));
    room_ = size_ = 0;
    return std::move(memory_);
  }

 private:
  void resize_memory(int64_t n) {
    if (n > INT64_MAX / static_cast<int64_t>(sizeof(T))) throw std::bad_alloc();
    void* moved = std::realloc(memory_.get(), static_cast<size_t>(n) * sizeof(T));
    if (!moved) throw std::bad_alloc();
    memory_.release();
    memory_.reset(static_cast<T*>(moved));
    room_ = n;
    prefer_large_pages(moved, static_cast<size_t>(n) * sizeof(T));
  }

  std::unique_ptr<T[], Free> memory_;
  int64_t size_ = 0, room_ = 0;
};

}  // namespace pegasos
