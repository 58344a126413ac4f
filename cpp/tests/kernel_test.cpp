// The kernel machines without Python: kernel values by a naive product in place of BLAS, sums of kernel rows,
// all solvers, and the team of threads; every array has exactly the right size.
#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>

#include "check.hpp"
#include "pegasos/gram.hpp"
#include "pegasos/kernel_engine.hpp"
#include "pegasos/level_table.hpp"
#include "pegasos/team.hpp"

namespace {

using namespace tests;
using pegasos::GramOptions;
using pegasos::GramSide;
using pegasos::KernelFunction;
using pegasos::KernelOptions;
using pegasos::KernelRun;
using pegasos::KernelSolver;
using pegasos::StoredRows;
using pegasos::Tally;

const KernelFunction kKernels[] = {{KernelFunction::linear, 1, 0, 1},
                                   {KernelFunction::poly, 0.5, 1, 1},
                                   {KernelFunction::poly, 0.5, 1, 6},
                                   {KernelFunction::rbf, 0.3, 0, 1}};

// --- Kernel values --------------------------------------------------------------------------------

// c = a^T b for columns a (m of them) and b (n), as BLAS has it; columns of c are ldc apart.
template <class T>
void naive_gemm(char* trans_a, char* trans_b, int* m, int* n, int* k, T* alpha, T* a, int* lda,
                T* b, int* ldb, T* beta, T* c, int* ldc) {
  if (*trans_a != 'T' || *trans_b != 'N' || *alpha != 1 || *beta != 0 || *lda < std::max(1, *k) ||
      *ldb < std::max(1, *k) || *ldc < *m)
    throw std::logic_error("not what this product is for");
  for (int j = 0; j < *n; ++j)
    for (int i = 0; i < *m; ++i) {
      T sum = 0;
      for (int f = 0; f < *k; ++f) sum += a[i * *lda + f] * b[j * *ldb + f];
      c[j * *ldc + i] = sum;
    }
}

double value(const KernelFunction& kernel, const Matrix& a, int64_t i, const Matrix& b, int64_t j) {
  const int64_t d = a.n_features;
  double product = 0, distance = 0;
  for (int64_t f = 0; f < d; ++f) {
    const double x = a.f64[i * d + f], z = b.f64[j * d + f];
    product += x * z;
    distance += (x - z) * (x - z);
  }
  if (kernel.kind == KernelFunction::linear) return product;
  if (kernel.kind == KernelFunction::rbf) return std::exp(-kernel.gamma * distance);
  return std::pow(kernel.gamma * product + kernel.coef0, static_cast<double>(kernel.degree));
}

bool is_single(RowsView::Kind kind) {
  return kind == RowsView::dense_f32 || kind == RowsView::csr_f32_i32 ||
         kind == RowsView::csr_f32_i64;
}

Doubles squares_of(const RowsView& view, int n_threads = 1) {
  Doubles squares(view.n_rows);
  pegasos::squared_norms(view, squares.data(), n_threads);
  return squares;
}

// Rows of kernel values, each in an array of its own.
template <class T>
std::vector<std::vector<T>> rows_of(const GramSide& picked, const GramSide& others,
                                    const GramOptions& options) {
  std::vector<std::vector<T>> rows(picked.n, std::vector<T>(others.n, T(-7)));
  std::vector<T*> targets;
  for (auto& row : rows) targets.push_back(row.data());
  pegasos::kernel_rows(picked, others, options, targets.data());
  return rows;
}

template <class T>
bool rows_are_right(const std::vector<std::vector<T>>& rows, const KernelFunction& kernel,
                    const Matrix& a, const GramSide& picked, const Matrix& b,
                    const GramSide& others, double tolerance) {
  for (int64_t k = 0; k < picked.n; ++k)
    for (int64_t j = 0; j < others.n; ++j) {
      const double expected = value(kernel, a, picked.row(k), b, others.row(j));
      const double found = static_cast<double>(rows[k][j]);
      if (!(std::fabs(found - expected) <= tolerance * (1 + std::fabs(expected)))) return false;
    }
  return true;
}

void kernel_values_need_a_product() {
  const Matrix matrix(2, 2, 1);
  const RowsView view = matrix.view(RowsView::csr_f64_i32, 0);
  const Doubles squares = squares_of(view);
  const GramSide side{view, squares.data(), nullptr, 2};
  std::string message;
  try {
    rows_of<double>(side, side, {kKernels[0], true, false, 1});
  } catch (const std::logic_error& error) {
    message = error.what();
  }
  CHECK(message == "use_blas must be called first", message);
}

void kernel_values_are_right_for_all_kinds_of_rows() {
  struct Size {
    int64_t n_picked, n_others, n_features;
  };
  for (const Size& size : {Size{1, 1, 1}, {1, 9, 0}, {17, 3, 5}, {5, 33, 16}, {16, 8, 7}})
    for (RowsView::Kind kind_a : kKinds)
      for (RowsView::Kind kind_b : kKinds) {
        const Matrix a(size.n_picked, size.n_features, 1), b(size.n_others, size.n_features, 2);
        const RowsView view_a = a.view(kind_a, 0), view_b = b.view(kind_b, 0);
        const Doubles squares_a = squares_of(view_a), squares_b = squares_of(view_b, 3);
        const GramSide picked{view_a, squares_a.data(), nullptr, size.n_picked};
        const GramSide others{view_b, squares_b.data(), nullptr, size.n_others};
        const std::string where = std::to_string(kind_a) + " x " + std::to_string(kind_b) + ", " +
                                  std::to_string(size.n_features) + " features";
        for (const KernelFunction& kernel : kKernels) {
          const bool single = is_single(kind_a) && is_single(kind_b);
          const auto rows = rows_of<double>(picked, others, {kernel, false, false, 1});
          CHECK(rows_are_right(rows, kernel, a, picked, b, others, single ? 1e-4 : 1e-12), where);
          const auto in_double = rows_of<double>(picked, others, {kernel, false, true, 2});
          CHECK(rows_are_right(in_double, kernel, a, picked, b, others, 1e-12), where);
          const auto narrow = rows_of<float>(picked, others, {kernel, false, false, 2});
          CHECK(rows_are_right(narrow, kernel, a, picked, b, others, 1e-4), where);
        }
      }
}

// Panels, tiles and what is left over; some rows, in any order, some twice.
void picked_rows_may_be_any_on_any_number_of_threads() {
  const Matrix matrix(270, 11, 5);
  for (RowsView::Kind kind : kKinds) {
    const RowsView view = matrix.view(kind, 0);
    const Doubles squares = squares_of(view);
    const Draws which = random_draws(270, 259, 6), few = random_draws(270, 21, 7);
    for (const GramSide& others : {GramSide{view, squares.data(), nullptr, 270},
                                   GramSide{view, squares.data(), which.data(), 259}}) {
      const GramSide picked{view, squares.data(), few.data(), 21};
      const KernelFunction& rbf = kKernels[3];
      const auto one = rows_of<float>(picked, others, {rbf, true, false, 1});
      CHECK(rows_are_right(one, rbf, matrix, picked, matrix, others, 1e-5), std::to_string(kind));
      bool ones = true;
      for (int64_t k = 0; k < 21; ++k)
        for (int64_t j = 0; j < others.n; ++j)
          ones = ones && (others.row(j) != few[k] || one[k][j] == 1);
      CHECK(ones, "a row with itself, " + std::to_string(kind));
      for (int n_threads : {2, 3, 5})
        CHECK(one == rows_of<float>(picked, others, {rbf, true, false, n_threads}), "threads");
    }
  }
}

void scores_are_sums_of_kernel_values() {
  for (RowsView::Kind kind : kKinds) {
    const Matrix a(270, 5, 8), b(261, 5, 9);
    const RowsView view_a = a.view(kind, 0), view_b = b.view(kind, 0);
    const Doubles squares_a = squares_of(view_a), squares_b = squares_of(view_b);
    const GramSide picked{view_a, squares_a.data(), nullptr, 270};
    const GramSide others{view_b, squares_b.data(), nullptr, 261};
    Doubles coef(2 * 270), expected(2 * 261, 1.0);
    for (size_t k = 0; k < coef.size(); ++k) coef[k] = std::sin(static_cast<double>(k));
    for (int64_t k = 0; k < 270; ++k)
      for (int64_t j = 0; j < 261; ++j) {
        const double K = value(kKernels[3], a, k, b, j);
        for (int p = 0; p < 2; ++p) expected[p * 261 + j] += coef[p * 270 + k] * K;
      }
    Doubles first;
    for (int n_threads : {1, 2, 4}) {
      Doubles scores(2 * 261, 1.0);
      pegasos::kernel_scores(picked, others, {kKernels[3], false, false, n_threads}, coef.data(), 2,
                             scores.data());
      CHECK(close(expected, scores, is_single(kind) ? 1e-4 : 1e-11), std::to_string(kind));
      if (n_threads == 1) first = scores;
      CHECK(scores == first, "threads, " + std::to_string(kind));
    }
  }
}

template <class T, class Apply>
void kernel_values_are_right_in_every_lane(Apply apply, double tolerance) {
  for (int64_t n = 0; n <= 33; ++n)
    for (const KernelFunction& kernel : kKernels) {
      std::vector<T> values, squares;
      for (int64_t j = 0; j < n; ++j) {
        values.push_back(static_cast<T>(j) / 8 - 2);
        squares.push_back(static_cast<T>(j * j % 7) + 5);
      }
      values.shrink_to_fit();
      squares.shrink_to_fit();
      const std::vector<T> products = values;
      apply(kernel, T(5), squares.data(), values.data(), n);
      double worst = 0;
      for (int64_t j = 0; j < n; ++j) {
        const double x = products[j];
        double expected = x;
        if (kernel.kind == KernelFunction::poly)
          expected = std::pow(kernel.gamma * x + kernel.coef0, static_cast<double>(kernel.degree));
        if (kernel.kind == KernelFunction::rbf)
          expected = std::exp(-kernel.gamma * std::max(0.0, 5 + squares[j] - 2 * x));
        worst = std::max(worst, std::fabs(values[j] - expected) / (1 + std::fabs(expected)));
      }
      CHECK(worst <= tolerance, std::to_string(n) + " values, kind " + std::to_string(kernel.kind));
    }
}

// --- Sums of rows ---------------------------------------------------------------------------------

template <class T, class Add>
void rows_are_added_in_every_range(Add add) {
  for (int64_t n : {0, 1, 3, 4, 5, 8, 9, 13})
    for (int64_t first : {0, 1, 6})
      for (int64_t width : {0, 1, 3, 4, 7, 8, 9, 17}) {
        const int64_t last = first + width;
        std::vector<std::vector<T>> rows;
        std::vector<const T*> pointers;
        Doubles coef, scores(last, 0.5), expected(scores);
        for (int64_t v = 0; v < n; ++v) {
          rows.emplace_back();
          for (int64_t j = 0; j < last; ++j)
            rows.back().push_back(static_cast<T>((v * 31 + j * 17) % 23) / 4);
          rows.back().shrink_to_fit();
          coef.push_back(static_cast<double>(v % 5) - 1.5);
          for (int64_t j = first; j < last; ++j) expected[j] += coef[v] * rows[v][j];
        }
        for (const auto& row : rows) pointers.push_back(row.data());
        coef.shrink_to_fit();
        add(pointers.data(), coef.data(), n, first, last, scores.data());
        CHECK(scores == expected, std::to_string(n) + " rows");  // small numbers: no rounding
      }
}

template <class T>
void stored_rows_are_added_for_each_problem() {
  const int64_t n_columns = 1033;  // two tiles
  for (int64_t n : {0, 1, 63, 64, 65, 131})
    for (int64_t n_problems : {1, 3}) {
      std::vector<T> values(140 * n_columns);
      for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<T>(k % 29) / 8;
      Draws slot(n_columns, -1), which;
      for (int64_t k = 0; k < n; ++k) {
        slot[7 * k] = 139 - k;
        which.push_back(7 * k);
      }
      Doubles coef(n_problems * n), start(n_problems * n_columns, 2.0);
      for (size_t k = 0; k < coef.size(); ++k) coef[k] = static_cast<double>(k % 4);
      Doubles expected = start;
      for (int64_t p = 0; p < n_problems; ++p)
        for (int64_t k = 0; k < n; ++k)
          for (int64_t j = 0; j < n_columns; ++j)
            expected[p * n_columns + j] +=
                coef[p * n + k] * static_cast<double>(values[(139 - k) * n_columns + j]);
      for (int n_threads = 1; n_threads <= 5; ++n_threads) {
        Doubles scores = start;
        const StoredRows<T> rows{values.data(), n_columns, slot.data()};
        pegasos::add_stored_rows(rows, which.data(), n, n_columns, coef.data(), n_problems,
                                 scores.data(), n_threads);
        CHECK(scores == expected, std::to_string(n) + " rows");
      }
    }
}

// --- Solvers --------------------------------------------------------------------------------------

// A kernel matrix with labels and weights; T may round its values, which are then those of both.
struct Machine {
  int64_t n;
  Doubles K, diagonal, weight;
  std::vector<float> single;
  std::vector<int32_t> code;
  double total = 0;

