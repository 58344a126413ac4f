"""Larger than memory, larger than one machine: streams, Dask clusters, and what is beyond.

    python benchmarks/scale.py                      everything, in some minutes; writes its part of
                                                    BENCHMARKS.md
    python benchmarks/scale.py --quick              a first look; writes nothing but its JSON
    python benchmarks/scale.py --parts peers        this part again, the others from the JSON
    python benchmarks/scale.py --redraw             tables from the JSON alone

Parts: streaming (the binary cache against the page cache), workers (one and two, with what they
send), peers (dask-ml and Spark, at equal objective), constants (what the forecast is made of).
Spark takes part where there is Java and pyspark (`pip install 'pegasos[spark]'`).
"""

import argparse
import sys
from dataclasses import dataclass, replace
from typing import Any

import contestants
import datasets
import measure
import scale_cluster
import scale_constants
import scale_data
import scale_peers
import scale_report
import scale_stream
from results import Results
from script import Script, say

_SOLVERS = ("pegasos", "sdca")


@dataclass(frozen=True)
class Sizes:
    """What is measured on what; the sparse set is the one of this name in datasets.py."""

    sparse: str = "sparse"
    dense_rows: int = 1_000_000
    lams: tuple[float, ...] = (1e-4,)
    tols: tuple[float, ...] = (1e-2, 1e-3)
    partitions: tuple[int, ...] = (2,)
    shards: tuple[int, ...] = (1, 2, 8, 32)
    # Set and lam: an easy problem, and a hard one of real data.
    peers: tuple[tuple[str, float], ...] = (("sparse", 1e-4), ("cov1", 1e-6))
    forecast_lam: float = 1e-4


_SIZES = Sizes()
_QUICK_SIZES = Sizes(
    dense_rows=20_000, lams=(1e-4,), tols=(1e-2,), partitions=(2,), shards=(1, 2), forecast_lam=1e-4
)


@dataclass(frozen=True)
class Measurement:
    """A run of this script: where it writes, on what, and how long."""

    kept: Results
    sizes: Sizes
    dataset: datasets.DataSet
    options: argparse.Namespace

    @property
    def effort(self) -> tuple[int, float]:
        """Runs of everything, and seconds beyond which no further one is begun."""
        return self.options.repeats or (1 if self.options.quick else 5), self.options.limit

    def facts(self, **more: Any) -> dict[str, Any]:
        return {**datasets.facts(*self.dataset.load()), "data_key": self.dataset.key, **more}

    def anew(self, name: str, facts: dict[str, Any], empty: dict[str, Any]) -> dict[str, Any]:
        """Return an empty part of the results: it is measured again as a whole."""
        self.kept.content["tasks"].pop(name, None)
        return self.kept.task(name, facts, empty)


def _streaming(run: Measurement) -> None:
    cache = run.options.cache
    files = {
        "sparse": scale_data.svmlight_file(run.dataset, cache),
        "dense": scale_data.parquet_file(run.sizes.dense_rows, cache),
    }
    for name, path in files.items():
        facts = {"file": path.suffix[1:], "n_bytes": path.stat().st_size}
        part = run.anew(f"streaming {name}", facts, {"measured": {}})
        folder = path.with_suffix(".chunks")
        for what, result in scale_stream.measured(path, folder, run.sizes.lams[0], *run.effort):
            part["measured"][what] = result
            say(f"{name}, {what}: {scale_report.rate_line(result)}")
            run.kept.save()


def _workers(run: Measurement) -> None:
    part = run.anew("workers", run.facts(), {"fits": []})

    def keep(**fit: Any) -> None:
        part["fits"].append(fit)
        say(scale_report.fit_line(fit))
        run.kept.save()

    problems = [
        {"solver": solver, "lam": lam, "tol": tol}
        for lam in run.sizes.lams
        for solver in _SOLVERS
        for tol in run.sizes.tols
    ]
    X, y = run.dataset.load()
    for problem in problems:
        found = scale_cluster.fits_in_memory(X, y, *_effort_of(run, problem))
        keep(**problem, n_workers=0, partitions=0, **found)
    del X, y
    for n_workers in (1, 2):
        with scale_cluster.cluster(n_workers) as client:
            for partitions in run.sizes.partitions:
                X, y = scale_data.placed(client, run.dataset, partitions)
                for problem in problems:
                    found = scale_cluster.timed_fits(client, X, y, *_effort_of(run, problem))
                    keep(**problem, n_workers=n_workers, partitions=partitions, **found)
                del X, y


def _effort_of(run: Measurement, problem: dict[str, Any]) -> tuple[Any, ...]:
    return problem["lam"], problem["solver"], problem["tol"], *run.effort


