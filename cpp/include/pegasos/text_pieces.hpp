// Text is divided into pieces of whole lines, which threads take one by one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace pegasos {

// How often a character occurs. Counted in bytes, a register at a time; 255 is what fits.
inline int64_t count(char wanted, const char* text, const char* end) {
  int64_t total = 0;
  while (text < end) {
    const int64_t n = std::min<int64_t>(end - text, 255);
    uint8_t part = 0;
    for (int64_t k = 0; k < n; ++k) part += text[k] == wanted;
    total += part;
    text += n;
  }
  return total;
}

// There is an end of a line before `end`.
inline const char* next_line(const char* p, const char* end) {
  return static_cast<const char*>(std::memchr(p, '\n', end - p)) + 1;
}

// Piece begins with two pointers, to its text and to the end of it; every piece ends with '\n'.
template <class Piece>
struct Pieces {
  std::vector<Piece> pieces;
  std::string rest;  // the last line of all, if it was not ended
  int64_t n_used = 0;

  Pieces(const char* text, int64_t size, bool is_last) {
    constexpr int64_t kPieceBytes = 1 << 20;
    const char* const end = text + size;
    const char* whole = end;
    while (whole > text && whole[-1] != '\n') --whole;
    for (const char* p = text; p < whole;) {
      const char* const cut = whole - p > kPieceBytes ? next_line(p + kPieceBytes, whole) : whole;
      pieces.push_back({p, cut});
      p = cut;
    }
    if (is_last && whole < end) {
      rest.assign(whole, end).push_back('\n');
      pieces.push_back({rest.data(), rest.data() + rest.size()});
    }
    n_used = is_last ? size : whole - text;
  }
  Pieces(const Pieces&) = delete;  // a piece may point to the rest
  Pieces& operator=(const Pieces&) = delete;
};

}  // namespace pegasos
