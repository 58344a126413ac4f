"""What the documentation says is true: its code runs, its outputs and docstrings are right.

For whoever writes README.md or a page in docs/:

- Every ```python block is run. The blocks of a page share one namespace, from top to bottom, in an
  empty folder; warnings are errors.
- What a block prints is shown in a ```text block right after it (blank lines between are allowed),
  letter for letter. A block without one prints nothing. Round what you print: the last digits of a
  sum differ from one platform to the next.
- Blocks are not indented, and need no data from outside: no PEGASOS_DATA, no downloads. What must
  not run is not marked as python.
"""

import ast
import contextlib
import doctest
import inspect
import io
import re
import warnings
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import pytest

import pegasos

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


# --- Pages ----------------------------------------------------------------------------------------


class Block(NamedTuple):
    code: str
    output: str
    line: int


FENCED = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```[ ]*$", re.MULTILINE | re.DOTALL)


def python_blocks(page):
    """Return the python blocks of a page, each with the text block that follows it, if any."""
    fenced = list(FENCED.finditer(page))
    blocks = []
    for block, following in zip_longest(fenced, fenced[1:]):
        if block[1] != "python":
            continue
        output = ""
        if following is not None and following[1] == "text":
            between = page[block.end() : following.start()]
            output = following[2].strip() if not between.strip() else ""
        blocks.append(Block(block[2], output, page.count("\n", 0, block.start()) + 2))
    assert len(blocks) == page.count("```python"), "a python block is indented or never closed"
    return blocks


def run_and_compare(page, name):
    namespace = {"__name__": "__main__"}
    for block in python_blocks(page):
        # Empty lines before it let a traceback show the line of the page.
        code = compile("\n" * (block.line - 1) + block.code, name, "exec")
        printed = io.StringIO()
        with warnings.catch_warnings(), contextlib.redirect_stdout(printed):
            warnings.simplefilter("error")
            exec(code, namespace)
        assert printed.getvalue().strip() == block.output, f"{name}, block at line {block.line}"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_code_on_a_page_runs_and_prints_what_is_shown(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PEGASOS_DATA", raising=False)
    run_and_compare(path.read_text(encoding="utf-8"), str(path))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_code_on_a_page_needs_no_data_from_outside(path):
    for block in python_blocks(path.read_text(encoding="utf-8")):
        assert "PEGASOS_DATA" not in block.code, f"{path.name}, block at line {block.line}"


PAGE = """
```python
x = 6
```
Words.
```python
print(7 * x)
```

```text
42
```
```text
not an output: no python right before it
```
"""


def test_blocks_are_found_with_their_outputs_and_lines():
    assert python_blocks(PAGE) == [Block("x = 6\n", "", 3), Block("print(7 * x)\n", "42", 7)]
    run_and_compare(PAGE, "page")


@pytest.mark.parametrize(
    "wrong",
    [
        PAGE.replace("42", "43"),
        PAGE.replace("x = 6", "x = 6; print(x)"),
        PAGE.replace("x = 6", "x = 6; import warnings; warnings.warn('old', FutureWarning)"),
        PAGE.replace("```python\nx", "  ```python\nx"),
    ],
    ids=["output", "output not shown", "warning", "indented"],
)
def test_a_page_that_is_wrong_is_found(wrong):
    with pytest.raises((AssertionError, FutureWarning)):
        run_and_compare(wrong, "page")


# --- Docstrings -----------------------------------------------------------------------------------

PUBLIC = {name: getattr(pegasos, name) for name in pegasos.__all__}
MODULES = {name: item for name, item in PUBLIC.items() if inspect.ismodule(item)}


def own_callables():
    """Yield the public classes and functions, and the methods that the package itself defines."""
    for name, item in PUBLIC.items():
        if name in MODULES:
            continue
        yield name, item
        if inspect.isclass(item):
            for method_name, method in inspect.getmembers(item, callable):
                module = getattr(method, "__module__", None) or ""
                if not method_name.startswith("_") and module.startswith("pegasos"):
                    yield f"{name}.{method_name}", method


def functions_of_modules():
    for name, module in MODULES.items():
        for function_name, function in inspect.getmembers(module, inspect.isfunction):
            if function_name in module.__all__:
                yield f"{name}.{function_name}", function


CALLABLES = dict(own_callables())
FUNCTIONS = dict(functions_of_modules())


def as_cases(named):
    return [pytest.param(item, id=name) for name, item in named.items()]


def signature_of(item):
    parameters = inspect.signature(item).parameters
    return {name: p.default for name, p in parameters.items() if name != "self"}


def documented_in(item):
    """Return the entries of the section "Parameters" of a numpydoc docstring: name -> type."""
    section = re.search(
        r"^Parameters\n-{10}\n(.*?)(?=^\S[^\n]*\n-{3,}$|\Z)",
        inspect.getdoc(item) or "",
        re.MULTILINE | re.DOTALL,
    )
    entries = {}
    for line in section[1].splitlines() if section else []:
        if line and not line[0].isspace():
            names, _, kind = line.partition(" : ")
            entries.update((name.strip(), kind) for name in names.split(","))
    return entries


@pytest.mark.parametrize("item", as_cases(CALLABLES))
def test_docstring_has_a_summary_and_documents_every_parameter_in_order(item):
    assert (inspect.getdoc(item) or "").split("\n")[0].endswith(".")
    assert list(documented_in(item)) == list(signature_of(item))


@pytest.mark.parametrize("item", as_cases(CALLABLES))
def test_docstring_states_the_defaults_of_the_signature(item):
    defaults = signature_of(item)
    for name, kind in documented_in(item).items():
        stated = re.search(r"default=(.+)$", kind)
        if defaults[name] is inspect.Parameter.empty:
            assert stated is None, name
        else:
            assert stated, name
            assert ast.literal_eval(stated[1]) == defaults[name], name


@pytest.mark.parametrize("item", as_cases(FUNCTIONS))
def test_function_of_a_public_module_is_documented_without_stale_parameters(item):
    assert inspect.getdoc(item)
    assert set(documented_in(item)) <= set(signature_of(item))


@pytest.mark.parametrize("name", PUBLIC)
def test_public_name_has_examples_and_they_are_true(name):
    runner = doctest.DocTestRunner()
    report = io.StringIO()
    for example in doctest.DocTestFinder().find(PUBLIC[name], name):
        runner.run(example, out=report.write)
    assert runner.summarize(verbose=False).failed == 0, report.getvalue()
    assert runner.tries > 0, f"{name} has no example"
