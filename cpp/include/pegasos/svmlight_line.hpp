// One line of svmlight text. Every line here ends with '\n', which no loop goes past.
#pragma once

#include <cstdint>

#include "pegasos/decimal.hpp"
#include "pegasos/svmlight.hpp"
#include "pegasos/text_pieces.hpp"

namespace pegasos {

// Where the next row goes, and what has been seen so far.
template <class T>
struct SvmlightRow {
  double* label;
  int64_t* qid;  // nullptr: not asked for
  int32_t* column;
  T* value;
  int32_t first_column;  // of an index 1: 0, or 1 if the text counts from 0
  bool zero_is_fault;
  bool found_zero = false;
  int64_t largest = 0;
};

struct LineEnd {
  const char* p;  // after the '\n', or where the fault is
  SvmlightFault fault = SvmlightFault::none;
  bool is_row = true;
};

inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
inline bool ends_item(char c) { return is_blank(c) || c == '\n' || c == '#'; }

inline const char* skip_blanks(const char* p) {
  while (is_blank(*p)) ++p;
  return p;
}

inline SvmlightFault label_fault(const char* p) {
  bool comma = false, colon = false;
  for (; !ends_item(*p); ++p) {
    comma |= *p == ',';
    colon |= *p == ':';
  }
  return comma   ? SvmlightFault::several_labels
         : colon ? SvmlightFault::no_label
                 : SvmlightFault::label;
}

// Reads qid:number if it is there.
template <class T>
LineEnd read_qid(const char* p, const char* end, SvmlightRow<T>& row) {
  if (!(p[0] == 'q' && p[1] == 'i' && p[2] == 'd' && p[3] == ':'))
    return {p, row.qid ? SvmlightFault::no_qid : SvmlightFault::none};
  const char* const first = p + 4 + (p[4] == '-');
  uint64_t number = 0;
  const char* const last = take_digits(first, end, &number);
  if (last == first || last - first > 18 || !ends_item(*last)) return {p, SvmlightFault::qid};
  const int64_t qid = static_cast<int64_t>(number);
  if (row.qid) *row.qid++ = p[4] == '-' ? -qid : qid;
  return {skip_blanks(last)};
}

template <class T>
LineEnd read_line(const char* p, const char* end, SvmlightRow<T>& row) {
  p = skip_blanks(p);
  if (*p == '\n' || *p == '#') return {next_line(p, end), SvmlightFault::none, false};
  const char* const after_label = read_number(p, end, row.label);
  if (!after_label || !ends_item(*after_label)) return {p, label_fault(p)};
  const LineEnd qid = read_qid(skip_blanks(after_label), end, row);
  if (qid.fault != SvmlightFault::none) return qid;
  p = qid.p;

  int64_t before = -1;
  for (; is_digit(*p); p = skip_blanks(p)) {
    const char* const entry = p;
    uint64_t digits = 0;
    p = take_digits(p, end, &digits);
    const int64_t index = static_cast<int64_t>(digits);
    if (*p != ':') return {entry, ends_item(*p) ? SvmlightFault::no_value : SvmlightFault::index};
    if (p - entry > 10 || index > INT32_MAX) return {entry, SvmlightFault::index_range};
    if (index <= before)
      return {entry, index < before ? SvmlightFault::index_order : SvmlightFault::index_twice};
    if (index == 0) {
      if (row.zero_is_fault) return {entry, SvmlightFault::index_zero};
      row.found_zero = true;
    }
    before = index;
    *row.column++ = static_cast<int32_t>(index) - 1 + row.first_column;
    p = read_number(++p, end, row.value++);
    if (!p || !ends_item(*p)) return {entry, SvmlightFault::value};
  }
  if (*p != '\n' && *p != '#') return {p, SvmlightFault::index};
  if (before > row.largest) row.largest = before;
  ++row.label;
  return {next_line(p, end)};
}

}  // namespace pegasos
