// nanobind only: shapes, dtypes, GIL. No arithmetic, no copies of the data.
#include "arrays.hpp"
#include "pegasos/engine.hpp"
#include "pegasos/permutation.hpp"

using pegasos::Data;
using pegasos::Problem;
using pegasos::RowsView;

namespace {

Rows dense_rows(nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu> x, double bias) {
  RowsView view{};
  if (x.dtype() == nb::dtype<float>())
    view.kind = RowsView::dense_f32;
  else if (x.dtype() == nb::dtype<double>())
    view.kind = RowsView::dense_f64;
  else
    throw std::invalid_argument("rows must be float32 or float64");
  view.values = x.data();
  view.n_rows = static_cast<int64_t>(x.shape(0));
  view.n_features = static_cast<int64_t>(x.shape(1));
  view.bias = bias;
  return {view, view.n_rows * view.n_features};
}

Rows csr_rows(nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu> values,
              nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu> indices,
              nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu> indptr,
              int64_t n_features, double bias) {
  require(indices.dtype() == indptr.dtype(), "indices and indptr must have one dtype");
  require(indices.shape(0) == values.shape(0), "indices and values must have one length");
  require(indptr.shape(0) >= 1, "indptr must not be empty");
  const bool f32 = values.dtype() == nb::dtype<float>();
  const bool i32 = indices.dtype() == nb::dtype<int32_t>();
  require(f32 || values.dtype() == nb::dtype<double>(), "values must be float32 or float64");
  require(i32 || indices.dtype() == nb::dtype<int64_t>(), "indices must be int32 or int64");
  RowsView view{};
  view.kind = f32 ? (i32 ? RowsView::csr_f32_i32 : RowsView::csr_f32_i64)
                  : (i32 ? RowsView::csr_f64_i32 : RowsView::csr_f64_i64);
  view.values = values.data();
  view.indices = indices.data();
  view.indptr = indptr.data();
  view.n_rows = static_cast<int64_t>(indptr.shape(0)) - 1;
  view.n_features = n_features;
  view.bias = bias;
  return {view, static_cast<int64_t>(values.shape(0))};
}

std::string csr_fault(const Rows& rows, int n_threads) {
  pegasos::CsrFault fault;
  {
    nb::gil_scoped_release release;
    fault = pegasos::csr_fault(rows.view, rows.n_entries, n_threads);
  }
  switch (fault) {
    case pegasos::CsrFault::none: return "";
    case pegasos::CsrFault::row_pointers: return "row_pointers";
    case pegasos::CsrFault::column_range: return "column_range";
    case pegasos::CsrFault::column_twice: return "column_twice";
  }
  return "";
}

// Rows, labels and weights of a fit; Python keeps the arrays alive.
Data make_data(const Rows& rows, In<int32_t, 1> code, std::optional<In<double, 1>> weight,
               double total_weight) {
  require(static_cast<int64_t>(code.shape(0)) == rows.view.n_rows, "one label per row is needed");
  require(!weight || weight->shape(0) == code.shape(0), "one weight per row is needed");
  return {rows.view, {code.data(), weight ? weight->data() : nullptr, total_weight}};
}

// The problems of a call: row p of every array belongs to problem p.
std::vector<Problem> make_problems(const Data& data, const In<int32_t, 1>& positive,
                                   double* weights, const MaybeOut<double, 2>& u,
                                   const MaybeOut<double, 2>& mass,
                                   const MaybeOut<uint8_t, 2>& asleep, double* tally) {
  const size_t n_weights = static_cast<size_t>(data.rows.n_features) + 1;
  const size_t n_rows = static_cast<size_t>(data.rows.n_rows);
  const size_t n = positive.shape(0);
  require(!u || (u->shape(0) == n && u->shape(1) == n_weights), "u has a wrong shape");
  require(!mass || (mass->shape(0) == n && mass->shape(1) == n_rows), "mass has a wrong shape");
  require(!asleep || (asleep->shape(0) == n && asleep->shape(1) == n_rows),
          "asleep has a wrong shape");
  std::vector<Problem> problems(n);
  for (size_t p = 0; p < n; ++p) {
    problems[p].positive = positive.data()[p];
    problems[p].w = weights ? weights + p * n_weights : nullptr;
    problems[p].u = u ? u->data() + p * n_weights : nullptr;
    problems[p].mass = mass ? mass->data() + p * n_rows : nullptr;
    problems[p].asleep = asleep ? asleep->data() + p * n_rows : nullptr;
    problems[p].tally =
        reinterpret_cast<pegasos::Tally*>(tally ? tally + p * kTallyFields : nullptr);
  }
  return problems;
}

void check_weights(const Data& data, const In<int32_t, 1>& positive, size_t n, size_t n_weights) {
  require(n == positive.shape(0) && n_weights == static_cast<size_t>(data.rows.n_features) + 1,
          "weights have a wrong shape");
}

void check_draws(const RowsView& rows, const In<int64_t, 1>& draws) {
  for (size_t t = 0; t < draws.shape(0); ++t)
    require(draws.data()[t] >= 0 && draws.data()[t] < rows.n_rows, "a draw is not a row number");
}

void check_run(const Data& data, const In<int32_t, 1>& positive, const Out<double, 2>& weights,
               const Out<double, 2>& tally, const In<int64_t, 1>& draws) {
  check_weights(data, positive, weights.shape(0), weights.shape(1));
  require(tally.shape(0) == positive.shape(0) && tally.shape(1) == kTallyFields,
          "tally has a wrong shape");
  check_draws(data.rows, draws);
}

double square_sum(const Data& data, In<int64_t, 1> rows) {
  check_draws(data.rows, rows);
  return pegasos::level_table().square_sum(data.rows, rows.data(), rows.shape(0));
}

int64_t nonzero_sum(const Data& data, In<int64_t, 1> rows) {
  check_draws(data.rows, rows);
  return pegasos::level_table().nonzero_sum(data.rows, rows.data(), rows.shape(0));
}

pegasos::Mean mean_name(const std::optional<std::string>& mean) {
  if (!mean) return pegasos::Mean::none;
  require(*mean == "uniform" || *mean == "weighted", "mean must be 'uniform' or 'weighted'");
  return *mean == "uniform" ? pegasos::Mean::uniform : pegasos::Mean::weighted;
}

void pegasos_steps(const Data& data, In<int32_t, 1> positive, Out<double, 2> v,
                   MaybeOut<double, 2> u, MaybeOut<double, 2> mass, Out<double, 2> tally,
                   In<int64_t, 1> draws, const std::string& loss, In<double, 1> lams,
                   int64_t batch_size, bool project, std::optional<std::string> mean,
                   int n_threads) {
  check_run(data, positive, v, tally, draws);
  require(lams.shape(0) == positive.shape(0), "one lam per problem is needed");
  require(batch_size >= 1, "batch_size must be positive");
  require(mean.has_value() == u.has_value(), "u goes with mean");
  auto problems = make_problems(data, positive, v.data(), u, mass, std::nullopt, tally.data());
  for (size_t p = 0; p < problems.size(); ++p) problems[p].lam = lams.data()[p];
  const pegasos::PegasosOptions options{batch_size, project, mean_name(mean)};
  const auto name = loss_name(loss);
  nb::gil_scoped_release release;
  pegasos::pegasos_steps(data, name, options, draws.data(), draws.shape(0), problems, n_threads);
}

void sgd_start_steps(const Data& data, In<int32_t, 1> positive, Out<double, 2> w,
                     MaybeOut<double, 2> u, Out<double, 2> tally, In<int64_t, 1> draws,
                     const std::string& loss, double lam, double eta0, int n_threads) {
  check_run(data, positive, w, tally, draws);
  auto problems =
      make_problems(data, positive, w.data(), u, std::nullopt, std::nullopt, tally.data());
  const auto name = loss_name(loss);
  nb::gil_scoped_release release;
  pegasos::sgd_start_steps(data, name, {lam, eta0}, draws.data(), draws.shape(0), problems,
                           n_threads);
}

void sdca_steps(const Data& data, In<int32_t, 1> positive, Out<double, 2> w, MaybeOut<double, 2> u,
                Out<double, 2> mass, Out<uint8_t, 2> asleep, Out<double, 2> tally,
                In<int64_t, 1> draws, const std::string& loss, double lam, double relaxation,
                bool weighted_mean, bool shrinking, int n_threads) {
  check_run(data, positive, w, tally, draws);
  auto problems = make_problems(data, positive, w.data(), u, mass, asleep, tally.data());
  const pegasos::SdcaOptions options{lam, relaxation, weighted_mean, shrinking};
  const auto name = loss_name(loss);
  nb::gil_scoped_release release;
  pegasos::sdca_steps(data, name, options, draws.data(), draws.shape(0), problems, n_threads);
}

void perceptron_steps(const Data& data, In<int32_t, 1> positive, Out<double, 2> w,
                      MaybeOut<double, 2> u, Out<double, 2> tally, In<int64_t, 1> draws,
                      int n_threads) {
  check_run(data, positive, w, tally, draws);
  auto problems =
      make_problems(data, positive, w.data(), u, std::nullopt, std::nullopt, tally.data());
  nb::gil_scoped_release release;
  pegasos::perceptron_steps(data, draws.data(), draws.shape(0), problems, n_threads);
}

void loss_sums(const Data& data, In<int32_t, 1> positive, In<double, 2> w, const std::string& loss,
               int n_threads, Out<double, 1> sums) {
  check_weights(data, positive, w.shape(0), w.shape(1));
  require(sums.shape(0) == positive.shape(0), "sums has a wrong shape");
  const auto problems = make_problems(data, positive, const_cast<double*>(w.data()), std::nullopt,
                                      std::nullopt, std::nullopt, nullptr);
  const auto name = loss_name(loss);
  nb::gil_scoped_release release;
  pegasos::loss_sums(data, name, problems, n_threads, sums.data());
}

void guess_masses(const Data& data, In<int32_t, 1> positive, Out<double, 2> w, Out<double, 2> mass,
                  const std::string& loss, double width, int n_threads, Out<double, 2> dual_rows,
                  Out<double, 1> sums) {
  check_weights(data, positive, w.shape(0), w.shape(1));
  check_weights(data, positive, dual_rows.shape(0), dual_rows.shape(1));
  require(sums.shape(0) == positive.shape(0), "sums has a wrong shape");
  auto problems =
      make_problems(data, positive, w.data(), std::nullopt, mass, std::nullopt, nullptr);
  const auto name = loss_name(loss);
  nb::gil_scoped_release release;
  pegasos::guess_masses(data, name, width, problems, n_threads, dual_rows.data(), sums.data());
}

void newton_terms(const Data& data, In<int32_t, 1> positive, Out<double, 2> w,
                  std::optional<Out<double, 2>> mass, const std::string& loss, double width,
                  bool curvature, int n_threads, Out<double, 2> terms) {
  check_weights(data, positive, w.shape(0), w.shape(1));
  const auto length =
      static_cast<size_t>(pegasos::newton_length(static_cast<int64_t>(w.shape(1)), curvature));
  require(terms.shape(0) == positive.shape(0) && terms.shape(1) == length,
          "terms have a wrong shape");
  const auto problems =
      make_problems(data, positive, w.data(), std::nullopt, mass, std::nullopt, nullptr);
  const auto name = loss_name(loss);
  nb::gil_scoped_release release;
  pegasos::newton_terms(data, name, width, curvature, problems, n_threads, terms.data());
}

void line_slopes(const Data& data, In<int32_t, 1> positive, Out<double, 2> w, In<double, 2> steps,
                 const std::string& loss, double width, int n_threads, Out<double, 2> slopes) {
  check_weights(data, positive, w.shape(0), w.shape(1));
  check_weights(data, positive, steps.shape(0), steps.shape(1));
  require(slopes.shape(0) == positive.shape(0) && slopes.shape(1) == pegasos::kLineSteps,
          "slopes have a wrong shape");
  const auto problems =
      make_problems(data, positive, w.data(), std::nullopt, std::nullopt, std::nullopt, nullptr);
  const auto name = loss_name(loss);
  nb::gil_scoped_release release;
  pegasos::line_slopes(data, name, width, steps.data(), problems, n_threads, slopes.data());
}

bool solve_newton(Out<double, 2> matrix, double ridge, Out<double, 1> right) {
  require(matrix.shape(0) == matrix.shape(1) && right.shape(0) == matrix.shape(0),
          "matrix and right side have shapes that do not match");
  nb::gil_scoped_release release;
  return pegasos::solve_newton(matrix.data(), ridge, right.data(),
                               static_cast<int64_t>(right.shape(0)));
}

void dual_rows(const Data& data, In<int32_t, 1> positive, Out<double, 2> mass, int n_threads,
               Out<double, 2> sums) {
  check_weights(data, positive, sums.shape(0), sums.shape(1));
  const auto problems =
      make_problems(data, positive, sums.data(), std::nullopt, mass, std::nullopt, nullptr);
  nb::gil_scoped_release release;
  pegasos::dual_rows(data, problems, n_threads, sums.data());
}

void gain_sums(const Data& data, In<int32_t, 1> positive, Out<double, 2> mass,
               const std::string& loss, int n_threads, Out<double, 1> sums) {
  require(sums.shape(0) == positive.shape(0), "sums has a wrong shape");
  const auto problems =
      make_problems(data, positive, nullptr, std::nullopt, mass, std::nullopt, nullptr);
  const auto name = loss_name(loss);
  nb::gil_scoped_release release;
  pegasos::gain_sums(data, name, problems, n_threads, sums.data());
}

void scores(const Rows& rows, In<double, 2> weights, int n_threads, Out<double, 2> scores) {
  require(weights.shape(1) == static_cast<size_t>(rows.view.n_features) + 1,
          "weights have a wrong shape");
  require(scores.shape(0) == static_cast<size_t>(rows.view.n_rows) &&
              scores.shape(1) == weights.shape(0),
          "scores have a wrong shape");
  const int n_problems = static_cast<int>(weights.shape(0));
  nb::gil_scoped_release release;
  pegasos::scores(rows.view, weights.data(), n_problems, n_threads, scores.data());
}

// `generator`: the capsule of a NumPy BitGenerator, whose lock the caller holds.
void permutation(nb::capsule generator, Out<int64_t, 1> rows) {
  require(PyCapsule_IsValid(generator.ptr(), "BitGenerator"), "not the capsule of a BitGenerator");
  const auto* stream = static_cast<const pegasos::BitGenerator*>(generator.data());
  nb::gil_scoped_release release;
  pegasos::permutation(*stream, static_cast<int64_t>(rows.shape(0)), rows.data());
}

}  // namespace

