// Decimal text to the nearest float or double, ties to even; no locale.
//
// Nearly all numbers in data files have at most 18 digits and a small exponent: m * 10^e or m / 10^-e, where 10^|e|
// is a double without error for |e| <= 22.
//   double: for m <= 2^53 so is m, and one operation rounds once: it is correct.
//   float:  m rounds to a double and the operation rounds again, so the result is off by at most a little more than
//           2 units in its last place; it rounds to the right float unless it lies that close to the middle between
//           two floats (its lower 29 bits near 2^28). None is subnormal as a float.
// The rest goes to the library, which is exact and slower.
//
// Text is read up to the first character that does not belong to the number; the caller makes sure that there is one
// before `end`.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace pegasos {

// The library's conversion of all of [first, last), which is a number without "+"; false if it is too large.
bool decimal_by_library(const char* first, const char* last, float* value);
bool decimal_by_library(const char* first, const char* last, double* value);

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
constexpr bool kEightAtOnce = true;
#else
constexpr bool kEightAtOnce = false;
#endif

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// How many of the eight characters, from the first (lowest) on, are digits. A carry of the sum can only come
// from a character that is no digit, and only changes those after it.
inline int leading_digits(uint64_t text) {
  const uint64_t high = 0xF0F0F0F0F0F0F0F0u;
  const uint64_t above_nine = ((text + 0x0606060606060606u) & high) >> 4;
  const uint64_t other = ((text & high) | above_nine) ^ 0x3333333333333333u;
  return other == 0 ? 8 : __builtin_ctzll(other) / 8;
}

// The number that eight digits mean: neighbours are joined to pairs, pairs to fours, fours to eight.
inline uint64_t eight_digits(uint64_t text) {
  text = (text & 0x0F0F0F0F0F0F0F0Fu) * (1 + (10u << 8)) >> 8;
  text = (text & 0x00FF00FF00FF00FFu) * (1 + (100u << 16)) >> 16;
  return (text & 0x0000FFFF0000FFFFu) * (1 + (uint64_t{10000} << 32)) >> 32;
}

// Appends the digits that begin at p to `number` (modulo 2^64) and returns where they end.
inline const char* take_digits(const char* p, const char* end, uint64_t* number) {
  static constexpr uint64_t kPower[] = {1,      10,      100,      1000,     10000,
                                        100000, 1000000, 10000000, 100000000};
  while (kEightAtOnce && end - p >= 8) {
    uint64_t text;
    std::memcpy(&text, p, 8);
    const int n = leading_digits(text);
    if (n == 0) return p;
    *number = *number * kPower[n] + eight_digits(text << (64 - 8 * n));
    p += n;
    if (n < 8 || !is_digit(*p)) return p;
  }
  for (; is_digit(*p); ++p) *number = *number * 10 + static_cast<uint64_t>(*p - '0');
  return p;
}

// Sets value = digits * 10^exponent, digits < 10^18, if that is certain to be correct.
template <class T>
bool decimal_at_once(uint64_t digits, int64_t exponent, T* value) {
  static constexpr double kPower[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                      1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                      1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  if (exponent < -22 || exponent > 22) return false;
  if (std::is_same<T, double>::value && digits > uint64_t{1} << 53) return false;
  const double m = static_cast<double>(static_cast<int64_t>(digits));  // quicker than unsigned
  const double result = exponent < 0 ? m / kPower[-exponent] : m * kPower[exponent];
  if (std::is_same<T, float>::value) {
    if (result > 3e38) return false;
    int64_t bits;
    std::memcpy(&bits, &result, 8);
    const int64_t from_middle = (bits & 0x1FFFFFFF) - 0x10000000;
    if (from_middle >= -4 && from_middle <= 4) return false;
  }
  *value = static_cast<T>(result);
  return true;
}

// Reads [+-] digits [. digits] [e [+-] digits]. Returns its end, or nullptr if this is no number or too large.
template <class T>
const char* read_number(const char* p, const char* end, T* value) {
  constexpr int64_t kHuge = 1000000;  // exponents beyond mean 0 or too large, whatever the digits
  const bool negative = *p == '-';
  p += negative || *p == '+';
  const char* const first = p;
  uint64_t digits = 0;
  if (is_digit(p[0]) && !is_digit(p[1]))  // as in 0.25: most values of most files
    digits = static_cast<uint64_t>(*p++ - '0');
  else
    p = take_digits(p, end, &digits);
  int64_t n_digits = p - first, exponent = 0;
  if (*p == '.') {
    const char* const fraction = ++p;
    p = take_digits(p, end, &digits);
    exponent = fraction - p;
    n_digits -= exponent;
  }
  if (n_digits == 0) return nullptr;
  if (*p == 'e' || *p == 'E') {
    ++p;
    const bool down = *p == '-';
    p += down || *p == '+';
    if (!is_digit(*p)) return nullptr;
    int64_t power = 0;
    for (; is_digit(*p); ++p) power = power < kHuge ? power * 10 + (*p - '0') : power;
    exponent += down ? -power : power;
  }
  if (n_digits > 18 || !decimal_at_once(digits, exponent, value))
    if (!decimal_by_library(first, p, value)) return nullptr;
  if (negative) *value = -*value;
  return p;
}

}  // namespace pegasos
