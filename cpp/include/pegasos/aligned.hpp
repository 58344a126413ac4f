// Arrays that begin where a line of the cache does.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace pegasos {

constexpr size_t kLineBytes = 64;

// Keeps its space when it becomes shorter.
template <class T>
class AlignedArray {
 public:
  // n numbers, of which nobody knows what they are.
  T* resize(int64_t n) {
    space_.resize(n + kLineBytes / sizeof(T));
    return begin(n);
  }
  T* zeros(int64_t n) {
    space_.assign(n + kLineBytes / sizeof(T), T(0));
    return begin(n);
  }

 private:
  T* begin(int64_t n) {
    void* first = space_.data();
    size_t bytes = space_.size() * sizeof(T);
    return static_cast<T*>(std::align(kLineBytes, n * sizeof(T), first, bytes));
  }
  std::vector<T> space_;
};

}  // namespace pegasos