  Machine(int64_t n_rows, int n_classes) : n(n_rows) {
    const Matrix matrix(n, 3, 21, 1.0, 2.0);
    std::mt19937 random(22);
    std::uniform_real_distribution<double> uniform(0.5, 2);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j)
        single.push_back(static_cast<float>(value(kKernels[3], matrix, i, matrix, j)));
    single.shrink_to_fit();
    K.assign(single.begin(), single.end());
    for (int64_t i = 0; i < n; ++i) {
      diagonal.push_back(K[i * n + i]);
      weight.push_back(uniform(random));
      total += weight.back();
      code.push_back(static_cast<int32_t>((matrix.f64[3 * i] > 0) + random() % 2) % n_classes);
    }
    for (auto fit : {&diagonal, &weight}) fit->shrink_to_fit();
    code.shrink_to_fit();
  }
  template <class T>
  const T* values() const {
    if constexpr (std::is_same_v<T, float>)
      return single.data();
    else
      return K.data();
  }
};

// No multiple of it is near a whole number: else margins of a single row would be 1, up to rounding.
double lam_of(int p) { return 0.01 * std::sqrt(2.0) * (p + 1); }

struct KernelState {
  Doubles scores, mass, mean_scores, mean_mass;
  std::vector<Tally> tally;
  KernelRun run;

