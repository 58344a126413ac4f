"""What the reports share: sections of BENCHMARKS.md, tables, and how numbers are written."""

from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any

_TITLE = """# Benchmarks

Made by `make bench`: every package fits the same data on the same machine, one after the other.
What stands between two marks is written by a script in `benchmarks/`; change that instead.
"""


def section(content: dict[str, Any], parts: Iterable[str], notes: str) -> str:
    """Return a section: its parts, then how, where and when it was measured."""
    facts = [f"- {name}: {value}" for name, value in content["machine"].items()]
    versions = ", ".join(f"{name} {value}" for name, value in content["versions"].items())
    runs = [f"- {run['date']}: `{run['command']}`" for run in content["runs"]]
    parts = [
        *parts,
        "### How it is measured",
        notes.strip(),
        "### Where and when",
        "\n".join([*facts, f"- Versions: {versions}", *runs]),
    ]
    return "\n\n".join(part for part in parts if part)


def write_section(path: Path, name: str, text: str) -> None:
    """Put the text between the marks of this name; the rest of the file stays as it is."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    old = path.read_text(encoding="utf-8") if path.exists() else _TITLE
    before, found, rest = old.partition(begin)
    after = rest.partition(end)[2] if found else "\n"
    before = before.rstrip("\n") + "\n\n"
    path.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")


def image(text: str, picture: str | None) -> str:
    return f"![{text}]({picture})" if picture else ""


def left_out(reasons: dict[str, str], titles: dict[str, str]) -> list[str]:
    return [f"Left out: {titles[key]} ({reason})." for key, reason in reasons.items()]


def table(header: list[str], rows: list[list[str]], right: set[int]) -> str:
    """Return a table in Markdown; ``right`` are the columns of numbers."""
    rule = ["---:" if i in right else "---" for i in range(len(header))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (header, rule, *rows))


def spread(seconds: list[float], *, is_fastest: bool = False) -> str:
    """Return the median and, of several runs, the fastest and the slowest."""
    text = in_seconds(median(seconds))
    if is_fastest:
        text = f"**{text}**"
    if len(seconds) > 1:
        text += f" ({number(min(seconds))}–{number(max(seconds))})"
    return text


def in_seconds(seconds: float) -> str:
    return f"{number(seconds)} s"


def times(ratio: float | None) -> str:
    """Return how many times faster; a dash where there is nothing to compare."""
    return "–" if ratio is None else f"**{ratio:.1f}**"


def power(value: float, digits: int = 0) -> str:
    return f"{value:.{digits}e}".replace("e-0", "e-").replace("e+0", "e+")


def number(value: float) -> str:
    """Return three digits that count."""
    return f"{value:.{max(0, 2 - _magnitude(value))}f}"


def _magnitude(value: float) -> int:
    return int(f"{value:e}".partition("e")[2])
