// The reader of svmlight text, on blocks of memory of exactly the right size.
#include "pegasos/svmlight.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "check.hpp"
#include "pegasos/decimal.hpp"

namespace tests {
namespace {

using pegasos::FirstIndex;
using pegasos::SvmlightFault;
using pegasos::SvmlightReader;

template <class T>
std::vector<T> copy_of(const pegasos::Growing<T>& items) {
  return {items.data(), items.data() + items.size()};
}

// Feeds in blocks of so many bytes, or more if a line is longer.
template <class T>
SvmlightReader<T> read(const std::string& text, int64_t block, int n_threads,
                       FirstIndex first = FirstIndex::guess, bool with_qid = false) {
  SvmlightReader<T> reader(first, with_qid);
  const int64_t size = static_cast<int64_t>(text.size());
  int64_t done = 0, length = block;
  while (reader.place().fault == SvmlightFault::none) {
    const int64_t n = std::min(length, size - done);
    const bool is_last = done + n == size;
    const std::vector<char> exact(text.begin() + done, text.begin() + done + n);
    const int64_t used = reader.feed(exact.data(), n, is_last, n_threads);
    done += used;
    length = used == 0 ? 2 * length : block;
    if (is_last) break;
  }
  reader.finish(n_threads);
  return reader;
}

std::string generated(int64_t n_lines) {
  std::mt19937 random(1);
  std::string text;
  for (int64_t i = 0; i < n_lines; ++i) {
    if (random() % 20 == 0) text += "# 1:2 not a row\n\n";
    text += random() % 2 ? "+1" : "-1";
    if (random() % 3 == 0) text += " qid:7";
    int index = 0;
    for (unsigned k = random() % 12; k > 0; --k)
      text += " " + std::to_string(index += 1 + random() % 1000) + ":" +
              std::to_string(static_cast<double>(random()) / 1e7);
    text += random() % 5 == 0 ? " # 3:4\r\n" : "\n";
  }
  return text;
}

void the_parts_of_a_line_are_told_apart() {
  const auto r = read<double>("# head 1:1\n1 qid:5 1:0.5 7:-2e3 # c 9:9\r\n\n-2.5 qid:-6\t3:+.25",
                              1000, 1, FirstIndex::guess, true);
  CHECK(r.place().fault == SvmlightFault::none, "");
  CHECK((copy_of(r.labels) == Doubles{1, -2.5}), "");
  CHECK((copy_of(r.values) == Doubles{0.5, -2000, 0.25}), "");
  CHECK((copy_of(r.columns) == std::vector<int32_t>{0, 6, 2}), "");
  CHECK((copy_of(r.ends) == std::vector<int64_t>{2, 3}), "");
  CHECK((copy_of(r.qids) == std::vector<int64_t>{5, -6}), "");
  CHECK(r.n_features() == 7, "");
}

void an_index_zero_anywhere_makes_all_count_from_zero() {
  const std::string text = "1 1:1 5:1\n1 0:1\n";
  CHECK((copy_of(read<float>(text, 9, 2).columns) == std::vector<int32_t>{1, 5, 0}), "");
  CHECK(read<float>(text, 9, 2).n_features() == 6, "");
  CHECK(read<float>("1 5:1\n", 9, 2, FirstIndex::zero).n_features() == 6, "");
  CHECK(read<float>("1 5:1\n", 9, 2).n_features() == 5, "");
  CHECK(read<float>("1\n", 9, 2).n_features() == 0, "");
  CHECK(read<float>(text, 9, 2, FirstIndex::one).place().fault == SvmlightFault::index_zero, "");
}

template <class T>
void blocks_pieces_and_threads_change_nothing() {
  const std::string text = generated(60000);  // several pieces
  const auto all = read<T>(text, static_cast<int64_t>(text.size()), 1);
  CHECK(all.labels.size() == 60000, "");
  for (int64_t block : {997, 100000, 100000000})
    for (int n_threads : {1, 2, 5}) {
      if (block == 997 && n_threads > 1) continue;  // thousands of threads in turn
      const auto other = read<T>(text, block, n_threads);
      const std::string where = std::to_string(block) + "/" + std::to_string(n_threads);
      CHECK(copy_of(other.labels) == copy_of(all.labels), where);
      CHECK(copy_of(other.ends) == copy_of(all.ends), where);
      CHECK(copy_of(other.columns) == copy_of(all.columns), where);
      CHECK(copy_of(other.values) == copy_of(all.values), where);
    }
}

void faults_say_where_and_what() {
  struct Case {
    const char* text;
    SvmlightFault fault;
    int64_t line, column;
    const char* there;
  };
  const std::string long_line = "1 " + std::string(5000, '7') + ":1";
  const Case cases[] = {
      {"1 1:1\nspam 1:1\n", SvmlightFault::label, 2, 1, "spam"},
      {"1e999 1:1", SvmlightFault::label, 1, 1, "1e999"},
      {"\n1,2 1:1", SvmlightFault::several_labels, 2, 1, "1,2"},
      {"1:1 2:1", SvmlightFault::no_label, 1, 1, "1:1"},
      {"1 1:1 3:1 2:1", SvmlightFault::index_order, 1, 11, "2:1"},
      {"1 1:1 1:1", SvmlightFault::index_twice, 1, 7, "1:1"},
      {"1 2147483648:1", SvmlightFault::index_range, 1, 3, "2147483648:1"},
      {long_line.c_str(), SvmlightFault::index_range, 1, 3,
       "7777777777777777777777777777777777777777"},
      {"1 -3:1", SvmlightFault::index, 1, 3, "-3:1"},
      {"1 1:1 x:1", SvmlightFault::index, 1, 7, "x:1"},
      {"1 1x:1", SvmlightFault::index, 1, 3, "1x:1"},
      {"1 1:1 2", SvmlightFault::no_value, 1, 7, "2"},
      {"1 1:", SvmlightFault::value, 1, 3, "1:"},
      {"1 1: 2", SvmlightFault::value, 1, 3, "1:"},
      {"1 1:1e", SvmlightFault::value, 1, 3, "1:1e"},
      {"1 1:1:2", SvmlightFault::value, 1, 3, "1:1:2"},
      {"1 1:nan", SvmlightFault::value, 1, 3, "1:nan"},
      {"1 1:1e39", SvmlightFault::value, 1, 3, "1:1e39"},
      {"1 1:0x10", SvmlightFault::value, 1, 3, "1:0x10"},
      {"1 1:.", SvmlightFault::value, 1, 3, "1:."},
      {"1 qid:x 1:1", SvmlightFault::qid, 1, 3, "qid:x"},
      {"1 qid:1234567890123456789 1:1", SvmlightFault::qid, 1, 3, "qid:1234567890123456789"},
      {"1 1:1 qid:3", SvmlightFault::index, 1, 7, "qid:3"},
  };
  for (const Case& c : cases) {
    const auto reader = read<float>(c.text, 1000, 2);
    const auto& place = reader.place();
    CHECK(place.fault == c.fault, c.text);
    CHECK(place.line == c.line && place.column == c.column, c.text);
    CHECK(place.text == c.there, c.text + std::string(" / ") + place.text);
  }
  const auto reader = read<float>("1 qid:1 1:1\n1 2:1", 1000, 1, FirstIndex::guess, true);
  CHECK(reader.place().fault == SvmlightFault::no_qid && reader.place().line == 2, "");
  const std::string text = generated(50000) + "1 1:1\n1 oops\n" + generated(50000);
  const int64_t line = std::count(text.begin(), text.begin() + text.find("oops"), '\n') + 1;
  for (int n_threads : {1, 3}) CHECK(read<float>(text, 70000, n_threads).place().line == line, "");
}

// The same bits as strtod and strtof, which glibc rounds correctly.
void numbers_are_rounded_correctly() {
  std::vector<std::string> numbers = {"0",
                                      "0.0",
                                      "1",
                                      "16777217",
                                      "16777219",
                                      "33554434.5",
                                      "9007199254740993",
                                      "1e22",
                                      "1e23",
                                      "1e-22",
                                      "123456789012345678901234567890",
                                      "0.000000000000000000000000000000001",
                                      "3.4028235e38",
                                      "3.40282356e38",
                                      "1.7976931348623157e308",
                                      "4.9e-324",
                                      "2.4703282292062327e-324",
                                      "2e-324",
                                      "1e-400",
                                      "1e-99999999999999999999",
                                      "0e999999999",
                                      "1.401298464324817e-45",
                                      "7.006492321624085e-46",
                                      "7.006492321624086e-46",
                                      "1e-46",
                                      "2.2250738585072011e-308",
                                      "1.00000005960464477539062",
                                      "1.00000005960464477539063",
                                      "1.0000000596046448",
                                      "00000000000000000000000001.5",
                                      "5.",
                                      ".5"};
  std::mt19937_64 random(7);
  for (int k = 0; k < 200000; ++k) {
    char text[64];
    uint64_t bits = random();
    double any;
    std::memcpy(&any, &bits, 8);
    if (!(std::abs(any) < 1e300)) any = 1.5;
    const float middle = static_cast<float>(random() % 1000000) / 977.0f;
    const double between = (static_cast<double>(middle) + std::nextafter(middle, 1e9f)) / 2;
    switch (k % 4) {
      case 0: std::snprintf(text, sizeof text, "%.17g", std::abs(any)); break;
      case 1:
        std::snprintf(text, sizeof text, "%.*g", static_cast<int>(random() % 20) + 1,
                      static_cast<double>(random()) / 1e13);
        break;
      case 2:
        std::snprintf(text, sizeof text, "%.*f", static_cast<int>(random() % 25), between);
        break;
      default:
        std::snprintf(text, sizeof text, "%llue-%d",
                      static_cast<unsigned long long>(random() >> random() % 64),
                      static_cast<int>(random() % 60));
    }
    numbers.push_back(text);
  }
  for (const std::string& number : numbers)
    for (const char* sign : {"", "-"}) {
      const std::string text = sign + number + "\n";
      const std::vector<char> exact(text.begin(), text.end());
      const char* const end = exact.data() + exact.size();
      const double right = std::strtod(text.c_str(), nullptr);
      const float right_f = std::strtof(text.c_str(), nullptr);
      double value = 0;
      float value_f = 0;
      if (std::isfinite(right)) {
        CHECK(pegasos::read_number(exact.data(), end, &value) == end - 1, text);
        CHECK(std::memcmp(&value, &right, 8) == 0, text);
      }
      const char* const stop = pegasos::read_number(exact.data(), end, &value_f);
      CHECK(std::isfinite(right_f) ? stop == end - 1 : stop == nullptr, text);
      if (stop) CHECK(std::memcmp(&value_f, &right_f, 4) == 0, text);
    }
}

}  // namespace

void svmlight_tests() {
  the_parts_of_a_line_are_told_apart();
  an_index_zero_anywhere_makes_all_count_from_zero();
  blocks_pieces_and_threads_change_nothing<float>();
  blocks_pieces_and_threads_change_nothing<double>();
  faults_say_where_and_what();
  numbers_are_rounded_correctly();
}

}  // namespace tests
