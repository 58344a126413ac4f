#include "pegasos/decimal.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#if !defined(__cpp_lib_to_chars)
#include <locale.h>
#if defined(__APPLE__)
#include <xlocale.h>
#endif
#endif

namespace pegasos {
namespace {

// What a number that does not fit stands for: nothing, or more than the largest.
template <class T>
bool is_tiny(const char* first, const char* last) {
  // The place of the first digit that counts, in powers of ten; its sign is enough to know.
  const char* p = first;
  int64_t place = -1;
  bool counts = false, in_fraction = false;
  for (; p < last && *p != 'e' && *p != 'E'; ++p) {
    if (*p == '.') {
      in_fraction = true;
      continue;
    }
    counts |= *p != '0';
    if (counts && !in_fraction) ++place;
    if (!counts && in_fraction) --place;
  }
  if (!counts) return true;
  int64_t exponent = 0;
  if (p < last) {
    const bool down = *++p == '-';
    p += down || *p == '+';
    for (; p < last; ++p)
      exponent = exponent < int64_t{1} << 50 ? exponent * 10 + (*p - '0') : exponent;
    if (down) exponent = -exponent;
  }
  return place + exponent < 0;
}

#if defined(__cpp_lib_to_chars)
template <class T>
bool convert(const char* first, const char* last, T* value) {
  const std::from_chars_result result = std::from_chars(first, last, *value);
  if (result.ec == std::errc() && result.ptr == last) return std::isfinite(*value);
  if (result.ec != std::errc::result_out_of_range || !is_tiny<T>(first, last)) return false;
  *value = 0;
  return true;
}
#else
// A standard library without from_chars for floating point.
inline void to_nearest(const char* text, locale_t c, float* value) {
  *value = strtof_l(text, nullptr, c);
}
inline void to_nearest(const char* text, locale_t c, double* value) {
  *value = strtod_l(text, nullptr, c);
}

template <class T>
bool convert(const char* first, const char* last, T* value) {
  static const locale_t c_locale = newlocale(LC_ALL_MASK, "C", nullptr);
  to_nearest(std::string(first, last).c_str(), c_locale, value);
  return std::isfinite(*value);
}
#endif

}  // namespace

bool decimal_by_library(const char* first, const char* last, float* value) {
  return convert(first, last, value);
}

bool decimal_by_library(const char* first, const char* last, double* value) {
  return convert(first, last, value);
}

}  // namespace pegasos