  KernelState(const Machine& machine, const KernelOptions& options, int n_problems, bool weighted)
      : scores(n_problems * machine.n),
        mass(scores),
        mean_scores(options.mean ? scores.size() : 0),
        mean_mass(mean_scores),
        tally(n_problems, Tally{0, 0, 0, 0, 0, 0, 1, 1, 1}),
        run{{machine.code.data(), weighted ? machine.weight.data() : nullptr,
             weighted ? machine.total : static_cast<double>(machine.n)},
            options,
            machine.diagonal.data(),
            machine.n,
            {},
            options.mean ? mean_scores.data() : nullptr,
            options.mean ? mean_mass.data() : nullptr} {
    for (int p = 0; p < n_problems; ++p)
      run.problems.push_back({p, lam_of(p), scores.data() + p * machine.n,
                              mass.data() + p * machine.n, &tally[p], nullptr, nullptr, nullptr,
                              0});
  }
  KernelState(const KernelState&) = delete;

  bool same_bits(const KernelState& other) const {
    for (size_t p = 0; p < tally.size(); ++p)
      if (tally[p].clock != other.tally[p].clock ||
          tally[p].violations != other.tally[p].violations ||
          tally[p].gain != other.tally[p].gain ||
          tally[p].mean_clock != other.tally[p].mean_clock ||
          tally[p].mean_weight != other.tally[p].mean_weight)
        return false;
    return scores == other.scores && mass == other.mass && mean_scores == other.mean_scores &&
           mean_mass == other.mean_mass;
  }
  // Scores are what signed masses give: a sum over all rows.
  bool scores_follow_masses(const Machine& machine, double tolerance) const {
    Doubles expected(scores.size());
    for (size_t p = 0; p < tally.size(); ++p)
      for (int64_t i = 0; i < machine.n; ++i) {
        double c = mass[p * machine.n + i] * (machine.code[i] == static_cast<int>(p) ? 1 : -1);
        if (run.options.solver == KernelSolver::sdca) c *= run.labels.weight_of(i);
        for (int64_t j = 0; j < machine.n; ++j)
          expected[p * machine.n + j] += c * machine.K[i * machine.n + j];
      }
    return close(expected, scores, tolerance);
  }
  double dual(const Machine& machine, size_t p, LossName loss) const {
    const double lam = run.problems[p].lam, total = run.labels.total_weight;
    double gain = 0, square = 0;
    for (int64_t i = 0; i < machine.n; ++i) {
      const double s = run.labels.weight_of(i), b = mass[p * machine.n + i];
      gain += s * (loss == LossName::hinge ? b : pegasos::Log::gain(b));
      square +=
          s * b * (machine.code[i] == static_cast<int>(p) ? 1 : -1) * scores[p * machine.n + i];
    }
    return gain / total - square / (2 * lam * total * total);
  }
};

