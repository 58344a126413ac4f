// What the C++ tests share: checks that are counted, and the same numbers in every kind of rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "pegasos/losses.hpp"
#include "pegasos/rows_view.hpp"

namespace tests {

using pegasos::LossName;
using pegasos::RowsView;
using Doubles = std::vector<double>;
using Draws = std::vector<int64_t>;

inline int n_passed = 0, n_failed = 0;

inline void check(bool condition, const char* text, const char* file, int line,
                  const std::string& where) {
  if (condition) {
    ++n_passed;
    return;
  }
  ++n_failed;
  std::printf("%s:%d: failed: %s  [%s]\n", file, line, text, where.c_str());
}
#define CHECK(condition, where) ::tests::check((condition), #condition, __FILE__, __LINE__, (where))

inline const RowsView::Kind kKinds[] = {RowsView::dense_f64,   RowsView::dense_f32,
                                        RowsView::csr_f64_i32, RowsView::csr_f64_i64,
                                        RowsView::csr_f32_i32, RowsView::csr_f32_i64};
inline const LossName kLosses[] = {LossName::hinge, LossName::log};

// The same numbers in all six kinds of rows; they fit a float, so that no kind rounds them.
struct Matrix {
  int64_t n_rows, n_features;
  Doubles f64, csr_f64;
  std::vector<float> f32, csr_f32;
  std::vector<int32_t> columns32, starts32;
  std::vector<int64_t> columns64, starts64;

  Matrix(int64_t rows, int64_t features, unsigned seed, double density = 0.7, double scale = 1)
      : n_rows(rows), n_features(features) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> value(-scale, scale), chance(0, 1);
    starts32.push_back(0);
    for (int64_t i = 0; i < rows; ++i) {
      const bool empty = i % 5 == 3;
      for (int64_t j = 0; j < features; ++j) {
        const double drawn = value(random), luck = chance(random);
        const float x = !empty && luck < density ? static_cast<float>(drawn) : 0;
        f32.push_back(x);
        if (x == 0) continue;
        csr_f32.push_back(x);
        columns32.push_back(static_cast<int32_t>(j));
      }
      starts32.push_back(static_cast<int32_t>(columns32.size()));
    }
    f64.assign(f32.begin(), f32.end());
    csr_f64.assign(csr_f32.begin(), csr_f32.end());
    columns64.assign(columns32.begin(), columns32.end());
    starts64.assign(starts32.begin(), starts32.end());
    for (auto fit : {&f64, &csr_f64}) fit->shrink_to_fit();
    for (auto fit : {&f32, &csr_f32}) fit->shrink_to_fit();
    for (auto fit : {&columns32, &starts32}) fit->shrink_to_fit();
  }

  RowsView view(RowsView::Kind kind, double bias) const {
    RowsView view{kind, nullptr, nullptr, nullptr, n_rows, n_features, bias};
    const bool wide = kind == RowsView::csr_f32_i64 || kind == RowsView::csr_f64_i64;
    const bool narrow = kind == RowsView::csr_f32_i32 || kind == RowsView::csr_f64_i32;
    const bool single = kind == RowsView::dense_f32 || kind == RowsView::csr_f32_i32 ||
                        kind == RowsView::csr_f32_i64;
    if (wide || narrow) {
      view.values = single ? static_cast<const void*>(csr_f32.data()) : csr_f64.data();
      view.indices = wide ? static_cast<const void*>(columns64.data()) : columns32.data();
      view.indptr = wide ? static_cast<const void*>(starts64.data()) : starts32.data();
    } else {
      view.values = single ? static_cast<const void*>(f32.data()) : f64.data();
    }
    return view;
  }

  double dot(int64_t i, const double* w, double bias) const {
    double sum = bias * w[n_features];
    for (int64_t j = 0; j < n_features; ++j) sum += f64[i * n_features + j] * w[j];
    return sum;
  }
};

inline Draws random_draws(int64_t n_rows, int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  Draws draws;
  for (int64_t t = 0; t < n; ++t) draws.push_back(random() % n_rows);
  return draws;
}

inline bool close(const Doubles& a, const Doubles& b, double tolerance) {
  double size = 1;
  for (double x : a) size = std::max(size, std::fabs(x));
  for (size_t j = 0; j < a.size(); ++j)
    if (!(std::fabs(a[j] - b[j]) <= tolerance * size)) return false;
  return a.size() == b.size();
}

void csr_tests();           // csr_test.cpp
void team_tests();          // team_test.cpp
void gram_tests();          // gram_test.cpp
void kernel_tests();        // kernel_test.cpp
void svmlight_tests();      // svmlight_test.cpp
void number_table_tests();  // number_table_test.cpp

}  // namespace tests
