// The kernel machines: nanobind only.
#include <nanobind/stl/pair.h>

#include "arrays.hpp"
#include "pegasos/compress.hpp"
#include "pegasos/gram.hpp"
#include "pegasos/grid.hpp"
#include "pegasos/kernel_engine.hpp"

using pegasos::GramOptions;
using pegasos::GramSide;
using pegasos::KernelFunction;
using pegasos::KernelSolver;
using pegasos::StoredRows;

namespace {

using AnyInput = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
// Kernel rows, with space between the end of one and the beginning of the next, or none.
using KernelOut = nb::ndarray<nb::ndim<2>, nb::device::cpu>;
using KernelIn = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;

template <class Array>
bool is_f32(const Array& array) {
  require(array.dtype() == nb::dtype<float>() || array.dtype() == nb::dtype<double>(),
          "kernel rows must be float32 or float64");
  return array.dtype() == nb::dtype<float>();
}

// From one kernel row to the next.
template <class Array>
int64_t row_stride(const Array& rows) {
  const int64_t width = static_cast<int64_t>(rows.shape(1)), stride = rows.stride(0);
  require((width <= 1 || rows.stride(1) == 1) && (rows.shape(0) <= 1 || stride >= width),
          "the values of a kernel row must stand side by side");
  return stride;
}

// SciPy's own BLAS, from the capsules that scipy.linalg.cython_blas publishes.
void use_blas(nb::capsule single, nb::capsule twice) {
  pegasos::use_blas(reinterpret_cast<pegasos::Gemm<float>>(single.data(single.name())),
                    reinterpret_cast<pegasos::Gemm<double>>(twice.data(twice.name())));
}

KernelFunction kernel_function(const std::string& kind, double gamma, double coef0,
                               int64_t degree) {
  require(kind == "linear" || kind == "poly" || kind == "rbf",
          "kernel must be 'linear', 'poly' or 'rbf'");
  require(degree >= 1, "degree must be positive");
  const auto name = kind == "linear"
                        ? KernelFunction::linear
                        : (kind == "poly" ? KernelFunction::poly : KernelFunction::rbf);
  return {name, gamma, coef0, degree};
}

void check_rows(const In<int64_t, 1>& which, int64_t n_rows) {
  for (size_t k = 0; k < which.shape(0); ++k)
    require(which.data()[k] >= 0 && which.data()[k] < n_rows, "not a row number");
}

GramSide gram_side(const Rows& rows, const In<double, 1>& squares,
                   const std::optional<In<int64_t, 1>>& which) {
  require(static_cast<int64_t>(squares.shape(0)) == rows.view.n_rows,
          "one squared norm per row is needed");
  if (which) check_rows(*which, rows.view.n_rows);
  return {rows.view, squares.data(), which ? which->data() : nullptr,
          which ? static_cast<int64_t>(which->shape(0)) : rows.view.n_rows};
}

void squared_norms(const Rows& rows, Out<double, 1> squares, int n_threads) {
  require(static_cast<int64_t>(squares.shape(0)) == rows.view.n_rows, "squares has a wrong shape");
  nb::gil_scoped_release release;
  pegasos::squared_norms(rows.view, squares.data(), n_threads);
}

// Looks for the grid of the rows, and remembers it with them.
float find_grid(Rows& rows, float likely, int n_threads) {
  nb::gil_scoped_release release;
  rows.view.grid = pegasos::find_grid(rows.view, likely, n_threads);
  return rows.view.grid;
}

template <class T>
void count_nonzero(In<T, 2> x, Out<int64_t, 1> counts, int n_threads) {
  require(counts.shape(0) == x.shape(0), "one count per row is needed");
  nb::gil_scoped_release release;
  pegasos::count_nonzero(x.data(), static_cast<int64_t>(x.shape(0)),
                         static_cast<int64_t>(x.shape(1)), counts.data(), n_threads);
}

// The caller has counted: starts are sums of what count_nonzero says of x.
template <class T, class Index>
void compress(In<T, 2> x, In<Index, 1> starts, Out<T, 1> values, Out<Index, 1> columns,
              int n_threads) {
  require(starts.shape(0) == x.shape(0) + 1, "one start per row, and one more, is needed");
  const auto n = static_cast<size_t>(starts.data()[x.shape(0)]);
  require(values.shape(0) == n && columns.shape(0) == n, "one place per entry is needed");
  nb::gil_scoped_release release;
  pegasos::compress(x.data(), static_cast<int64_t>(x.shape(0)), static_cast<int64_t>(x.shape(1)),
                    starts.data(), values.data(), columns.data(), n_threads);
}

template <class T, class Index>
void bind_compress(nb::module_& m) {
  m.def("compress", &compress<T, Index>, nb::arg("x").noconvert(), nb::arg("starts").noconvert(),
        nb::arg("values").noconvert(), nb::arg("columns").noconvert(), nb::kw_only(),
        "n_threads"_a);
}

template <class T>
void bind_compress_values(nb::module_& m) {
  m.def("count_nonzero", &count_nonzero<T>, nb::arg("x").noconvert(), nb::arg("counts").noconvert(),
        nb::kw_only(), "n_threads"_a);
  bind_compress<T, int32_t>(m);
  bind_compress<T, int64_t>(m);
}

template <class T>
void fill_rows(const GramSide& picked, const GramSide& others, const GramOptions& options,
               const KernelOut& out, const int64_t* slots) {
  const int64_t stride = row_stride(out);
  std::vector<T*> rows(picked.n);
  for (int64_t k = 0; k < picked.n; ++k) rows[k] = static_cast<T*>(out.data()) + slots[k] * stride;
  nb::gil_scoped_release release;
  pegasos::kernel_rows(picked, others, options, rows.data());
}

void kernel_rows(const Rows& rows, In<double, 1> squares, In<int64_t, 1> picked,
                 const Rows& other_rows, In<double, 1> other_squares,
                 std::optional<In<int64_t, 1>> others, KernelOut out, In<int64_t, 1> slots,
                 const std::string& kernel, double gamma, double coef0, int64_t degree,
                 bool same_matrix, bool in_double, int n_threads) {
  const GramSide first = gram_side(rows, squares, picked);
  const GramSide second = gram_side(other_rows, other_squares, others);
  require(rows.view.n_features == other_rows.view.n_features, "rows have other features");
  require(slots.shape(0) == picked.shape(0), "one slot per picked row is needed");
  check_rows(slots, static_cast<int64_t>(out.shape(0)));
  require(static_cast<int64_t>(out.shape(1)) == second.n, "out has a wrong shape");
  const GramOptions options{kernel_function(kernel, gamma, coef0, degree), same_matrix, in_double,
                            n_threads};
  if (is_f32(out))
    fill_rows<float>(first, second, options, out, slots.data());
  else
    fill_rows<double>(first, second, options, out, slots.data());
}

void kernel_matrix(const Rows& rows, In<double, 1> squares, std::optional<In<int64_t, 1>> which,
                   int64_t first, int64_t last, KernelOut out, const std::string& kernel,
                   double gamma, double coef0, int64_t degree, bool in_double, int n_threads) {
  const GramSide all = gram_side(rows, squares, which);
  require(0 <= first && first <= last && last <= all.n, "not rows of the matrix");
  require(static_cast<int64_t>(out.shape(0)) == all.n && out.shape(1) == out.shape(0),
          "out has a wrong shape");
  const GramOptions options{kernel_function(kernel, gamma, coef0, degree), true, in_double,
                            n_threads};
  const bool single = is_f32(out);
  const int64_t stride = row_stride(out);
  nb::gil_scoped_release release;
  if (single)
    pegasos::kernel_matrix(all, options, first, last, static_cast<float*>(out.data()), stride);
  else
    pegasos::kernel_matrix(all, options, first, last, static_cast<double*>(out.data()), stride);
}

void kernel_scores(const Rows& support, In<double, 1> support_squares,
                   std::optional<In<int64_t, 1>> picked, In<double, 2> coef, const Rows& rows,
                   In<double, 1> squares, Out<double, 2> scores, const std::string& kernel,
                   double gamma, double coef0, int64_t degree, bool same_matrix, bool in_double,
                   int n_threads) {
  const GramSide first = gram_side(support, support_squares, picked);
  const GramSide second = gram_side(rows, squares, std::nullopt);
  require(support.view.n_features == rows.view.n_features, "rows have other features");
  require(static_cast<int64_t>(coef.shape(1)) == first.n, "coef has a wrong shape");
  require(scores.shape(0) == coef.shape(0) && static_cast<int64_t>(scores.shape(1)) == second.n,
          "scores has a wrong shape");
  const GramOptions options{kernel_function(kernel, gamma, coef0, degree), same_matrix, in_double,
                            n_threads};
  nb::gil_scoped_release release;
  pegasos::kernel_scores(first, second, options, coef.data(), static_cast<int64_t>(coef.shape(0)),
                         scores.data());
}

int64_t unit_depth(const Rows& rows, In<double, 1> squares, const std::string& kernel, double gamma,
                   double coef0, int64_t degree, bool in_double) {
  const GramOptions options{kernel_function(kernel, gamma, coef0, degree), true, in_double, 1};
  return pegasos::unit_depth(gram_side(rows, squares, std::nullopt), options);
}

// The arrays of a run, kept alive, and the run over them.
struct KernelRun {
  In<int32_t, 1> code;
  std::optional<In<double, 1>> weight;
  In<double, 1> diagonal;
  Out<double, 2> scores, mass, tally;
  MaybeOut<double, 2> mean_scores, mean_mass;
  pegasos::KernelRun run;
};

KernelSolver solver_name(const std::string& solver) {
  require(solver == "pegasos" || solver == "sdca" || solver == "perceptron",
          "solver must be 'pegasos', 'sdca' or 'perceptron'");
  return solver == "pegasos" ? KernelSolver::pegasos
                             : (solver == "sdca" ? KernelSolver::sdca : KernelSolver::perceptron);
}

KernelRun kernel_run(In<int32_t, 1> code, std::optional<In<double, 1>> weight, double total_weight,
                     In<double, 1> diagonal, In<int32_t, 1> positive, In<double, 1> lam,
                     Out<double, 2> scores, Out<double, 2> mass, MaybeOut<double, 2> mean_scores,
                     MaybeOut<double, 2> mean_mass, Out<double, 2> tally, const std::string& solver,
                     const std::string& loss, bool weighted_mean, int64_t most_passes,
                     double enough) {
  const size_t n = code.shape(0), n_problems = positive.shape(0);
  const auto fits = [&](const Out<double, 2>& array) {
    return array.shape(0) == n_problems && array.shape(1) == n;
  };
  require(!weight || weight->shape(0) == n, "one weight per row is needed");
  require(diagonal.shape(0) == n, "diagonal has a wrong shape");
  require(lam.shape(0) == n_problems, "one lam per problem is needed");
  require(fits(scores) && fits(mass), "scores and mass must be problems x rows");
  require(mean_scores.has_value() == mean_mass.has_value(), "mean_mass goes with mean_scores");
  require(!mean_scores || (fits(*mean_scores) && fits(*mean_mass)),
          "mean_scores and mean_mass must be problems x rows");
  require(tally.shape(0) == n_problems && tally.shape(1) == kTallyFields,
          "tally has a wrong shape");
  require(most_passes >= 1, "most_passes must be positive");
  pegasos::KernelRun run{{code.data(), weight ? weight->data() : nullptr, total_weight},
                         {solver_name(solver), loss_name(loss), mean_scores.has_value(),
                          weighted_mean, most_passes, enough},
                         diagonal.data(),
                         static_cast<int64_t>(n),
                         {},
                         mean_scores ? mean_scores->data() : nullptr,
                         mean_mass ? mean_mass->data() : nullptr};
  for (size_t p = 0; p < n_problems; ++p)
    run.problems.push_back({positive.data()[p], lam.data()[p], scores.data() + p * n,
                            mass.data() + p * n,
                            reinterpret_cast<pegasos::Tally*>(tally.data() + p * kTallyFields),
                            nullptr, nullptr, nullptr, 0});
  return {code, weight, diagonal, scores, mass, tally, mean_scores, mean_mass, std::move(run)};
}

void check_stored(const KernelIn& values, const std::optional<In<int64_t, 1>>& slots,
                  int64_t n_rows) {
  const int64_t n_slots = static_cast<int64_t>(values.shape(0));
  require(static_cast<int64_t>(values.shape(1)) == n_rows,
          "kernel rows must be as long as there are rows");
  require(slots || n_slots >= n_rows, "a row of the kernel is missing");
  if (!slots) return;
  require(static_cast<int64_t>(slots->shape(0)) == n_rows, "one slot per row is needed");
  for (int64_t i = 0; i < n_rows; ++i)
    require(slots->data()[i] < n_slots, "a slot is not among the values");
}

template <class T>
StoredRows<T> stored_rows(const KernelIn& values, const std::optional<In<int64_t, 1>>& slots) {
  return {static_cast<const T*>(values.data()), row_stride(values),
          slots ? slots->data() : nullptr};
}

int64_t kernel_steps(KernelRun& self, KernelIn values, std::optional<In<int64_t, 1>> slots,
                     In<int64_t, 1> draws, int64_t block, int n_threads) {
  const int64_t n = self.run.n_rows;
  check_stored(values, slots, n);
  check_rows(draws, n);
  require(block >= 1, "block must be positive");
  const auto steps = [&](const auto& rows) {
    nb::gil_scoped_release release;
    return pegasos::kernel_steps(self.run, rows, draws.data(), static_cast<int64_t>(draws.shape(0)),
                                 block, n_threads);
  };
  return is_f32(values) ? steps(stored_rows<float>(values, slots))
                        : steps(stored_rows<double>(values, slots));
}

void kernel_decisions(KernelRun& self, In<int64_t, 1> block, std::optional<AnyInput> gram,
                      KernelIn values, std::optional<In<int64_t, 1>> slots, Out<double, 2> delta,
                      MaybeOut<double, 2> mean_delta, Out<int64_t, 1> n_steps, int n_threads) {
  const int64_t n = static_cast<int64_t>(block.shape(0));
  const size_t n_problems = self.run.problems.size();
  check_rows(block, self.run.n_rows);
  check_stored(values, slots, self.run.n_rows);
  require(!gram || (static_cast<int64_t>(gram->shape(0)) == n &&
                    static_cast<int64_t>(gram->shape(1)) == n && is_f32(*gram) == is_f32(values)),
          "gram has a wrong shape");
  require(delta.shape(0) == n_problems && static_cast<int64_t>(delta.shape(1)) == n &&
              n_steps.shape(0) == n_problems,
          "delta has a wrong shape");
  require(mean_delta.has_value() == self.run.options.mean, "mean_delta goes with a mean");
  require(!mean_delta || (mean_delta->shape(0) == n_problems &&
                          static_cast<int64_t>(mean_delta->shape(1)) == n),
          "mean_delta has a wrong shape");
  if (!gram && slots)
    for (int64_t k = 0; k < n; ++k)
      require(slots->data()[block.data()[k]] >= 0, "a row of the block is not stored");
  const auto decide = [&](const auto& rows, auto* values_of_gram) {
    nb::gil_scoped_release release;
    pegasos::kernel_decisions(self.run, block.data(), n, values_of_gram, rows, delta.data(),
                              mean_delta ? mean_delta->data() : nullptr, n_threads);
  };
  const void* g = gram ? gram->data() : nullptr;
  if (is_f32(values))
    decide(stored_rows<float>(values, slots), static_cast<const float*>(g));
  else
    decide(stored_rows<double>(values, slots), static_cast<const double*>(g));
  for (size_t p = 0; p < n_problems; ++p) n_steps.data()[p] = self.run.problems[p].n_steps;
}

// (draws looked at, rows in the block)
std::pair<int64_t, int64_t> next_movers(const KernelRun& self, In<int64_t, 1> draws, double slack,
                                        Out<int64_t, 1> block) {
  check_rows(draws, self.run.n_rows);
  int64_t n = 0;
  const int64_t looked_at =
      pegasos::next_movers(self.run, draws.data(), static_cast<int64_t>(draws.shape(0)), slack,
                           static_cast<int64_t>(block.shape(0)), block.data(), &n);
  return {looked_at, n};
}

void add_stored_rows(KernelIn values, std::optional<In<int64_t, 1>> slots, In<int64_t, 1> which,
                     In<double, 2> coef, Out<double, 2> scores, int n_threads) {
  const int64_t n = static_cast<int64_t>(scores.shape(1));
  check_stored(values, slots, n);
  check_rows(which, n);
  require(coef.shape(0) == scores.shape(0) && coef.shape(1) == which.shape(0),
          "coef has a wrong shape");
  if (slots)
    for (size_t k = 0; k < which.shape(0); ++k)
      require(slots->data()[which.data()[k]] >= 0, "a row is not stored");
  const auto add = [&](const auto& rows) {
    nb::gil_scoped_release release;
    pegasos::add_stored_rows(rows, which.data(), static_cast<int64_t>(which.shape(0)), n,
                             coef.data(), static_cast<int64_t>(coef.shape(0)), scores.data(),
                             n_threads);
  };
  if (is_f32(values))
    add(stored_rows<float>(values, slots));
  else
    add(stored_rows<double>(values, slots));
}

}  // namespace

