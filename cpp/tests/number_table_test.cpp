// The reader of text of plain numbers, on blocks of memory of exactly the right size.
#include "pegasos/number_table.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "check.hpp"

namespace tests {
namespace {

using Places = std::vector<int32_t>;
constexpr int32_t kSkipped = -1, kLabel = -2, kLabelText = -3;

template <class T>
std::vector<T> copy_of(const pegasos::Growing<T>& items) {
  return {items.data(), items.data() + items.size()};
}

// Feeds in blocks of so many bytes, or more if a line is longer.
template <class T>
pegasos::NumberTable<T> read(const std::string& text, const Places& places, int64_t block = 1 << 20,
                             int n_threads = 1) {
  const int64_t n_features = 1 + *std::max_element(places.begin(), places.end());
  pegasos::NumberTable<T> reader(',', places, n_features);
  const int64_t size = static_cast<int64_t>(text.size());
  int64_t done = 0, length = block;
  while (reader.is_plain()) {
    const int64_t n = std::min(length, size - done);
    const bool is_last = done + n == size;
    const std::vector<char> exact(text.begin() + done, text.begin() + done + n);
    const int64_t used = reader.feed(exact.data(), n, is_last, n_threads);
    done += used;
    length = used == 0 ? 2 * length : block;
    if (is_last) break;
  }
  return reader;
}

void columns_go_to_their_places() {
  const std::string text = "1,2,-3.5,x y,4\r\n\n5e1,.5, 6 ,,7.\n\r\n0,-0.0,9007199254740991,z,8";
  const auto reader = read<double>(text, {1, kSkipped, 0, kLabelText, kLabel});
  CHECK(reader.is_plain(), text);
  CHECK((copy_of(reader.values) == Doubles{-3.5, 1, 6, 50, 9007199254740991.0, 0}), text);
  CHECK((copy_of(reader.labels) == Doubles{4, 7, 8}), text);
  CHECK(reader.label_texts == "x y\n\nz\n", text);
  const auto without = read<float>("1,a\n2,b\n", {0, kSkipped});
  CHECK(without.is_plain() && without.labels.size() == 0 && without.label_texts.empty(), "");
  CHECK((copy_of(without.values) == std::vector<float>{1, 2}), "");
}

void cells_of_one_digit_are_told_from_others() {
  const Places places = {0, 1, 2, 3, 4, 5, kLabel};
  for (const char* cells :
       {"0,1,2,3,4,5,6", "9,9,9,9,9,9,9", "0,1,2,3.5,4,5,6", "10,1,2,3,4,5,6"}) {
    const std::string text = std::string(cells) + "\n" + cells + "\n";
    const auto reader = read<float>(text, places);
    CHECK(reader.is_plain() && reader.labels.size() == 2, text);
    const char* p = cells;
    for (int j = 0; j < 6; ++j) {
      CHECK(reader.values.data()[j] == std::strtof(p, nullptr), text);
      CHECK(reader.values.data()[6 + j] == std::strtof(p, nullptr), text);
      p = std::strchr(p, ',') + 1;
    }
  }
  for (char c = '!'; c < 127; ++c) {
    const std::string text = std::string("1,1,1,") + c + ",1,1,1\n1,1,1,1" + c + "1,1,1\n";
    CHECK(!read<float>(text, places).is_plain(), text);
  }
  for (const char* ragged : {"0,1,2,3\n0,1,2,3\n", "0,1,2,3,4,5,6,\n", "0,1,2,3,4,5,6,7,8,9,0\n"})
    CHECK(!read<double>(ragged, places).is_plain(), ragged);
  CHECK(!read<double>("0,1,2,3,\n0,1,2,3\n", {0, 1, 2, 3}).is_plain(), "");
  CHECK((copy_of(read<double>("1,2,3,4,5\n6,7,8,9,0\n", {4, 3, 2, 1, 0}).values) ==
         Doubles{5, 4, 3, 2, 1, 0, 9, 8, 7, 6}),
        "");
}

void what_is_no_plain_number_is_left_to_others() {
  for (const char* cell : {"",
                           " ",
                           "+1",
                           "-",
                           "-0",
                           "-00",
                           "\"1\"",
                           "1\"",
                           "a",
                           "1a",
                           "1 2",
                           "nan",
                           "inf",
                           "1e",
                           "1e+",
                           ".",
                           "0x1",
                           "1\r",
                           "\r1",
                           "1\t",
                           "1,2",
                           "1_0",
                           "1e39",
                           "-1e39",
                           "9007199254740992",
                           "-123456789012345678901",
                           "\xEF\xBB\xBF"
                           "1"}) {
    const std::string text = "1,2\n" + std::string(cell) + ",1\n";
    CHECK(!read<float>(text, {0, kLabel}).is_plain(), text);
    CHECK(!read<float>(text, {0, kSkipped}).is_plain(), text);
  }
  for (const char* rows : {"1\n", "1,2,3\n", "1,2,\n", "1,\"2\"\n", "1,2\r3\n", "1,2\r\r\n"})
    CHECK(!read<double>(rows, {0, kSkipped}).is_plain(), rows);
  CHECK(read<double>("1e39,-0.0\n-0e5,9007199254740992.0\n", {0, 1}).is_plain(), "");
  CHECK(read<double>("", {0}).is_plain(), "");
}

template <class T>
void blocks_pieces_and_threads_change_nothing() {
  std::mt19937 random(3);
  std::string text;
  std::vector<T> values;
  Doubles labels;
  for (int i = 0; i < 150000; ++i) {
    if (random() % 20 == 0) text += "\n\r\n";
    for (int j = 0; j < 2; ++j) {
      char cell[64];
      std::snprintf(cell, sizeof cell, "%.*g", static_cast<int>(random() % 17) + 1,
                    (static_cast<double>(random()) - 1e9) / 1e6);
      text += std::string(cell) + ",";
      values.push_back(static_cast<T>(std::strtod(cell, nullptr)));
    }
    labels.push_back(random() % 3);
    text += std::to_string(static_cast<int>(labels.back())) + (random() % 5 ? "\n" : "\r\n");
  }
  for (int64_t block : {int64_t{1} << 30, int64_t{100000}})
    for (int n_threads : {1, 2, 5}) {
      const auto reader = read<T>(text, {0, 1, kLabel}, block, n_threads);
      CHECK(reader.is_plain(), "");
      const std::vector<T> found = copy_of(reader.values);
      CHECK(found.size() == values.size() &&
                std::memcmp(found.data(), values.data(), values.size() * sizeof(T)) == 0,
            "");
      CHECK(copy_of(reader.labels) == labels, "");
      CHECK(!read<T>(text + "1,2,x\n" + text, {0, 1, kLabel}, block, n_threads).is_plain(), "");
    }
}

}  // namespace

void number_table_tests() {
  columns_go_to_their_places();
  cells_of_one_digit_are_told_from_others();
  what_is_no_plain_number_is_left_to_others();
  blocks_pieces_and_threads_change_nothing<float>();
  blocks_pieces_and_threads_change_nothing<double>();
}

}  // namespace tests
