// The kernel machines without Python: all solvers; every array has exactly the right size.
#include "kernels.hpp"
#include "pegasos/kernel_engine.hpp"

namespace {

using namespace tests;
using pegasos::KernelOptions;
using pegasos::KernelRun;
using pegasos::KernelSolver;
using pegasos::StoredRows;
using pegasos::Tally;

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

}  // namespace

void tests::kernel_tests() {
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