void bind_kernel_machines(nb::module_& m) {
  m.def("use_blas", &use_blas, "single"_a, "twice"_a);
  bind_compress_values<float>(m);
  bind_compress_values<double>(m);
  m.def("squared_norms", &squared_norms, "rows"_a, nb::arg("squares").noconvert(), nb::kw_only(),
        "n_threads"_a);
  m.def("find_grid", &find_grid, "rows"_a, "likely"_a, nb::kw_only(), "n_threads"_a);
  m.def("kernel_rows", &kernel_rows, "rows"_a, nb::arg("squares").noconvert(),
        nb::arg("picked").noconvert(), "other_rows"_a, nb::arg("other_squares").noconvert(),
        nb::arg("others").noconvert().none(), nb::arg("out").noconvert(),
        nb::arg("slots").noconvert(), nb::kw_only(), "kernel"_a, "gamma"_a, "coef0"_a, "degree"_a,
        "same_matrix"_a, "in_double"_a, "n_threads"_a);
  m.def("kernel_matrix", &kernel_matrix, "rows"_a, nb::arg("squares").noconvert(),
        nb::arg("which").noconvert().none(), "first"_a, "last"_a, nb::arg("out").noconvert(),
        nb::kw_only(), "kernel"_a, "gamma"_a, "coef0"_a, "degree"_a, "in_double"_a, "n_threads"_a);
  m.def("kernel_scores", &kernel_scores, "support"_a, nb::arg("support_squares").noconvert(),
        nb::arg("picked").noconvert().none(), nb::arg("coef").noconvert(), "rows"_a,
        nb::arg("squares").noconvert(), nb::arg("scores").noconvert(), nb::kw_only(), "kernel"_a,
        "gamma"_a, "coef0"_a, "degree"_a, "same_matrix"_a, "in_double"_a, "n_threads"_a);
  m.def("unit_depth", &unit_depth, "rows"_a, nb::arg("squares").noconvert(), nb::kw_only(),
        "kernel"_a, "gamma"_a, "coef0"_a, "degree"_a, "in_double"_a);

  nb::class_<KernelRun>(m, "KernelRun");
  m.def("kernel_run", &kernel_run, nb::arg("code").noconvert(),
        nb::arg("weight").noconvert().none(), "total_weight"_a, nb::arg("diagonal").noconvert(),
        nb::arg("positive").noconvert(), nb::arg("lam").noconvert(), nb::arg("scores").noconvert(),
        nb::arg("mass").noconvert(), nb::arg("mean_scores").noconvert().none(),
        nb::arg("mean_mass").noconvert().none(), nb::arg("tally").noconvert(), nb::kw_only(),
        "solver"_a, "loss"_a, "weighted_mean"_a, "most_passes"_a, "enough"_a);
  m.def("kernel_steps", &kernel_steps, "run"_a, nb::arg("values").noconvert(),
        nb::arg("slots").noconvert().none(), nb::arg("draws").noconvert(), nb::kw_only(), "block"_a,
        "n_threads"_a);
  m.def("kernel_decisions", &kernel_decisions, "run"_a, nb::arg("block").noconvert(),
        nb::arg("gram").noconvert().none(), nb::arg("values").noconvert(),
        nb::arg("slots").noconvert().none(), nb::arg("delta").noconvert(),
        nb::arg("mean_delta").noconvert().none(), nb::arg("n_steps").noconvert(), nb::kw_only(),
        "n_threads"_a);
  m.def("next_movers", &next_movers, "run"_a, nb::arg("draws").noconvert(), nb::kw_only(),
        "slack"_a, nb::arg("block").noconvert());
  m.def("add_stored_rows", &add_stored_rows, nb::arg("values").noconvert(),
        nb::arg("slots").noconvert().none(), nb::arg("which").noconvert(),
        nb::arg("coef").noconvert(), nb::arg("scores").noconvert(), nb::kw_only(), "n_threads"_a);
}
