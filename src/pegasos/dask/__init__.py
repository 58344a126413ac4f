"""Training on a Dask cluster: the rows stay on the workers, the certificate is over all of them.

The estimators have the names and parameters of those in :mod:`pegasos`. They take Dask arrays,
whose blocks may be CSR matrices, and Dask dataframes.

>>> import dask.array as da
>>> from distributed import Client
>>> from pegasos.dask import PegasosClassifier
>>> with Client(processes=False, n_workers=1, dashboard_address=":0"):
...     X = da.random.default_rng(0).normal(size=(1000, 5), chunks=(250, 5))
...     model = PegasosClassifier(lam=0.01, solver="sdca", random_state=0).fit(X, X[:, 0] > 0)
...     labels = model.predict(X).compute()
>>> bool(model.duality_gap_ <= 0.01 * model.objective_), labels.shape
(True, (1000,))
"""

from pegasos.dask._cluster import ClusterLostError
from pegasos.dask._linear import PegasosClassifier
from pegasos.dask._perceptron import PerceptronClassifier

__all__ = ["ClusterLostError", "PegasosClassifier", "PerceptronClassifier"]