def _peers(run: Measurement) -> None:
    tasks = run.kept.content["tasks"]
    for name in [name for name in tasks if name.startswith("peers")]:
        tasks.pop(name)
    for name, lam in run.sizes.peers:
        try:
            dataset = datasets.prepare(name, run.options.cache, quick=run.options.quick)
        except datasets.MissingDataError as error:
            say(f"peers on {name} are left out: {error}")
            continue
        _peers_on(replace(run, dataset=dataset), name, lam)


def _peers_on(run: Measurement, name: str, lam: float) -> None:
    levels = run.sizes.tols
    parts = {
        level: run.anew(
            f"peers {name} {level:g}",
            run.facts(set=name, lam=lam, level=level),
            {"measured": {}, "left_out": {}},
        )
        for level in levels
    }
    optimum = _optimum(*run.dataset.load(), lam)
    with scale_cluster.cluster(2) as client:
        X, y = scale_data.placed(client, run.dataset, 2)
        task = scale_peers.Task(
            X, y, run.dataset, run.options.cache, lam, optimum, levels, *run.effort
        )
        floor = scale_constants.floor(client, X, y, lam, task.repeats)
        say(scale_report.floor_line(floor))
        for part in parts.values():
            part["floor"] = floor
        for contestant in scale_peers.CONTESTANTS:
            _take_part(contestant, task, parts)
            run.kept.save()


def _take_part(
    contestant: scale_peers.Contestant, task: scale_peers.Task, parts: dict[float, dict[str, Any]]
) -> None:
    key, reason = contestant.key, contestant.why_not()
    try:
        if reason is None:
            for level, result in contestant.measure(task):
                parts[level]["measured"][key] = result
                say(f"{contestant.title}, {level:g}: {scale_report.peer_line(result)}")
    except Exception as error:  # noqa: BLE001 - whatever a peer raises, the others go on
        reason = contestants.reason_of(error)
    if reason is not None:
        say(f"{contestant.title} is left out: {reason}")
        for part in parts.values():
            if key not in part["measured"]:
                part["left_out"][key] = reason


def _optimum(X: Any, y: Any, lam: float) -> float:
    from pegasos import PegasosClassifier

    model = PegasosClassifier(
        lam, solver="sdca", tol=1e-5, fit_intercept=False, random_state=0, n_jobs=-1
    )
    return measure.hinge_objective(X, y, model.fit(X, y).coef_, lam)


def _constants(run: Measurement) -> None:
    sizes = run.sizes
    repeats = min(2, run.effort[0])  # rounds over no rows are many enough in one fit
    facts = run.facts(lam=sizes.forecast_lam, tols=list(sizes.tols))
    part = run.anew("constants", facts, {"overhead": {}, "fits": []})
    with scale_cluster.cluster(2) as client:
        part["bandwidth"] = scale_constants.bandwidth(client, repeats)
        say(f"one worker sends {part['bandwidth'] / 1e6:.0f} MB/s to another")
        for n_features in (10, facts["n_features"]):
            part["overhead"][str(n_features)] = overhead = {}
            for n_shards in sizes.shards:
                seconds = scale_constants.seconds_a_round(client, n_shards, n_features, repeats)
                overhead[str(n_shards)] = seconds
                say(f"a round of {n_shards} shards, {n_features:,} weights: {seconds:.4f} s")
                run.kept.save()
        for n_shards in sizes.shards:
            X, y = scale_data.placed(client, run.dataset, n_shards)
            for tol in sizes.tols:
                problem = {"solver": "sdca", "lam": sizes.forecast_lam, "tol": tol}
                found = scale_cluster.timed_fits(client, X, y, *_effort_of(run, problem))
                part["fits"].append({**problem, "n_workers": 2, "partitions": n_shards, **found})
                say(scale_report.fit_line(part["fits"][-1]))
                run.kept.save()
            del X, y


PARTS = {
    "streaming": _streaming,
    "workers": _workers,
    "peers": _peers,
    "constants": _constants,
}


def _measure(kept: Results, options: argparse.Namespace) -> None:
    sizes = _QUICK_SIZES if options.quick else _SIZES
    dataset = datasets.prepare(sizes.sparse, options.cache, quick=options.quick)
    run = Measurement(kept, sizes, dataset, options)
    for name in options.parts or PARTS:
        PARTS[name](run)


SCRIPT = Script(
    name="scale",
    description=__doc__,
    choices={"parts": list(PARTS)},
    help={
        "quick": "20,000 rows, 1 run",
        "repeats": "runs of everything at most; 5",
        "limit": "seconds beyond which no further run is begun",
    },
    peers=("dask", "distributed", "dask-ml", "pyspark"),
    limit=3,
    measure=_measure,
    tables=scale_report.tables,
    document=scale_report.document,
)


def main(arguments: list[str] | None = None) -> int:
    return SCRIPT.main(arguments)


if __name__ == "__main__":
    sys.exit(main())