const KernelSolver kKernelSolvers[] = {KernelSolver::pegasos, KernelSolver::perceptron};

template <class T>
void steps_do_not_depend_on_blocks_slots_or_threads() {
  for (int64_t n : {1, 13, 70}) {
    const Machine machine(n, 3);
    const StoredRows<T> all{machine.values<T>(), n, nullptr};
    // The same rows elsewhere: row i in slot n - 1 - i.
    std::vector<T> turned(n * n);
    Draws slot(n);
    for (int64_t i = 0; i < n; ++i) {
      slot[i] = n - 1 - i;
      std::copy_n(machine.values<T>() + i * n, n, turned.data() + slot[i] * n);
    }
    const StoredRows<T> slotted{turned.data(), n, slot.data()};
    const Draws draws = random_draws(n, 211, 31);
    for (KernelSolver solver : kKernelSolvers)
      for (LossName loss : kLosses)
        for (bool mean : {false, true})
          for (int n_problems : {1, 3}) {
            const KernelOptions options{solver, loss, mean, true, 1, 0};
            KernelState one(machine, options, n_problems, mean);
            CHECK(pegasos::kernel_steps(one.run, all, draws.data(), 211, 16, 1) == 211, "steps");
            CHECK(one.scores_follow_masses(machine, sizeof(T) == 4 ? 1e-5 : 1e-11), "scores");
            for (int n_threads = 1; n_threads <= 5; ++n_threads) {
              KernelState other(machine, options, n_problems, mean);
              pegasos::kernel_steps(other.run, slotted, draws.data(), 211, 16, n_threads);
              CHECK(one.same_bits(other), std::to_string(n_threads) + " threads");
            }
            for (int64_t block : {1, 7, 128, 1000}) {
              KernelState other(machine, options, n_problems, mean);
              pegasos::kernel_steps(other.run, all, draws.data(), 211, block, 2);
              const double tolerance = sizeof(T) == 4 ? 1e-4 : 1e-9;
              CHECK(close(one.scores, other.scores, tolerance), "block " + std::to_string(block));
              CHECK(close(one.mass, other.mass, tolerance), "block " + std::to_string(block));
              // Terms of both signs, each as large as the clock of the mean: the sum may be small.
              const double largest = 211 * std::max(one.tally[0].clock, one.tally[0].mean_clock);
              double worst = 0;
              for (size_t j = 0; j < one.mean_scores.size(); ++j)
                worst = std::max(worst, std::fabs(one.mean_scores[j] - other.mean_scores[j]));
              CHECK(worst <= largest * (sizeof(T) == 4 ? 1e-7 : 1e-15),
                    "block " + std::to_string(block));
            }
          }
  }
}

