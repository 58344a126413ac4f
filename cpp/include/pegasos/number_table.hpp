// Reads text of nothing but numbers with a delimiter between them: csv and tsv as programs write them.
//
// What else there may be in a table (quoted cells, missing values, dates, ragged lines) is left to a reader of tables:
// this one only says that the text is not plain. What both can read has the same bits. A cell is the nearest double,
// and that is rounded to T. As a column of whole numbers is one of integers to the other, and one number tells nothing
// of its column, whole numbers that might be read otherwise are not plain: -0 and those from 2^53 on.
//
// Text comes in blocks as in svmlight.hpp, and is divided in the same way.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pegasos/growing.hpp"

namespace pegasos {

template <class T>
class NumberTable {
 public:
  // What becomes of a column: its place among the features, from 0 on, or one of these.
  static constexpr int32_t kSkipped = -1, kLabel = -2, kLabelText = -3;

  NumberTable(char delimiter, std::vector<int32_t> places, int64_t n_features);

  // Reads the lines that end within the block, or all if it is the last; returns how many bytes that was: the rest
  // has to be given again. When the text has turned out not to be plain, nothing more may be fed.
  int64_t feed(const char* text, int64_t size, bool is_last, int n_threads);

  bool is_plain() const { return is_plain_; }

  Growing<T> values;  // row by row
  Growing<double> labels;
  std::string label_texts;  // one in a line

 private:
  struct Piece;
  void read(Piece& piece) const;
  const char* read_line(const char* p, Piece& piece, T* row, double* label) const;
  void close_gap(const Piece& piece);

  char delimiter_;
  std::vector<int32_t> places_;
  std::vector<uint8_t>
      is_four_;  // whether four columns from here on go to places next to each other
  int64_t n_features_, n_rows_ = 0;
  bool with_labels_ = false, is_plain_ = true;
};

}  // namespace pegasos
