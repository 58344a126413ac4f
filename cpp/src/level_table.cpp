// Compiled once per CPU level, with PEGASOS_LEVEL naming the level's inline namespace: every symbol below
// differs from level to level, so the linker can never mix them; what the levels share is always inlined.
#include "pegasos/level_table.hpp"

#include "pegasos/perceptron.hpp"

#define PEGASOS_STRING(name) #name
#define PEGASOS_LEVEL_NAME(name) PEGASOS_STRING(name)

namespace pegasos {
inline namespace PEGASOS_LEVEL {
namespace {

void pegasos_entry(const RowsView& view, const Labels& labels, LossName loss,
                   const PegasosOptions& options, const int64_t* draws, int64_t n_draws,
                   Problem* problems, int n_problems, double* slopes, bool reader) {
  with_rows(view, [&](const auto& rows) {
    with_loss(loss, [&](auto kind) {
      const auto run = [&](auto weights) {
        PegasosSolver<std::decay_t<decltype(rows)>, decltype(kind), decltype(weights)>(
            rows, view, labels, options)
            .run(draws, n_draws, problems, n_problems, slopes, reader);
      };
      if (options.project)  // scales both arrays
        run(Apart{});
      else
        with_weights(rows, view, n_draws, problems, n_problems, run);
    });
  });
}

void sgd_start_entry(const RowsView& view, const Labels& labels, LossName loss,
                     const StartOptions& options, const int64_t* draws, int64_t n_draws,
                     Problem* problems, int n_problems, bool reader) {
  with_rows(view, [&](const auto& rows) {
    with_loss(loss, [&](auto kind) {
      with_weights(rows, view, n_draws, problems, n_problems, [&](auto weights) {
        SgdStart<std::decay_t<decltype(rows)>, decltype(kind), decltype(weights)>(rows, labels,
                                                                                  options)
            .run(draws, n_draws, problems, n_problems, reader);
      });
    });
  });
}

void sdca_entry(const RowsView& view, const Labels& labels, LossName loss,
                const SdcaOptions& options, const int64_t* draws, int64_t n_draws, Problem& problem,
                int64_t* awake, bool reader) {
  with_rows(view, [&](const auto& rows) {
    with_loss(loss, [&](auto kind) {
      with_weights(rows, view, n_draws, &problem, 1, [&](auto weights) {
        SdcaSolver<std::decay_t<decltype(rows)>, decltype(kind), decltype(weights)>(rows, labels,
                                                                                    options)
            .run(draws, n_draws, problem, awake, reader);
      });
    });
  });
}

void perceptron_entry(const RowsView& view, const Labels& labels, const int64_t* draws,
                      int64_t n_draws, Problem* problems, int n_problems, bool reader) {
  with_rows(view, [&](const auto& rows) {
    perceptron_steps(rows, labels, draws, n_draws, problems, n_problems, reader);
  });
}

double square_sum_entry(const RowsView& view, const int64_t* which, int64_t n_rows) {
  double sum = 0;
  with_rows(view, [&](const auto& rows) {
    for (int64_t k = 0; k < n_rows; ++k) sum += rows.at(which[k]).square();
  });
  return sum;
}

int64_t nonzero_sum_entry(const RowsView& view, const int64_t* which, int64_t n_rows) {
  int64_t sum = 0;
  with_rows(view, [&](const auto& rows) {
    for (int64_t k = 0; k < n_rows; ++k) sum += rows.at(which[k]).count_nonzero();
  });
  return sum;
}

double loss_sum_entry(const RowsView& view, const Labels& labels, LossName loss, RowRange range,
                      const Problem& problem) {
  double sum = 0;
  with_rows(view, [&](const auto& rows) {
    with_loss(loss,
              [&](auto kind) { sum = loss_sum<decltype(kind)>(rows, labels, range, problem); });
  });
  return sum;
}

double guess_masses_entry(const RowsView& view, const Labels& labels, LossName loss, RowRange range,
                          const Problem& problem, double width, double* dual_rows) {
  double sum = 0;
  with_rows(view, [&](const auto& rows) {
    with_loss(loss, [&](auto kind) {
      sum = guess_masses<decltype(kind)>(rows, labels, range, problem, width, dual_rows);
    });
  });
  return sum;
}

void newton_terms_entry(const RowsView& view, const Labels& labels, LossName loss, RowRange range,
                        const Problem& problem, double width, bool curvature, double* terms) {
  with_rows(view, [&](const auto& rows) {
    with_loss(loss, [&](auto kind) {
      newton_terms<decltype(kind)>(rows, labels, range, problem, width, view.n_features + 1,
                                   curvature, terms);
    });
  });
}

void line_slopes_entry(const RowsView& view, const Labels& labels, LossName loss, RowRange range,
                       const Problem& problem, const double* step, double width, double* slopes) {
  with_rows(view, [&](const auto& rows) {
    with_loss(loss, [&](auto kind) {
      line_slopes<decltype(kind)>(rows, labels, range, problem, step, width, slopes);
    });
  });
}

void add_dual_rows_entry(const RowsView& view, const Labels& labels, RowRange range,
                         const Problem& problem, double* sum) {
  with_rows(view, [&](const auto& rows) { add_dual_rows(rows, labels, range, problem, sum); });
}

double gain_sum_entry(const Labels& labels, LossName loss, RowRange range, const double* mass) {
  double sum = 0;
  with_loss(loss, [&](auto kind) { sum = gain_sum<decltype(kind)>(labels, range, mass); });
  return sum;
}

void score_rows_entry(const RowsView& view, RowRange range, const double* weights, int n_problems,
                      double* scores) {
  with_rows(view, [&](const auto& rows) {
    score_rows(rows, range, weights, view.n_features + 1, n_problems, scores);
  });
}

void squared_norms_entry(const RowsView& view, RowRange range, double* squares) {
  with_rows(view, [&](const auto& rows) {
    for (int64_t i = range.first; i < range.last; ++i) squares[i] = rows.at(i).square();
  });
}

CsrFault column_fault_entry(const RowsView& view, RowRange range) {
  const bool wide = view.kind == RowsView::csr_f32_i64 || view.kind == RowsView::csr_f64_i64;
  return wide ? column_fault<int64_t>(view, range) : column_fault<int32_t>(view, range);
}

template <class C>
void panel_products_entry(const RowsView& view, const int64_t* which, int64_t first, int64_t n,
                          const C* panel, C* products, int64_t stride) {
  with_rows(view, [&](const auto& rows) {
    if constexpr (std::decay_t<decltype(rows)>::kSparse)
      panel_products(rows, which, first, n, panel, products, stride);
  });
}

}  // namespace

extern const LevelTable kTable;
const LevelTable kTable = {
    PEGASOS_LEVEL_NAME(PEGASOS_LEVEL),
    pegasos_entry,
    sgd_start_entry,
    sdca_entry,
    perceptron_entry,
    square_sum_entry,
    nonzero_sum_entry,
    loss_sum_entry,
    guess_masses_entry,
    newton_terms_entry,
    line_slopes_entry,
    cholesky_solve,
    add_dual_rows_entry,
    gain_sum_entry,
    score_rows_entry,
    squared_norms_entry,
    column_fault_entry,
    KernelValues<float>::apply,
    KernelValues<double>::apply,
    panel_products_entry<float>,
    panel_products_entry<double>,
    add_rows<float>,
    add_rows<double>,
    kernel_block<float>,
    kernel_block<double>,
    nullptr,
};

}  // namespace PEGASOS_LEVEL
}  // namespace pegasos
