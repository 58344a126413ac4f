// The reader of csv text of plain numbers: bytes in, arrays out, which are handed over without a copy.
#include "pegasos/number_table.hpp"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <variant>

#include "arrays.hpp"

namespace {

using pegasos::NumberTable;
using Reader = std::variant<NumberTable<float>, NumberTable<double>>;

struct Table {
  Reader reader;
  int64_t n_features;
  bool is_done = false;
};

Table number_table(const std::string& delimiter, std::vector<int32_t> places, bool in_double) {
  require(delimiter.size() == 1, "delimiter must be one character");
  std::vector<int32_t> features;
  for (const int32_t place : places) {
    require(place >= NumberTable<float>::kLabelText, "places must be -3 or more");
    if (place >= 0) features.push_back(place);
  }
  require(!features.empty(), "there must be a feature");
  std::sort(features.begin(), features.end());
  const int64_t n_features = static_cast<int64_t>(features.size());
  for (int64_t k = 0; k < n_features; ++k)
    require(features[k] == k, "every place of a feature must be there once");
  if (in_double)
    return {NumberTable<double>(delimiter[0], std::move(places), n_features), n_features};
  return {NumberTable<float>(delimiter[0], std::move(places), n_features), n_features};
}

int64_t feed(Table& self, In<uint8_t, 1> text, bool is_last, int n_threads) {
  require(!self.is_done, "all is read");
  return std::visit(
      [&](auto& reader) {
        require(reader.is_plain(), "the text is not plain");
        nb::gil_scoped_release release;
        return reader.feed(reinterpret_cast<const char*>(text.data()),
                           static_cast<int64_t>(text.shape(0)), is_last, n_threads);
      },
      self.reader);
}

bool is_plain(const Table& self) {
  return std::visit([](const auto& reader) { return reader.is_plain(); }, self.reader);
}

// (features, labels, texts of the labels)
nb::tuple finish(Table& self) {
  require(!self.is_done, "all is read");
  self.is_done = true;
  return std::visit(
      [&](auto& reader) {
        return nb::make_tuple(array_of(reader.values, self.n_features), array_of(reader.labels),
                              nb::bytes(reader.label_texts.data(), reader.label_texts.size()));
      },
      self.reader);
}

}  // namespace

void bind_number_table(nb::module_& m) {
  nb::class_<Table>(m, "NumberTable")
      .def("feed", &feed, nb::arg("text").noconvert(), nb::kw_only(), "is_last"_a, "n_threads"_a)
      .def("is_plain", &is_plain)
      .def("finish", &finish);
  m.def("number_table", &number_table, nb::kw_only(), "delimiter"_a, "places"_a, "in_double"_a);
}
