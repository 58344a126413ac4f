// Coverage-guided fuzzing of the svmlight reader (make fuzz; needs clang).
//
// Any bytes at all may come: nothing may be read or written out of bounds, and the result must be a sound CSR
// matrix that depends neither on the size of the blocks nor on the number of threads.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "pegasos/svmlight.hpp"

namespace {

using pegasos::FirstIndex;
using pegasos::SvmlightFault;
using pegasos::SvmlightReader;

void demand(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::abort();
}

template <class T>
bool read(SvmlightReader<T>& reader, const char* text, int64_t size, int64_t block, int n_threads) {
  int64_t done = 0, length = block;
  for (bool is_last = false; !is_last;) {
    const int64_t n = std::min(length, size - done);
    is_last = done + n == size;
    // A block of its own, so that a load beyond its end is found.
    const std::vector<char> exact(text + done, text + done + n);
    const int64_t used = reader.feed(exact.data(), n, is_last, n_threads);
    if (reader.place().fault != SvmlightFault::none) return false;
    done += used;
    length = used == 0 ? 2 * length : block;
  }
  reader.finish(n_threads);
  return true;
}

template <class T>
void check_rows(const SvmlightReader<T>& reader) {
  const int64_t n_rows = reader.labels.size(), n_entries = reader.values.size();
  demand(reader.ends.size() == n_rows && reader.columns.size() == n_entries, "sizes agree");
  int64_t first = 0;
  for (int64_t i = 0; i < n_rows; ++i) {
    const int64_t end = reader.ends.data()[i];
    demand(end >= first && end <= n_entries, "rows follow each other");
    for (int64_t k = first; k < end; ++k) {
      const int64_t column = reader.columns.data()[k];
      demand(column >= 0 && column < reader.n_features(), "columns are in range");
      demand(k == first || column > reader.columns.data()[k - 1], "columns increase");
      demand(reader.values.data()[k] - reader.values.data()[k] == 0, "values are finite");
    }
    first = end;
  }
  demand(first == n_entries, "no entry is left over");
}

template <class T>
bool same(const pegasos::Growing<T>& a, const pegasos::Growing<T>& b) {
  return a.size() == b.size() &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

template <class T>
void fuzz(const char* text, int64_t size, int64_t block, FirstIndex first, bool with_qid) {
  SvmlightReader<T> at_once(first, with_qid), in_blocks(first, with_qid);
  const bool good = read(at_once, text, size, size + 1, 1);
  demand(read(in_blocks, text, size, block, 2) == good, "both are good or both are not");
  if (!good) {
    demand(at_once.place().line == in_blocks.place().line, "the fault is in the same line");
    demand(at_once.place().column == in_blocks.place().column, "and column");
    return;
  }
  check_rows(at_once);
  demand(same(at_once.labels, in_blocks.labels) && same(at_once.ends, in_blocks.ends) &&
             same(at_once.columns, in_blocks.columns) && same(at_once.values, in_blocks.values) &&
             same(at_once.qids, in_blocks.qids),
         "blocks and threads change nothing");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const FirstIndex first = static_cast<FirstIndex>(data[0] % 3);
  const bool with_qid = data[0] & 4, in_double = data[0] & 8;
  const int64_t block = data[1] + 1;
  const char* const text = reinterpret_cast<const char*>(data) + 2;
  const int64_t n = static_cast<int64_t>(size) - 2;
  if (in_double)
    fuzz<double>(text, n, block, first, with_qid);
  else
    fuzz<float>(text, n, block, first, with_qid);
  return 0;
}