NB_MODULE(_core, m) {
  m.attr("TALLY_FIELDS") = kTallyFields;
  m.def("cpu_level", [] { return std::string(pegasos::level_table().level); });
  m.def("has_matrix_unit", [] { return pegasos::level_table().unit != nullptr; });

  m.def("permutation", &permutation, "generator"_a, nb::arg("rows").noconvert());

  nb::class_<Rows>(m, "Rows");
  m.def("dense_rows", &dense_rows, nb::keep_alive<0, 1>(), nb::arg("x").noconvert(), "bias"_a);
  m.def("csr_rows", &csr_rows, nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(),
        nb::keep_alive<0, 3>(), nb::arg("values").noconvert(), nb::arg("indices").noconvert(),
        nb::arg("indptr").noconvert(), "n_features"_a, "bias"_a);
  m.def("csr_fault", &csr_fault, "rows"_a, "n_threads"_a);

  nb::class_<Data>(m, "Data");
  m.def("make_data", &make_data, nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(),
        nb::keep_alive<0, 3>(), "rows"_a, nb::arg("code").noconvert(),
        nb::arg("weight").noconvert().none(), "total_weight"_a);

  m.def("square_sum", &square_sum, "data"_a, nb::arg("rows").noconvert());
  m.def("nonzero_sum", &nonzero_sum, "data"_a, nb::arg("rows").noconvert());

  m.def("pegasos_steps", &pegasos_steps, "data"_a, nb::arg("positive").noconvert(),
        nb::arg("v").noconvert(), nb::arg("u").noconvert().none(),
        nb::arg("mass").noconvert().none(), nb::arg("tally").noconvert(),
        nb::arg("draws").noconvert(), nb::kw_only(), "loss"_a, nb::arg("lams").noconvert(),
        "batch_size"_a, "project"_a, nb::arg("mean").none(), "n_threads"_a);
  m.def("sgd_start_steps", &sgd_start_steps, "data"_a, nb::arg("positive").noconvert(),
        nb::arg("w").noconvert(), nb::arg("u").noconvert().none(), nb::arg("tally").noconvert(),
        nb::arg("draws").noconvert(), nb::kw_only(), "loss"_a, "lam"_a, "eta0"_a, "n_threads"_a);
  m.def("sdca_steps", &sdca_steps, "data"_a, nb::arg("positive").noconvert(),
        nb::arg("w").noconvert(), nb::arg("u").noconvert().none(), nb::arg("mass").noconvert(),
        nb::arg("asleep").noconvert(), nb::arg("tally").noconvert(), nb::arg("draws").noconvert(),
        nb::kw_only(), "loss"_a, "lam"_a, "relaxation"_a, "weighted_mean"_a, "shrinking"_a,
        "n_threads"_a);
  m.def("perceptron_steps", &perceptron_steps, "data"_a, nb::arg("positive").noconvert(),
        nb::arg("w").noconvert(), nb::arg("u").noconvert().none(), nb::arg("tally").noconvert(),
        nb::arg("draws").noconvert(), nb::kw_only(), "n_threads"_a);

  m.def("loss_sums", &loss_sums, "data"_a, nb::arg("positive").noconvert(),
        nb::arg("w").noconvert(), nb::kw_only(), "loss"_a, "n_threads"_a,
        nb::arg("sums").noconvert());
  m.def("guess_masses", &guess_masses, "data"_a, nb::arg("positive").noconvert(),
        nb::arg("w").noconvert(), nb::arg("mass").noconvert(), nb::kw_only(), "loss"_a,
        "width"_a = 0.125, "n_threads"_a, nb::arg("dual_rows").noconvert(),
        nb::arg("sums").noconvert());
  m.def("newton_terms", &newton_terms, "data"_a, nb::arg("positive").noconvert(),
        nb::arg("w").noconvert(), nb::arg("mass").noconvert().none(), nb::kw_only(), "loss"_a,
        "width"_a, "curvature"_a, "n_threads"_a, nb::arg("terms").noconvert());
  m.def("line_slopes", &line_slopes, "data"_a, nb::arg("positive").noconvert(),
        nb::arg("w").noconvert(), nb::arg("steps").noconvert(), nb::kw_only(), "loss"_a, "width"_a,
        "n_threads"_a, nb::arg("slopes").noconvert());
  m.def("solve_newton", &solve_newton, nb::arg("matrix").noconvert(), nb::kw_only(), "ridge"_a,
        nb::arg("right").noconvert());
  m.attr("LINE_FRACTIONS") = nb::make_tuple(pegasos::kLineFractions[0], pegasos::kLineFractions[1],
                                            pegasos::kLineFractions[2], pegasos::kLineFractions[3]);
  m.def("dual_rows", &dual_rows, "data"_a, nb::arg("positive").noconvert(),
        nb::arg("mass").noconvert(), nb::kw_only(), "n_threads"_a, nb::arg("sums").noconvert());
  m.def("gain_sums", &gain_sums, "data"_a, nb::arg("positive").noconvert(),
        nb::arg("mass").noconvert(), nb::kw_only(), "loss"_a, "n_threads"_a,
        nb::arg("sums").noconvert());
  m.def("scores", &scores, "rows"_a, nb::arg("weights").noconvert(), nb::kw_only(), "n_threads"_a,
        nb::arg("scores").noconvert());

  bind_kernel_machines(m);
  bind_svmlight(m);
  bind_number_table(m);
}
