"""The published algorithms in plain NumPy: slow, short, and the oracle of the tests.

Everything here keeps the weight vector `w` itself (kernel machines: one coefficient per row) and
takes one step after the other, as the papers write it. The fast core keeps other quantities, but
must make the same decisions, draw for draw. All training functions therefore take the rows to
visit as an argument (`draws`), and the draws come from a NumPy generator, so that any fit can be
replayed:

>>> import numpy as np
>>> from pegasos import reference
>>> X = np.array([[2.0, 0.0], [1.0, 1.0], [-1.0, 0.5], [-1.0, -1.0]])
>>> y = np.array([1.0, 1.0, -1.0, -1.0])
>>> rng = np.random.default_rng(42)
>>> draws = reference.draw_rows(rng, n_rows=4, n_draws=5 * 4, sampling="permutation")
>>> run = reference.pegasos(X, y, lam=0.5, draws=draws)
>>> a = reference.pegasos_dual_point(run.dual_mass, epochs=5)
>>> bool(reference.dual_objective(a, X, y, 0.5) <= reference.primal_objective(run.w, X, y, 0.5))
True

The problem, everywhere, with labels `y_i` in {-1, +1}, sample weights `s_i` (1 unless given) and
`S = sum_i s_i`::

    P(w) = lam/2 ||w||^2 + (1/S) sum_i s_i loss(y_i <w, x_i>)

`lam = 1/(C S)` links it to liblinear's `C`. There is no intercept: append a constant column to X.

Kernel machines take the Gram matrix `K_ij = K(x_i, x_j)` in place of X and make a function
`f(x) = sum_i coef_i K(x_i, x)`; in P above, `<w, x_i>` is then `f(x_i)`, and `||w||^2` is
`coef^T K coef`. Predict with the kernel of new rows and the rows trained on:

>>> K = reference.gaussian_kernel(X, X, gamma=0.5)
>>> run = reference.kernel_pegasos(K, y, lam=0.5, draws=draws)
>>> reference.gaussian_kernel([[2.0, 1.0], [-2.0, 0.0]], X, gamma=0.5) @ run.coef > 0
array([ True, False])

Where to look: `_losses` (value, slope and dual of each loss), `_objectives` (primal and dual),
`_draws`, `_pegasos`, `_dual_ascent` (SDCA and its start), `_newton` (steps that follow the start),
`_relatives` (perceptron, online gradient descent), `_kernels`, `_kernel_machines` (objectives,
Pegasos, SDCA, perceptron).

References
----------
Shalev-Shwartz, Singer, Srebro, Cotter: Pegasos: primal estimated sub-gradient solver for SVM.
Mathematical Programming 127, 2011. The kernel form is its Fig. 3.
Shalev-Shwartz, Zhang: Stochastic dual coordinate ascent methods for regularized loss
minimization. JMLR 14, 2013.
Mangasarian, Musicant: Successive overrelaxation for support vector machines. IEEE Transactions on
Neural Networks 10, 1999.
"""

from pegasos.reference._draws import draw_rows
from pegasos.reference._dual_ascent import SdcaRun, guess_masses, sdca, sgd_start
from pegasos.reference._kernel_machines import (
    KernelPegasosRun,
    KernelPerceptronRun,
    KernelSdcaRun,
    kernel_dual_objective,
    kernel_pegasos,
    kernel_perceptron,
    kernel_primal_objective,
    kernel_sdca,
    steepest_draws,
)
from pegasos.reference._kernels import gaussian_kernel, linear_kernel, polynomial_kernel
from pegasos.reference._losses import (
    LOSSES,
    Loss,
    hinge,
    hinge_coordinate,
    hinge_dual_gain,
    hinge_guess,
    hinge_slope,
    log_coordinate,
    log_dual_gain,
    log_guess,
    log_loss,
    log_slope,
)
from pegasos.reference._newton import newton_step
from pegasos.reference._objectives import dual_objective, dual_weights, primal_objective
from pegasos.reference._pegasos import PegasosRun, pegasos, pegasos_dual_point
from pegasos.reference._relatives import PerceptronRun, online_gradient_descent, perceptron

__all__ = [
    "LOSSES",
    "KernelPegasosRun",
    "KernelPerceptronRun",
    "KernelSdcaRun",
    "Loss",
    "PegasosRun",
    "PerceptronRun",
    "SdcaRun",
    "draw_rows",
    "dual_objective",
    "dual_weights",
    "gaussian_kernel",
    "guess_masses",
    "hinge",
    "hinge_coordinate",
    "hinge_dual_gain",
    "hinge_guess",
    "hinge_slope",
    "kernel_dual_objective",
    "kernel_pegasos",
    "kernel_perceptron",
    "kernel_primal_objective",
    "kernel_sdca",
    "linear_kernel",
    "log_coordinate",
    "log_dual_gain",
    "log_guess",
    "log_loss",
    "log_slope",
    "newton_step",
    "online_gradient_descent",
    "pegasos",
    "pegasos_dual_point",
    "perceptron",
    "polynomial_kernel",
    "primal_objective",
    "sdca",
    "sgd_start",
    "steepest_draws",
]
