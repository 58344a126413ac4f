// Reads svmlight (libsvm) text:  label [qid:number] index:value index:value ... [# comment]
//
// Text comes in blocks of any size, cut anywhere. A block is divided into pieces at line ends, which threads take
// one by one, twice: first its lines and colons are counted, so that it is known where its rows and entries go;
// then they are written there. The result does not depend on blocks, pieces or threads.
//
// No text can do harm: whatever is not as above ends the reading with a fault that says where it was and what.
#pragma once

#include <cstdint>
#include <string>

#include "pegasos/growing.hpp"

namespace pegasos {

enum class SvmlightFault {
  none,
  label,           // not a number
  no_label,        // the line begins with an entry
  several_labels,  // with commas between them
  qid,             // not a whole number
  no_qid,          // asked for, and this line has none
  index,           // not a whole number
  index_zero,      // though they were said to begin with 1
  index_range,     // 2^31 or more
  index_order,     // smaller than the one before
  index_twice,
  no_value,  // no colon after the index
  value      // not a number, or too large for one
};

enum class FirstIndex { guess, zero, one };

struct SvmlightPlace {
  SvmlightFault fault = SvmlightFault::none;
  int64_t line = 0, column = 0;  // from 1 on; columns are bytes
  std::string text;              // what is there, as far as it fits into a message
};

template <class T>
class SvmlightReader {
 public:
  SvmlightReader(FirstIndex first_index, bool with_qid)
      : first_index_(first_index), with_qid_(with_qid) {}

  // Reads the lines that end within the block, or all if it is the last; returns how many bytes that was: the
  // rest has to be given again. After a fault nothing more may be fed.
  int64_t feed(const char* text, int64_t size, bool is_last, int n_threads);

  // When all is read: counts columns from 0, if the text counted from 1.
  void finish(int n_threads);

  const SvmlightPlace& place() const { return place_; }  // of the fault, if there is one
  int64_t n_features() const { return largest_ + (counts_from_zero() ? 1 : 0); }
  bool counts_from_zero() const {
    return first_index_ == FirstIndex::zero || (first_index_ == FirstIndex::guess && found_zero_);
  }

  Growing<double> labels;
  Growing<int64_t> ends;  // of the rows, among the entries
  Growing<int32_t> columns;
  Growing<T> values;
  Growing<int64_t> qids;

 private:
  struct Piece;
  void read(Piece& piece);
  void close_gaps(Piece& piece);

  FirstIndex first_index_;
  bool with_qid_;
  bool found_zero_ = false;
  int64_t largest_ = 0;  // as in the text; 0 as well if there is none
  int64_t n_lines_ = 0;
  SvmlightPlace place_;
};

}  // namespace pegasos