// The published loop, with a sum over all rows for every draw.
void pegasos_makes_the_published_kernel_steps() {
  const Machine machine(40, 2);
  const Draws draws = random_draws(40, 300, 33);
  KernelState state(machine, {KernelSolver::pegasos, LossName::hinge, false, false, 1, 0}, 1,
                    false);
  pegasos::kernel_steps(state.run, StoredRows<double>{machine.K.data(), 40, nullptr}, draws.data(),
                        300, 64, 2);
  Doubles alpha(40);
  const auto y = [&](int64_t i) { return machine.code[i] == 0 ? 1.0 : -1.0; };
  for (int t = 1; t <= 300; ++t) {
    const int64_t i = draws[t - 1];
    double sum = 0;
    for (int64_t j = 0; j < 40; ++j) sum += alpha[j] * y(j) * machine.K[j * 40 + i];
    if (y(i) * sum / (lam_of(0) * t) < 1) alpha[i] += 1;
  }
  CHECK(state.mass == alpha, "alpha");
  CHECK(state.tally[0].clock == 300, "clock");
}

void steps_stop_at_a_row_that_is_missing() {
  const Machine machine(6, 2);
  KernelState state(machine, {KernelSolver::pegasos, LossName::hinge, false, false, 1, 0}, 1,
                    false);
  const Draws slot{0, 1, -1, 2, 3, 4}, draws{0, 1, 3, 4, 5, 0, 2, 1};
  const StoredRows<double> rows{machine.K.data(), 6, slot.data()};  // five of its rows are read
  CHECK(pegasos::kernel_steps(state.run, rows, draws.data(), 8, 4, 3) == 4, "4 of 8");
  CHECK(pegasos::kernel_steps(state.run, rows, draws.data() + 6, 2, 4, 3) == 0, "none");
  CHECK(pegasos::kernel_steps(state.run, rows, draws.data(), 0, 4, 3) == 0, "no draws");
  CHECK(state.tally[0].clock == 4, "clock");
}

