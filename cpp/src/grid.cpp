#include "pegasos/grid.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include "pegasos/level_table.hpp"
#include "pegasos/ranges.hpp"
#include "pegasos/spread.hpp"
#include "pegasos/team.hpp"

namespace pegasos {
namespace {

constexpr int64_t kValuesPerRange = 1 << 16;
constexpr int64_t kWorthThreads = 1 << 22;
// Far from the limits of float32, also when squared, or when what is not on the grid is divided by it.
constexpr float kSmallestGrid = 0x1.0p-20f, kLargestGrid = 0x1.0p20f;

// The stored values of float32 rows, in ranges for threads to share.
class Values {
 public:
  Values(const RowsView& view, const MatrixUnit& unit, int n_threads)
      : values_(static_cast<const float*>(view.values)),
        n_(count_entries(view)),
        unit_(unit),
        team_(n_ >= kWorthThreads ? n_threads : 1) {}

  bool all_on(float grid) {
    std::atomic<bool> on{true};
    each_range([&](int64_t, const float* part, int64_t n) {
      if (on && !unit_.on_grid(part, n, grid)) on = false;
    });
    return on;
  }

  float smallest() {
    std::vector<float> found(count_ranges(n_, kValuesPerRange));
    each_range(
        [&](int64_t k, const float* part, int64_t n) { found[k] = unit_.smallest(part, n); });
    float least = 0;
    for (const float size : found)
      if (size > 0 && (least == 0 || size < least)) least = size;
    return least;
  }

  // Most data has no grid, and its first values show it.
  bool first_have_none() const {
    const int64_t few = std::min(n_, kValuesPerRange);
    const float least = unit_.smallest(values_, few);
    return least > 0 && !unit_.on_grid(values_, few, least);
  }

 private:
  template <class Each>
  void each_range(Each each) {
    team_.run(count_ranges(n_, kValuesPerRange), [&](int64_t k, int) {
      const RowRange part = range_at(k, n_, kValuesPerRange);
      each(k, values_ + part.first, part.last - part.first);
    });
  }

  const float* values_;
  const int64_t n_;
  const MatrixUnit& unit_;
  Team team_;
};

}  // namespace

float find_grid(const RowsView& view, float likely, int n_threads) {
  const MatrixUnit* unit = level_table().unit;
  if (!unit || is_double(view)) return 0;
  Values values(view, *unit, n_threads);
  if (likely > 0 && values.all_on(likely)) return likely;
  if (values.first_have_none()) return 0;
  const float grid = values.smallest();
  const bool usable = kSmallestGrid <= grid && grid <= kLargestGrid;
  return usable && values.all_on(grid) ? grid : 0;
}

}  // namespace pegasos
