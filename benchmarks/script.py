"""What the scripts share: options, the file of results, and what is written in the end."""

import argparse
import os
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import datasets
import machine
import report
from results import Results, ResultsError

_ROOT = Path(__file__).resolve().parents[1]
Content = dict[str, Any]


@dataclass(frozen=True)
class Script:
    """A benchmark: ``name`` is that of its file, of its results and of its section.

    ``choices`` are options that narrow down what is measured, with the names they take.
    """

    name: str
    description: str
    choices: dict[str, list[str]]
    help: dict[str, str]  # of the options whose meaning differs from script to script
    peers: tuple[str, ...]  # packages whose versions matter, beside those that all need
    measure: Callable[[Results, argparse.Namespace], None]
    tables: Callable[[Content], str]
    document: Callable[[Content, str | None], str]
    draw: Callable[[Content, Path], None] | None = None
    limit: float = 60

    def main(self, arguments: list[str] | None) -> int:
        """Run with these arguments, or those of the command line; return the exit code."""
        options = self._options(arguments)
        try:
            if options.redraw:
                kept = Results.read(options.json)
            else:
                kept = Results.open(options.json, machine=machine.machine(), quick=options.quick)
                self._begin(kept, options, sys.argv[1:] if arguments is None else arguments)
                self.measure(kept, options)
        except ResultsError as error:
            say(f"error: {error}")
            return 2
        except KeyboardInterrupt:
            say(f"stopped; what was finished is in {options.json.name}: --redraw shows it")
            return 130
        self._write(kept.content, options)
        return 0

    def _options(self, arguments: list[str] | None) -> argparse.Namespace:
        parser = argparse.ArgumentParser(
            description=self.description, formatter_class=argparse.RawDescriptionHelpFormatter
        )

        def add(name: str, **settings: Any) -> None:
            parser.add_argument(name, **settings)

        for name, choices in self.choices.items():
            text = f"of {', '.join(choices)}; all by default"
            add(f"--{name}", nargs="+", choices=choices, metavar="NAME", help=text)
        add("--quick", action="store_true", help=f"{self.help['quick']}: does it all work?")
        add("--repeats", type=int, help=self.help["repeats"])
        add("--limit", type=float, help=f"{self.help['limit']}; {self.limit:g}")
        add("--output", type=Path, help="BENCHMARKS.md; with --quick none")
        if self.draw:
            add("--figure", type=Path, help="without suffix; docs/images/..., with --quick none")
        add("--json", type=Path, help=f"raw results, added to; build/benchmarks/{self.name}.json")
        add("--redraw", action="store_true", help="measure nothing")
        add("--cache", type=Path, help="folder for prepared data; one among the temporary files")
        return self._with_defaults(parser.parse_args(arguments))

    def _with_defaults(self, options: argparse.Namespace) -> argparse.Namespace:
        name = f"{self.name}-quick.json" if options.quick else f"{self.name}.json"
        options.json = options.json or _ROOT / "build" / "benchmarks" / name
        options.cache = options.cache or datasets.default_cache()
        options.limit = options.limit or (1 if options.quick else self.limit)
        if not options.quick:
            options.output = options.output or _ROOT / "BENCHMARKS.md"
            if self.draw:
                stem = _ROOT / "docs" / "images" / f"{self.name}_benchmark"
                options.figure = options.figure or stem
        return options

    def _begin(self, kept: Results, options: argparse.Namespace, arguments: list[str]) -> None:
        if machine.is_busy():
            say("note: other programs are using this machine; the figures will suffer")
        is_everything = not any(getattr(options, name) for name in self.choices)
        earlier = [] if is_everything else kept.content.get("runs", [])
        run = {"date": date.today().isoformat(), "command": self._command(arguments)}
        kept.content.update(
            versions=machine.versions(self.peers),
            limit=options.limit,
            runs=[*(r for r in earlier if r != run), run],
        )

    def _command(self, arguments: list[str]) -> str:
        """Return the command without the folders of this machine."""
        shown = [Path(argument).name if "/" in argument else argument for argument in arguments]
        return shlex.join(["python", f"benchmarks/{self.name}.py", *shown])

    def _write(self, content: Content, options: argparse.Namespace) -> None:
        print(self.tables(content))
        picture = self._picture(content, options)
        if options.output:
            path = Path(os.path.relpath(picture, options.output.parent)) if picture else None
            text = self.document(content, path.as_posix() if path else None)
            report.write_section(options.output, self.name, text)

    def _picture(self, content: Content, options: argparse.Namespace) -> Path | None:
        if not (self.draw and options.figure):
            return None
        try:
            self.draw(content, options.figure)
        except ImportError:
            say("no figure: matplotlib is not installed (it comes with the extra 'bench')")
            return None
        stem: Path = options.figure
        return stem.with_suffix(".png")


def say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