template <class T>
void decisions_are_the_same_with_the_kernel_among_the_rows_alone() {
  const Machine machine(37, 3);
  const int64_t n = 23;
  const Draws block = random_draws(37, n, 41);  // with repetitions
  std::vector<T> gram(n * n);
  for (int64_t k = 0; k < n; ++k)
    for (int64_t j = 0; j < n; ++j) gram[k * n + j] = machine.values<T>()[block[k] * 37 + block[j]];
  const StoredRows<T> rows{machine.values<T>(), 37, nullptr}, none{nullptr, 37, nullptr};
  for (KernelSolver solver : kKernelSolvers)
    for (LossName loss : kLosses)
      for (int n_problems : {1, 3}) {
        const KernelOptions options{solver, loss, true, false, 1, 0};
        KernelState one(machine, options, n_problems, true);
        Doubles delta(n_problems * n), mean_delta(delta);
        pegasos::kernel_decisions(one.run, block.data(), n, static_cast<const T*>(nullptr), rows,
                                  delta.data(), mean_delta.data(), 1);
        CHECK(*std::max_element(delta.begin(), delta.end()) > 0, "something happens");
        for (int n_threads = 1; n_threads <= 5; ++n_threads) {
          KernelState other(machine, options, n_problems, true);
          Doubles again(delta.size()), mean_again(delta.size());
          pegasos::kernel_decisions(other.run, block.data(), n, gram.data(), none, again.data(),
                                    mean_again.data(), n_threads);
          CHECK(delta == again && mean_delta == mean_again, "delta");
          CHECK(one.same_bits(other), "masses");
        }
      }
}

