// The reader of svmlight text: bytes in, arrays out, which are handed over without a copy.
#include "pegasos/svmlight.hpp"

#include <variant>

#include "arrays.hpp"

namespace {

using pegasos::FirstIndex;
using pegasos::SvmlightFault;
using Reader = std::variant<pegasos::SvmlightReader<float>, pegasos::SvmlightReader<double>>;

struct Svmlight {
  Reader reader;
  bool is_done = false;
};

const char* name_of(SvmlightFault fault) {
  switch (fault) {
    case SvmlightFault::none: return "";
    case SvmlightFault::label: return "label";
    case SvmlightFault::no_label: return "no_label";
    case SvmlightFault::several_labels: return "several_labels";
    case SvmlightFault::qid: return "qid";
    case SvmlightFault::no_qid: return "no_qid";
    case SvmlightFault::index: return "index";
    case SvmlightFault::index_zero: return "index_zero";
    case SvmlightFault::index_range: return "index_range";
    case SvmlightFault::index_order: return "index_order";
    case SvmlightFault::index_twice: return "index_twice";
    case SvmlightFault::no_value: return "no_value";
    case SvmlightFault::value: return "value";
  }
  return "";
}

Svmlight svmlight_reader(bool in_double, std::optional<bool> zero_based, bool with_qid) {
  const FirstIndex first = !zero_based   ? FirstIndex::guess
                           : *zero_based ? FirstIndex::zero
                                         : FirstIndex::one;
  if (in_double) return {pegasos::SvmlightReader<double>(first, with_qid)};
  return {pegasos::SvmlightReader<float>(first, with_qid)};
}

int64_t feed(Svmlight& self, In<uint8_t, 1> text, bool is_last, int n_threads) {
  require(!self.is_done, "all is read");
  return std::visit(
      [&](auto& reader) {
        require(reader.place().fault == SvmlightFault::none, "the text has a fault");
        nb::gil_scoped_release release;
        return reader.feed(reinterpret_cast<const char*>(text.data()),
                           static_cast<int64_t>(text.shape(0)), is_last, n_threads);
      },
      self.reader);
}

// (name of the fault or "", line, column, what is there)
nb::tuple fault(const Svmlight& self) {
  return std::visit(
      [](const auto& reader) {
        const pegasos::SvmlightPlace& place = reader.place();
        return nb::make_tuple(name_of(place.fault), place.line, place.column,
                              nb::bytes(place.text.data(), place.text.size()));
      },
      self.reader);
}

// (labels, values, columns, ends of the rows, qids, features)
nb::tuple finish(Svmlight& self, int n_threads) {
  require(!self.is_done, "all is read");
  self.is_done = true;
  return std::visit(
      [&](auto& reader) {
        {
          nb::gil_scoped_release release;
          reader.finish(n_threads);
        }
        const int64_t n_features = reader.n_features();
        return nb::make_tuple(array_of(reader.labels), array_of(reader.values),
                              array_of(reader.columns), array_of(reader.ends),
                              array_of(reader.qids), n_features);
      },
      self.reader);
}

bool counts_from_zero(const Svmlight& self) {
  return std::visit([](const auto& reader) { return reader.counts_from_zero(); }, self.reader);
}

}  // namespace

void bind_svmlight(nb::module_& m) {
  nb::class_<Svmlight>(m, "Svmlight")
      .def("feed", &feed, nb::arg("text").noconvert(), nb::kw_only(), "is_last"_a, "n_threads"_a)
      .def("fault", &fault)
      .def("finish", &finish, nb::kw_only(), "n_threads"_a)
      .def("counts_from_zero", &counts_from_zero);
  m.def("svmlight_reader", &svmlight_reader, nb::kw_only(), "in_double"_a,
        nb::arg("zero_based").none(), "with_qid"_a);
}
