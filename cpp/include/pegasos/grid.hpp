// The grid of a data matrix: the number that all its values are small whole multiples of.
#pragma once

#include "pegasos/rows_view.hpp"

namespace pegasos {

// 0 if there is none, or no matrix unit that would make use of it. `likely` is the grid of other rows, tried first;
// 0 for none.
float find_grid(const RowsView&, float likely, int n_threads);

}  // namespace pegasos