// Blocks of all sizes, so that every lane and the rest behind the lanes is the best row at some time.
template <class T>
void ascent_raises_the_dual_block_by_block() {
  const Machine machine(61, 3);
  const StoredRows<T> rows{machine.values<T>(), 61, nullptr};
  std::mt19937 random(51);
  for (LossName loss : kLosses)
    for (bool weighted : {false, true})
      for (int n_problems : {1, 3}) {
        const KernelOptions options{KernelSolver::sdca, loss, false, false, 8, 0.01};
        KernelState state(machine, options, n_problems, weighted),
            other(machine, options, n_problems, weighted);
        Doubles duals(n_problems);
        bool raised = true, bounded = true, same = true;
        Draws order(61);
        for (int64_t i = 0; i < 61; ++i) order[i] = i;
        for (int64_t n = 1; n <= 61; ++n) {
          std::shuffle(order.begin(), order.end(), random);
          const Draws block(order.begin(), order.begin() + n);
          Doubles delta(n_problems * n), again(delta);
          pegasos::kernel_decisions(state.run, block.data(), n, static_cast<const T*>(nullptr),
                                    rows, delta.data(), nullptr, 1);
          pegasos::add_stored_rows(rows, block.data(), n, 61, delta.data(), n_problems,
                                   state.scores.data(), 1);
          pegasos::kernel_decisions(other.run, block.data(), n, static_cast<const T*>(nullptr),
                                    rows, again.data(), nullptr, 3);
          pegasos::add_stored_rows(rows, block.data(), n, 61, again.data(), n_problems,
                                   other.scores.data(), 3);
          same = same && delta == again && state.same_bits(other);
          for (int p = 0; p < n_problems; ++p) {
            const double dual = state.dual(machine, p, loss);
            raised = raised && dual >= duals[p] - (sizeof(T) == 4 ? 1e-6 : 1e-12);
            duals[p] = dual;
            const int64_t steps = state.run.problems[p].n_steps;
            bounded = bounded && steps >= 0 && steps <= 8 * n;
          }
          for (double b : state.mass) bounded = bounded && b >= 0 && b <= 1;
        }
        const std::string where =
            std::string(loss == LossName::hinge ? "hinge" : "log") + (weighted ? ", weighted" : "");
        CHECK(raised && duals[0] > 0.05, where);
        CHECK(bounded, where);
        CHECK(same, "threads, " + where);
        CHECK(state.scores_follow_masses(machine, sizeof(T) == 4 ? 1e-5 : 1e-10), where);
      }
}

void movers_are_found_in_order_until_the_block_is_full() {
  const Machine machine(30, 2);
  KernelState state(machine, {KernelSolver::sdca, LossName::hinge, false, false, 1, 0}, 2, false);
  const double unit = lam_of(0) * 30;  // per mass, without weights
  for (int64_t i = 0; i < 30; ++i) {
    const double y = machine.code[i] == 0 ? 1 : -1;
    state.mass[i] = i % 3 == 0 ? 0 : (i % 3 == 1 ? 1 : 0.5);
    state.scores[i] = y * unit * (i % 2 ? 0.8 : 1.2);  // margins of problem 0
    state.mass[30 + i] = 1;                            // problem 1 never moves: margins of 0
  }
  const auto moves = [](int64_t i) { return i % 3 == 0 ? i % 2 == 1 : (i % 3 == 2 || i % 2 == 0); };
  const Draws draws = random_draws(30, 97, 61);
  Draws expected;
  for (int64_t i : draws)
    if (moves(i)) expected.push_back(i);
  for (int64_t most : {0, 1, 5, 97}) {
    Draws block(most);
    int64_t n = -1;
    const int64_t looked_at =
        pegasos::next_movers(state.run, draws.data(), 97, 0.1, most, block.data(), &n);
    CHECK(n == std::min<int64_t>(most, static_cast<int64_t>(expected.size())), "number");
    CHECK(std::equal(block.begin(), block.begin() + n, expected.begin()), "rows");
    CHECK(n < most ? looked_at == 97 : (n == 0 || draws[looked_at - 1] == block[n - 1]), "draws");
  }
  Draws block(97);
  int64_t n = -1;
  pegasos::next_movers(state.run, draws.data(), 97, 0.3, 97, block.data(), &n);
  CHECK(n == std::count_if(draws.begin(), draws.end(), [](int64_t i) { return i % 3 == 2; }),
        "a larger slack leaves those between their bounds");
}

