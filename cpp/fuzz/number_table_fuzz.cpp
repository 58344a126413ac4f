// Coverage-guided fuzzing of the reader of plain numbers (make fuzz; needs clang).
//
// Any bytes at all may come: nothing may be read or written out of bounds, what is read is finite and has whole rows,
// and the result depends neither on the size of the blocks nor on the number of threads.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "pegasos/number_table.hpp"

namespace {

using pegasos::NumberTable;

void demand(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::abort();
}

template <class T>
bool read(NumberTable<T>& reader, const char* text, int64_t size, int64_t block, int n_threads) {
  int64_t done = 0, length = block;
  for (bool is_last = false; !is_last;) {
    const int64_t n = std::min(length, size - done);
    is_last = done + n == size;
    // A block of its own, so that a load beyond its end is found.
    const std::vector<char> exact(text + done, text + done + n);
    const int64_t used = reader.feed(exact.data(), n, is_last, n_threads);
    if (!reader.is_plain()) return false;
    done += used;
    length = used == 0 ? 2 * length : block;
  }
  return true;
}

template <class T>
bool same(const pegasos::Growing<T>& a, const pegasos::Growing<T>& b) {
  return a.size() == b.size() &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

template <class T>
void fuzz(const char* text, int64_t size, int64_t block, const std::vector<int32_t>& places) {
  int64_t n_features = 0;
  for (const int32_t place : places) n_features += place >= 0;
  NumberTable<T> at_once(',', places, n_features), in_blocks(',', places, n_features);
  const bool plain = read(at_once, text, size, size + 1, 1);
  demand(read(in_blocks, text, size, block, 2) == plain, "both are plain or both are not");
  if (!plain) return;
  demand(at_once.values.size() == n_features * at_once.labels.size(), "rows are whole");
  for (int64_t k = 0; k < at_once.values.size(); ++k)
    demand(at_once.values.data()[k] - at_once.values.data()[k] == 0, "values are finite");
  demand(same(at_once.values, in_blocks.values) && same(at_once.labels, in_blocks.labels) &&
             at_once.label_texts == in_blocks.label_texts,
         "blocks and threads change nothing");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  // One column of labels; the others are features, skipped, or texts, in an order that the first byte decides.
  const std::vector<std::vector<int32_t>> layouts = {
      {0, -2}, {0, 1, 2, 3, 4, 5, -2}, {-2, 3, 2, 1, 0}, {0, -1, -2, -3}};
  const std::vector<int32_t>& places = layouts[data[0] % 4];
  const int64_t block = data[1] + 1;
  const char* const text = reinterpret_cast<const char*>(data) + 2;
  const int64_t n = static_cast<int64_t>(size) - 2;
  if (data[0] & 4)
    fuzz<double>(text, n, block, places);
  else
    fuzz<float>(text, n, block, places);
  return 0;
}
