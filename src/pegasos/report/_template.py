"""Pages are made of templates, and of a library for charts that travels within them."""

import gzip
from base64 import b64encode
from importlib import resources
from typing import Any


def template(name: str) -> Any:
    """Return a template of the folder ``page``."""
    try:
        import jinja2
    except ImportError as error:
        raise ImportError(_missing("the report page is made with jinja2")) from error
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(resource), autoescape=True, undefined=jinja2.StrictUndefined
    )
    return environment.get_template(name, globals={"css": resource("report.css")})


def packed_plotly() -> str:
    """Return plotly.js as text that the page unpacks: a third of its size."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise ImportError(_missing("the charts of the report page are made with plotly")) from error
    # No time in it: the same results make the same page.
    return b64encode(gzip.compress(get_plotlyjs().encode(), mtime=0)).decode()


def resource(name: str) -> str:
    """Return a file of the folder ``page``."""
    return (resources.files("pegasos.report") / "page" / name).read_text("utf-8")


def _missing(what: str) -> str:
    return f"{what}, which is not installed; pip install 'pegasos[report]' brings it"
