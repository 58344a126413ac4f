// What the bindings share: array types, checks, names.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <stdexcept>
#include <string>

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

void bind_kernel_machines(nb::module_& m);
void bind_svmlight(nb::module_& m);