// --- Threads --------------------------------------------------------------------------------------

void a_team_runs_every_task_once() {
  for (int n_threads : {-1, 0, 1, 2, 3, 4, 5}) {
    pegasos::Team team(n_threads);
    CHECK(team.size() == std::max(1, n_threads), std::to_string(n_threads));
    int wrong = 0;
    for (int64_t round = 0; round < 1000; ++round) {
      const int64_t n = round % 11;
      // Plain integers: a task that ran twice or came late would be a race, and be seen.
      std::vector<int64_t> done(n, -1);
      std::vector<int> member(n, -1);
      team.run(n, [&](int64_t k, int who) {
        done[k] = done[k] == -1 ? round * n + k : -2;
        member[k] = who;
      });
      for (int64_t k = 0; k < n; ++k)
        wrong += done[k] != round * n + k || member[k] < 0 || member[k] >= team.size();
    }
    CHECK(wrong == 0, std::to_string(n_threads) + " threads");
  }
}

// As many tasks as members, each waiting for all others: every member has exactly one of them.
void members_of_a_team_share_no_scratch() {
  for (int n_threads = 1; n_threads <= 5; ++n_threads) {
    pegasos::Team team(n_threads);
    for (int round = 0; round < 20; ++round) {
      std::atomic<int> started{0};
      std::vector<int> member(team.size(), -1);
      team.run(team.size(), [&](int64_t k, int who) {
        for (++started; started < team.size();) std::this_thread::yield();
        member[k] = who;
      });
      std::sort(member.begin(), member.end());
      bool each_once = true;
      for (int k = 0; k < team.size(); ++k) each_once = each_once && member[k] == k;
      CHECK(each_once, std::to_string(n_threads) + " threads");
    }
  }
}

void a_team_without_work_ends() {
  for (int round = 0; round < 50; ++round) {
    pegasos::Team idle(1 + round % 5);
    if (round % 2) idle.run(1, [](int64_t, int) {});
  }
  CHECK(true, "no deadlock");
}

}  // namespace

void tests::kernel_tests() {
  const pegasos::LevelTable& level = pegasos::level_table();
  a_team_runs_every_task_once();
  members_of_a_team_share_no_scratch();
  a_team_without_work_ends();
  kernel_values_need_a_product();
  pegasos::use_blas(&naive_gemm<float>, &naive_gemm<double>);
  kernel_values_are_right_in_every_lane<float>(level.kernel_values_f32, 1e-5);
  kernel_values_are_right_in_every_lane<double>(level.kernel_values_f64, 1e-13);
  kernel_values_are_right_for_all_kinds_of_rows();
  picked_rows_may_be_any_on_any_number_of_threads();
  scores_are_sums_of_kernel_values();
  rows_are_added_in_every_range<float>(level.add_rows_f32);
  rows_are_added_in_every_range<double>(level.add_rows_f64);
  stored_rows_are_added_for_each_problem<float>();
  stored_rows_are_added_for_each_problem<double>();
  steps_do_not_depend_on_blocks_slots_or_threads<float>();
  steps_do_not_depend_on_blocks_slots_or_threads<double>();
  pegasos_makes_the_published_kernel_steps();
  steps_stop_at_a_row_that_is_missing();
  decisions_are_the_same_with_the_kernel_among_the_rows_alone<float>();
  decisions_are_the_same_with_the_kernel_among_the_rows_alone<double>();
  ascent_raises_the_dual_block_by_block<float>();
  ascent_raises_the_dual_block_by_block<double>();
  movers_are_found_in_order_until_the_block_is_full();
}
