// Dense rows of mostly zeros as CSR.
#pragma once

#include <cstdint>

#include "pegasos/parallel.hpp"
#include "pegasos/ranges.hpp"

namespace pegasos {

// task(i) for every row, some thousand at a time on a thread.
template <class Task>
void for_each_row(int64_t n_rows, int n_threads, Task task) {
  parallel_for(count_ranges(n_rows, kRowsPerRange), n_threads, [&](int64_t k) {
    const RowRange range = range_at(k, n_rows, kRowsPerRange);
    for (int64_t i = range.first; i < range.last; ++i) task(i);
  });
}

template <class T>
void count_nonzero(const T* x, int64_t n_rows, int64_t n_features, int64_t* counts, int n_threads) {
  for_each_row(n_rows, n_threads, [=](int64_t i) {
    const T* row = x + i * n_features;
    int64_t count = 0;
    for (int64_t j = 0; j < n_features; ++j) count += row[j] != 0;
    counts[i] = count;
  });
}

// Row i has the entries starts[i] .. starts[i + 1] - 1.
template <class T, class Index>
void compress(const T* x, int64_t n_rows, int64_t n_features, const Index* starts, T* values,
              Index* columns, int n_threads) {
  for_each_row(n_rows, n_threads, [=](int64_t i) {
    const T* row = x + i * n_features;
    int64_t k = starts[i];
    // Every value is written, and stays if it is not zero: no branch to mispredict.
    for (int64_t j = 0; k < starts[i + 1]; ++j) {
      values[k] = row[j];
      columns[k] = static_cast<Index>(j);
      k += row[j] != 0;
    }
  });
}

}  // namespace pegasos
