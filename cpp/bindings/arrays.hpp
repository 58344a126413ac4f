// What the bindings share: array types, checks, names.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>

#include "pegasos/growing.hpp"
#include "pegasos/losses.hpp"
#include "pegasos/problem.hpp"
#include "pegasos/rows_view.hpp"

namespace nb = nanobind;
using namespace nb::literals;

template <class T, int Dim>
using In = nb::ndarray<const T, nb::ndim<Dim>, nb::c_contig, nb::device::cpu>;
template <class T, int Dim>
using Out = nb::ndarray<T, nb::ndim<Dim>, nb::c_contig, nb::device::cpu>;
template <class T, int Dim>
using MaybeOut = std::optional<Out<T, Dim>>;

constexpr size_t kTallyFields = sizeof(pegasos::Tally) / sizeof(double);

inline void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

// The data matrix: a view of NumPy or SciPy arrays that Python keeps alive.
struct Rows {
  pegasos::RowsView view;
  int64_t n_entries;
};

inline pegasos::LossName loss_name(const std::string& loss) {
  require(loss == "hinge" || loss == "log", "loss must be 'hinge' or 'log'");
  return loss == "hinge" ? pegasos::LossName::hinge : pegasos::LossName::log;
}

// Hands the items over to NumPy without a copy, as an array of so many columns; 0: as a vector.
template <class T>
nb::object array_of(pegasos::Growing<T>& items, int64_t n_columns = 0) {
  const size_t n = static_cast<size_t>(items.size()), width = static_cast<size_t>(n_columns);
  T* const memory = items.give_away().release();
  const nb::capsule owner(memory, [](void* p) noexcept { std::free(p); });
  if (n_columns == 0) return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(memory, {n}, owner));
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<2>>(memory, {n / width, width}, owner));
}

void bind_kernel_machines(nb::module_& m);
void bind_number_table(nb::module_& m);
void bind_svmlight(nb::module_& m);
