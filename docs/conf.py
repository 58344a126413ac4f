"""The site: the pages of the repository, the gallery, and the reference made of the docstrings.

The source folder is that of the repository: links between pages are the same here and there.
"""

from importlib.metadata import version
from typing import Any

import latex2mathml.converter
from docutils import nodes

project = "pegasos"
author = "The pegasos developers"
release = version = version("pegasos")

root_doc = "docs/index"
include_patterns = ["docs/**", "BENCHMARKS.md", "CHANGELOG.md", "CONTRIBUTING.md"]
exclude_patterns = [".*", "benchmarks", "build", "cpp", "dist", "examples", "src", "tests"]
exclude_patterns += ["docs/gallery/*.py", "docs/gallery/*.ipynb", "docs/gallery/*.zip"]

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_gallery.gen_gallery",
]
myst_enable_extensions = ["dollarmath"]
myst_fence_as_directive = ["math"]  # as GitHub has them
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say what is taken and returned
numpydoc_show_class_members = False  # the pages of the reference list them

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "docs/gallery",
    "ignore_pattern": r"demo\.py",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "abort_on_example_error": True,
}

html_theme = "furo"
html_title = "pegasos"
html_math_renderer = "mathml"
html_extra_path = ["site"]  # leads from the root of the site to its first page
html_copy_source = False


def _visit_math(translator: Any, node: Any) -> None:
    """Write a formula as MathML: browsers draw it without a script from elsewhere."""
    display = "block" if isinstance(node, nodes.math_block) else "inline"
    translator.body.append(latex2mathml.converter.convert(node.astext(), display=display))
    raise nodes.SkipNode


def setup(app: Any) -> None:
    """Make the renderer known."""
    app.add_html_math_renderer("mathml", (_visit_math, None), (_visit_math, None))
