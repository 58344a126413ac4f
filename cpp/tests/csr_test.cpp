// CSR rows: what is wrong with them is found, and a second thread hands them out as they are.
#include <algorithm>
#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "pegasos/engine.hpp"
#include "pegasos/row_feed.hpp"

namespace {

using namespace tests;
using pegasos::CsrFault;

template <class Index>
CsrFault fault_of(RowsView::Kind kind, const std::vector<Index>& columns,
                  const std::vector<Index>& starts, int64_t n_features = 2) {
  const Doubles values(columns.size(), 1.0);
  const RowsView view{kind,
                      values.data(),
                      columns.data(),
                      starts.data(),
                      static_cast<int64_t>(starts.size()) - 1,
                      n_features,
                      0};
  return pegasos::csr_fault(view, static_cast<int64_t>(columns.size()), 2);
}

template <class Index>
void faults_of_csr_are_found(RowsView::Kind kind) {
  const auto fault = [&](const std::vector<Index>& columns, const std::vector<Index>& starts) {
    return fault_of<Index>(kind, columns, starts);
  };
  const std::string where = std::to_string(sizeof(Index));
  CHECK(fault({}, {0}) == CsrFault::none, where);
  CHECK(fault({}, {0, 0, 0}) == CsrFault::none, where);
  CHECK(fault({0, 1, 1}, {0, 2, 3}) == CsrFault::none, where);
  CHECK(fault({1, 0, 0}, {0, 2, 3}) == CsrFault::none, where);  // any order will do
  CHECK(fault({0, 1, 1}, {1, 2, 3}) == CsrFault::row_pointers, where);
  CHECK(fault({0, 1, 1}, {0, 2, 1}) == CsrFault::row_pointers, where);
  CHECK(fault({0, 1, 1}, {0, 7, 3}) == CsrFault::row_pointers, where);
  CHECK(fault({0, 1, 1}, {0, 2, 4}) == CsrFault::row_pointers, where);
  CHECK(fault({0, 1, 1}, {0, -2, 3}) == CsrFault::row_pointers, where);
  CHECK(fault({0, 2, 1}, {0, 2, 3}) == CsrFault::column_range, where);
  CHECK(fault({-1, 1, 1}, {0, 2, 3}) == CsrFault::column_range, where);
  CHECK(fault({1, 9, 0}, {0, 3, 3}) == CsrFault::column_range, where);
  CHECK(fault({1, 1, 9}, {0, 2, 3}) == CsrFault::column_range, where);
  CHECK(fault({1, 1, 0}, {0, 2, 3}) == CsrFault::column_twice, where);
  CHECK(fault({1, 0, 1}, {0, 3, 3}) == CsrFault::column_twice, where);
  // Many ranges of rows: the worst fault counts, wherever it is.
  std::vector<Index> columns(10000, 0), starts(10001);
  for (size_t i = 0; i < starts.size(); ++i) starts[i] = static_cast<Index>(i);
  CHECK(fault(columns, starts) == CsrFault::none, where);
  --starts[6000];
  CHECK(fault(columns, starts) == CsrFault::column_twice, where);
  columns.back() = 2;
  CHECK(fault(columns, starts) == CsrFault::column_range, where);
}

// Rows of every length, some longer than a block is wide.
template <class Index>
void a_feed_hands_out_the_drawn_rows(RowsView::Kind kind, int64_t longest) {
  std::mt19937 random(static_cast<unsigned>(longest));
  std::vector<Index> starts{0}, columns;
  std::vector<float> values;
  for (int row = 0; row < 300; ++row) {
    const int64_t n = row % 7 == 0 ? 0 : static_cast<int64_t>(random() % (longest + 1));
    for (int64_t k = 0; k < n; ++k) {
      columns.push_back(static_cast<Index>(k));
      values.push_back(static_cast<float>(random() % 1000));
    }
    starts.push_back(static_cast<Index>(columns.size()));
  }
  columns.shrink_to_fit();
  values.shrink_to_fit();
  const RowsView view{kind, values.data(), columns.data(), starts.data(), 300, longest, 0};
  const int64_t many =
      6'000'000 / longest * 2;  // entries enough for a thread, the mean being lower
  Draws draws(many + 7);
  for (int64_t& i : draws) i = static_cast<int64_t>(random() % 300);
  for (bool reader : {false, true})
    for (int64_t n_draws : {int64_t{0}, int64_t{1}, many + 7}) {
      pegasos::RowFeed feed(view, draws.data(), n_draws, reader);
      int64_t copied = 0, wrong = 0;
      for (int64_t t = 0; t < n_draws; t += pegasos::RowFeed::kRows) {
        const pegasos::RowFeed::Row* rows = feed.take(t / pegasos::RowFeed::kRows);
        if (!rows && copied == 0 && reader && n_draws > 1)
          std::this_thread::sleep_for(std::chrono::milliseconds(10));  // let the reader begin
        if (!rows) continue;
        for (int64_t k = 0; k < pegasos::RowFeed::kRows && t + k < n_draws; ++k, ++copied) {
          const int64_t i = draws[t + k], n = starts[i + 1] - starts[i];
          const float* x = static_cast<const float*>(rows[k].values);
          const Index* column = static_cast<const Index*>(rows[k].columns);
          wrong += rows[k].n != n || !std::equal(x, x + n, values.data() + starts[i]) ||
                   !std::equal(column, column + n, columns.data() + starts[i]);
        }
      }
      const bool expected = reader && n_draws > 1;
      CHECK((copied > 0) == expected && wrong == 0, std::to_string(longest));
    }
  pegasos::RowFeed abandoned(view, draws.data(), many, true);  // must end without being emptied
  abandoned.take(0);
}

}  // namespace

void tests::csr_tests() {
  faults_of_csr_are_found<int32_t>(RowsView::csr_f64_i32);
  faults_of_csr_are_found<int64_t>(RowsView::csr_f64_i64);
  for (int64_t longest : {10, 40, 3000}) {
    a_feed_hands_out_the_drawn_rows<int32_t>(RowsView::csr_f32_i32, longest);
    a_feed_hands_out_the_drawn_rows<int64_t>(RowsView::csr_f32_i64, longest);
  }
}
