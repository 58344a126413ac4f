"""What ran, where, and for how long."""

from typing import Any

from pegasos.report._numbers import count_text, seconds_text


def run_facts(runs: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return names and values; versions and machine again for every run that had others."""
    if not runs:
        return []
    facts: list[tuple[str, str]] = []
    for run in runs:
        machine = run["machine"]
        versions = ", ".join(f"{name} {version}" for name, version in run["versions"].items())
        place = f"{machine['cpu']}, {machine['cores']} cores, {machine['system']}"
        facts += [("Versions", versions), ("Machine", place)]
        if "cluster" in run:
            facts.append(
                ("Dask cluster", "{workers} workers, {threads} threads".format(**run["cluster"]))
            )
    facts = list(dict.fromkeys(facts))
    tasks = sum(run["tasks"] for run in runs)
    work = f"{count_text(tasks)} tasks, {seconds_text(sum(run['seconds'] for run in runs))}"
    if len(runs) > 1:
        work += f", in {len(runs)} runs"
    return [*facts, ("Work", work), ("Started", runs[0]["started"])]
