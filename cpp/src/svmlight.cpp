#include "pegasos/svmlight.hpp"

#include <algorithm>
#include <vector>

#include "pegasos/parallel.hpp"
#include "pegasos/ranges.hpp"
#include "pegasos/svmlight_line.hpp"
#include "pegasos/text_pieces.hpp"

namespace pegasos {
namespace {

constexpr int64_t kEntriesPerRange = 1 << 20;
constexpr int64_t kTextShown = 40;  // bytes

std::string shown(const char* p) {
  const char* last = p;
  while (!ends_item(*last) && last - p < kTextShown) ++last;
  return std::string(p, last);
}

}  // namespace

// Whole lines, and where what is in them goes.
template <class T>
struct SvmlightReader<T>::Piece {
  const char* text;
  const char* end;
  int64_t n_lines = 0, n_colons = 0;               // no more rows and entries than these
  int64_t line = 0, row = 0, entry = 0;            // the first ones
  int64_t n_rows = 0, n_entries = 0, largest = 0;  // what was found
  bool found_zero = false;
  SvmlightPlace place = {};
};

template <class T>
int64_t SvmlightReader<T>::feed(const char* text, int64_t size, bool is_last, int n_threads) {
  Pieces<Piece> divided(text, size, is_last);
  std::vector<Piece>& pieces = divided.pieces;
  const int64_t n_pieces = static_cast<int64_t>(pieces.size());
  parallel_for(n_pieces, n_threads, [&](int64_t k) {
    pieces[k].n_lines = count('\n', pieces[k].text, pieces[k].end);
    pieces[k].n_colons = count(':', pieces[k].text, pieces[k].end);
  });
  int64_t n_rows = labels.size(), n_entries = values.size();
  for (Piece& piece : pieces) {
    piece.line = n_lines_ + 1;
    piece.row = n_rows;
    piece.entry = n_entries;
    n_lines_ += piece.n_lines;
    n_rows += piece.n_lines;
    n_entries += piece.n_colons;
  }
  labels.reserve(n_rows);
  ends.reserve(n_rows);
  columns.reserve(n_entries);
  values.reserve(n_entries);
  if (with_qid_) qids.reserve(n_rows);
  parallel_for(n_pieces, n_threads, [&](int64_t k) { read(pieces[k]); });
  for (Piece& piece : pieces) {
    if (piece.place.fault != SvmlightFault::none) {
      place_ = piece.place;
      break;
    }
    close_gaps(piece);
    found_zero_ |= piece.found_zero;
    largest_ = std::max(largest_, piece.largest);
  }
  return divided.n_used;
}

template <class T>
void SvmlightReader<T>::read(Piece& piece) {
  SvmlightRow<T> row{labels.data() + piece.row,
                     with_qid_ ? qids.data() + piece.row : nullptr,
                     columns.data() + piece.entry,
                     values.data() + piece.entry,
                     first_index_ == FirstIndex::zero ? 1 : 0,
                     first_index_ == FirstIndex::one};
  const T* const values_begin = values.data();
  int64_t line = piece.line;
  for (const char* p = piece.text; p < piece.end; ++line) {
    const LineEnd read = read_line(p, piece.end, row);
    if (read.fault != SvmlightFault::none) {
      piece.place = {read.fault, line, read.p - p + 1, shown(read.p)};
      return;
    }
    if (read.is_row) ends.data()[piece.row + piece.n_rows++] = row.value - values_begin;
    p = read.p;
  }
  piece.n_entries = row.value - (values_begin + piece.entry);
  piece.found_zero = row.found_zero;
  piece.largest = row.largest;
}

// Comments and empty lines were counted: then rows and entries begin later than those before end.
template <class T>
void SvmlightReader<T>::close_gaps(Piece& piece) {
  const int64_t row = labels.size(), entry = values.size();
  if (piece.row != row) {
    std::copy_n(labels.data() + piece.row, piece.n_rows, labels.data() + row);
    std::copy_n(ends.data() + piece.row, piece.n_rows, ends.data() + row);
    if (with_qid_) std::copy_n(qids.data() + piece.row, piece.n_rows, qids.data() + row);
  }
  if (piece.entry != entry) {
    std::copy_n(columns.data() + piece.entry, piece.n_entries, columns.data() + entry);
    std::copy_n(values.data() + piece.entry, piece.n_entries, values.data() + entry);
    for (int64_t i = 0; i < piece.n_rows; ++i) ends.data()[row + i] -= piece.entry - entry;
  }
  labels.set_size(row + piece.n_rows);
  ends.set_size(row + piece.n_rows);
  columns.set_size(entry + piece.n_entries);
  values.set_size(entry + piece.n_entries);
  if (with_qid_) qids.set_size(row + piece.n_rows);
}

// An index 0 may come late: until then, indices were taken to begin with 1.
template <class T>
void SvmlightReader<T>::finish(int n_threads) {
  if (first_index_ != FirstIndex::guess || !found_zero_) return;
  const int64_t n = columns.size();
  parallel_for(count_ranges(n, kEntriesPerRange), n_threads, [&](int64_t k) {
    const RowRange range = range_at(k, n, kEntriesPerRange);
    for (int64_t i = range.first; i < range.last; ++i) ++columns.data()[i];
  });
}

template class SvmlightReader<float>;
template class SvmlightReader<double>;

}  // namespace pegasos
