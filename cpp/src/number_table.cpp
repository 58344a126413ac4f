#include "pegasos/number_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "pegasos/decimal.hpp"
#include "pegasos/parallel.hpp"
#include "pegasos/text_pieces.hpp"

namespace pegasos {
namespace {

constexpr int64_t kLongestLine = 16 << 20;     // as in tables
constexpr double kWhole = 9007199254740992.0;  // 2^53

bool is_whole(const char* p, const char* end) {
  return std::none_of(p, end, [](char c) { return c == '.' || c == 'e' || c == 'E'; });
}

const char* skip_spaces(const char* p) {
  while (*p == ' ') ++p;
  return p;
}

// Reads four cells of one digit, as in 0,1,0,0, if there are such: most values of many files. A digit and the
// delimiter after it are compared with '0' and the delimiter, four times in `zeros`: 0 to 9 is left of what is right.
template <class T>
inline bool read_four_digits(const char* p, uint64_t zeros, T* values) {
  uint64_t digits;
  std::memcpy(&digits, p, 8);
  digits ^= zeros;
  if ((digits | (digits + 0x0006000600060006u)) & 0xFFF0FFF0FFF0FFF0u) return false;
  for (int k = 0; k < 4; ++k) values[k] = static_cast<T>(static_cast<int>(digits >> 16 * k & 15));
  return true;
}

// Reads a number with spaces around it; returns its end, or nullptr if it is not plain.
template <class T>
inline const char* read_cell(const char* p, const char* end, T* value) {
  p = skip_spaces(p);
  double number = 0;
  const char* const last = *p == '+' ? nullptr : read_number(p, end, &number);
  if (!last) return nullptr;
  *value = static_cast<T>(number);
  if (number == 0) {
    if (*p == '-' && is_whole(p, last)) return nullptr;
  } else if (!(std::fabs(number) < kWhole)) {
    if (is_whole(p, last) || !std::isfinite(*value)) return nullptr;
  }
  return skip_spaces(last);
}

}  // namespace

template <class T>
NumberTable<T>::NumberTable(char delimiter, std::vector<int32_t> places, int64_t n_features)
    : delimiter_(delimiter), places_(std::move(places)), n_features_(n_features) {
  const size_t n = places_.size();
  for (size_t j = 0; j < n; ++j) {
    with_labels_ |= places_[j] == kLabel;
    bool is_four = kEightAtOnce && places_[j] >= 0 && j + 4 < n;  // the last cell has no delimiter
    for (size_t k = 1; k < 4; ++k) is_four = is_four && places_[j + k] == places_[j + k - 1] + 1;
    is_four_.push_back(is_four);
  }
}

// Whole lines, and where what is in them goes.
template <class T>
struct NumberTable<T>::Piece {
  const char* text;
  const char* end;
  int64_t row = 0, n_lines = 0;  // no more rows than these
  T* values = nullptr;
  double* labels = nullptr;
  int64_t n_rows = 0;  // what was found
  std::string label_texts = {};
  bool is_plain = false;
};

template <class T>
int64_t NumberTable<T>::feed(const char* text, int64_t size, bool is_last, int n_threads) {
  Pieces<Piece> divided(text, size, is_last);
  std::vector<Piece>& pieces = divided.pieces;
  const int64_t n_pieces = static_cast<int64_t>(pieces.size());
  parallel_for(n_pieces, n_threads,
               [&](int64_t k) { pieces[k].n_lines = count('\n', pieces[k].text, pieces[k].end); });
  int64_t n_rows = n_rows_;
  for (Piece& piece : pieces) {
    piece.row = n_rows;
    n_rows += piece.n_lines;
  }
  values.reserve(n_rows * n_features_);
  if (with_labels_) labels.reserve(n_rows);
  for (Piece& piece : pieces) {
    piece.values = values.data() + piece.row * n_features_;
    if (with_labels_) piece.labels = labels.data() + piece.row;
  }
  parallel_for(n_pieces, n_threads, [&](int64_t k) { read(pieces[k]); });
  for (const Piece& piece : pieces) {
    is_plain_ = is_plain_ && piece.is_plain;
    if (!is_plain_) break;
    close_gap(piece);
  }
  return divided.n_used;
}

template <class T>
void NumberTable<T>::read(Piece& piece) const {
  T* row = piece.values;
  double* label = piece.labels;
  for (const char* p = piece.text; p < piece.end;) {
    const char* const content = p + (p[0] == '\r' && p[1] == '\n');
    if (*content == '\n') {
      p = content + 1;
      continue;
    }
    const char* const after = read_line(p, piece, row, label);
    if (!after || after - p > kLongestLine) return;
    p = after;
    row += n_features_;
    if (with_labels_) ++label;
    ++piece.n_rows;
  }
  piece.is_plain = true;
}

// Returns where the next line begins, or nullptr if this one is not plain.
template <class T>
const char* NumberTable<T>::read_line(const char* p, Piece& piece, T* row, double* label) const {
  const char delimiter = delimiter_;
  const uint64_t zeros =
      uint64_t{0x0001000100010001} * ('0' | static_cast<uint8_t>(delimiter) << 8);
  const size_t n = places_.size();
  for (size_t j = 0; j < n;) {
    const int32_t place = places_[j];
    if (is_four_[j] && piece.end - p >= 8 && read_four_digits(p, zeros, row + place)) {
      p += 8;
      j += 4;
      continue;
    }
    if (place >= 0) {
      p = read_cell(p, piece.end, row + place);
    } else if (place == kLabel) {
      p = read_cell(p, piece.end, label);
    } else {
      const char* const cell = p;
      while (*p != delimiter && *p != '\n' && *p != '\r' && *p != '"') ++p;
      if (place == kLabelText) piece.label_texts.append(cell, p).push_back('\n');
    }
    if (!p || (++j < n && *p++ != delimiter)) return nullptr;
  }
  p += *p == '\r';
  return *p == '\n' ? p + 1 : nullptr;
}

// Empty lines were counted: then rows begin later than those before end.
template <class T>
void NumberTable<T>::close_gap(const Piece& piece) {
  if (piece.row != n_rows_) {
    std::copy_n(piece.values, piece.n_rows * n_features_, values.data() + n_rows_ * n_features_);
    if (with_labels_) std::copy_n(piece.labels, piece.n_rows, labels.data() + n_rows_);
  }
  n_rows_ += piece.n_rows;
  values.set_size(n_rows_ * n_features_);
  if (with_labels_) labels.set_size(n_rows_);
  label_texts += piece.label_texts;
}

template class NumberTable<float>;
template class NumberTable<double>;

}  // namespace pegasos
