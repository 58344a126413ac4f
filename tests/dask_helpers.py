"""Cut data into partitions, run the tasks of a fit in this process, and replay rounds in NumPy."""

from contextlib import contextmanager
from itertools import pairwise

import dask
import dask.array as da
import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from pegasos.dask._cluster import Cluster

CSR = sp.csr_matrix((0, 0))


def cut(rows, sizes):
    """A Dask array with blocks of these sizes, dense or CSR as the rows are."""
    ends = np.cumsum([0, *sizes])
    assert ends[-1] == rows.shape[0]
    if not sp.issparse(rows):
        return da.from_array(rows, chunks=(tuple(sizes), *((-1,) * (rows.ndim - 1))))
    blocks = [
        da.from_delayed(dask.delayed(rows[a:b], pure=False), shape=(b - a, rows.shape[1]), meta=CSR)
        for a, b in pairwise(ends)
    ]
    return da.concatenate(blocks)


class Serial(Cluster):
    """The tasks of a fit, one after the other, in this process: futures are their results."""

    def __init__(self):
        self.client = None

    def compute(self, delayed):
        return list(dask.compute(*delayed, scheduler=dask.get))

    def submit(self, function, *args, home=None, name=None, priority=0):
        return function(*args)

    def homes(self, futures):
        return [None] * len(futures)

    def results(self, futures):
        return futures

    @classmethod
    @contextmanager
    def of(cls, client):
        yield cls()


def fit_serially(model, *data):
    """Fit with the same tasks, but without a cluster."""
    module = __import__(type(model).__module__, fromlist=["Cluster"])
    kept, module.Cluster = module.Cluster, Serial
    try:
        return model.fit(*data)
    finally:
        module.Cluster = kept


# --- The rounds in NumPy, one row at a time ------------------------------------------------------


def draws_of(seed, shard, tick, n_rows, n_epochs):
    rng = np.random.default_rng(
        np.random.SeedSequence(seed).spawn(shard + 1)[shard].spawn(99)[tick]
    )
    return np.concatenate([rng.permutation(n_rows) for _ in range(n_epochs)])


def replay_ascent(rows, y, lam, sizes, seed, n_rounds, n_epochs):
    """Added local ascent with momentum, for the hinge: (mean, dual) after each round."""
    m, K, ends = len(y), len(sizes), np.cumsum([0, *sizes])
    q = K / (lam * m)  # what a unit of mass moves the local weights by, per row
    point, masses, asleep = np.zeros(m), np.zeros(m), np.zeros(m, dtype=int)
    w, clock, best = np.zeros(rows.shape[1]), 1.0, 0.0
    seen = []
    for tick in range(1, n_rounds + 1):
        later = (1 + np.sqrt(1 + 4 * clock**2)) / 2
        momentum = (clock - 1) / later
        start, before = w, point
        point, means = masses.copy(), []
        for k, size in enumerate(sizes):
            local, total, weight, t = start.copy(), np.zeros_like(w), 0.0, 0
            draws = ends[k] + draws_of(seed, k, tick, size, n_epochs)
            for step, i in enumerate(draws):
                if step == (n_epochs - 1) * size:  # the mean is of the last epoch
                    t = 0
                    total[:], weight = 0, 0.0
                naps_allowed = (tick - 1) * n_epochs + (n_epochs - 1) * (
                    step >= (n_epochs - 1) * size
                ) >= 2
                if asleep[i]:
                    asleep[i] -= 1
                    continue
                x, z = rows[i], y[i] * (rows[i] @ local)
                new = np.clip(point[i] + 1.2 * (1 - z) / (q * (x @ x)), 0, 1)
                if new != point[i]:
                    local += (new - point[i]) * y[i] * q * x
                    point[i] = new
                elif naps_allowed and abs(1 - z) >= 0.25:
                    asleep[i] = min(7, int(abs(1 - z) / 0.25))
                t += 1
                total, weight = total + t * local, weight + t
            means.append((total / weight if weight else local) - start)
        w_point = (y * point) @ rows / (lam * m)
        dual = point.mean() - lam / 2 * (w_point @ w_point)
        seen.append((start + sum(means) / K, dual))
        masses = np.clip(point + momentum * (point - before), 0, 1)
        w = (y * masses) @ rows / (lam * m)
        clock, best = (1.0 if dual < best else later) if K > 1 else 1.0, dual
    return seen


def replay_steps(rows, y, lam, sizes, seed, n_rounds, n_epochs, loss="hinge"):
    """Averaged local Pegasos as published: w <- (1 - 1/t) w + g/(lam t); weights averaged."""
    ends = np.cumsum([0, *sizes])
    w, weighted, weight = np.zeros(rows.shape[1]), np.zeros(rows.shape[1]), 0.0
    for tick in range(1, n_rounds + 1):
        ahead = np.zeros_like(w)
        for k, size in enumerate(sizes):
            local, t, share = w.copy(), (tick - 1) * n_epochs * size, size / len(y)
            for i in ends[k] + draws_of(seed, k, tick, size, n_epochs):
                t += 1
                z = y[i] * (rows[i] @ local)
                slope = expit(-z) if loss == "log" else float(z < 1)
                local = (1 - 1 / t) * local + slope * y[i] * rows[i] / (lam * t)
                weighted += t / share * local
                weight += t / share
            ahead += share * local
        w = ahead
    return w, weighted / weight


def replay_mixing(rows, y, sizes, seed, n_rounds):
    """Mixed perceptrons: (weights, mistakes) after each epoch."""
    ends, w, seen = np.cumsum([0, *sizes]), np.zeros(rows.shape[1]), []
    for tick in range(n_rounds):
        ways, mistakes = [], []
        for k, size in enumerate(sizes):
            local, wrong = w.copy(), 0
            for i in ends[k] + draws_of(seed, k, tick, size, 1):
                if y[i] * (rows[i] @ local) <= 0:
                    local += y[i] * rows[i]
                    wrong += 1
            ways.append(local - w)
            mistakes.append(wrong)
        w = w + np.average(ways, axis=0, weights=mistakes) if sum(mistakes) else w
        seen.append((w, sum(mistakes)))
    return seen
