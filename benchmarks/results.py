"""What has been measured, in one JSON file that is written again after every step."""

import json
import tempfile
from copy import deepcopy
from pathlib import Path
from typing import Any

_SCHEMA = 1


class ResultsError(Exception):
    """The file cannot be used; the message says why and what to do."""


class Results:
    """A dictionary with a file. Measuring a part again replaces that part and nothing else."""

    def __init__(self, path: Path, content: dict[str, Any]) -> None:
        self.path = path
        self.content = content

    @classmethod
    def open(cls, path: Path, **conditions: Any) -> "Results":
        """Open or begin a file. What it holds must have been measured under these conditions."""
        if not path.exists():
            return cls(path, {"schema": _SCHEMA, **conditions, "tasks": {}})
        results = cls.read(path)
        for name, value in conditions.items():
            if results.content.get(name) != value:
                raise ResultsError(
                    f"{path.name} was measured with another {name}; figures of both do not belong "
                    "in one table. Remove it, or name another file with --json"
                )
        return results

    @classmethod
    def read(cls, path: Path) -> "Results":
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise ResultsError(f"{path.name} is not there: measure first") from None
        except json.JSONDecodeError as error:
            raise ResultsError(f"{path.name} is not a JSON file: {error}") from None
        if content.get("schema") != _SCHEMA:
            raise ResultsError(f"{path.name} has another format; remove it and measure again")
        return cls(path, content)

    def task(self, name: str, facts: dict[str, Any], empty: dict[str, Any]) -> dict[str, Any]:
        """Return the part of a task. Results on other data or another lam are forgotten.

        ``empty`` is what a part holds, beside its facts, before anything is measured.
        """
        tasks = self.content["tasks"]
        if tasks.get(name, {}).get("facts") != facts:
            tasks[name] = {"facts": facts, **deepcopy(empty)}
        part: dict[str, Any] = tasks[name]
        return part

    def save(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Renamed when complete, so that an interrupted run never leaves half a file.
        with tempfile.NamedTemporaryFile(
            "w", dir=self.path.parent, suffix=".json", delete=False, encoding="utf-8"
        ) as file:
            json.dump(self.content, file, indent=1)
        Path(file.name).replace(self.path)
