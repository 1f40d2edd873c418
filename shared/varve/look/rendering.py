"""Rendering: Jinja2 templates that escape every value."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from varve.domain.costs import format_dollars
from varve.domain.errors import Misconfigured
from varve.look import formats

if TYPE_CHECKING:
    from jinja2 import Environment

HERE = Path(__file__).parent
STATIC = HERE / "static"
_FILTERS = {
    "plural": formats.format_plural,
    "short": formats.format_short,
    "size": formats.format_size,
    "words": formats.as_words,
    "dollars": format_dollars,
    "moment": formats.as_moment,
}


def render(template: str, values: dict[str, Any]) -> str:
    """Return the HTML of a template. Raises Misconfigured: Jinja2 is not installed."""
    return open_templates().get_template(template).render(values)


@cache
def open_templates() -> "Environment":
    """Return the templates. Raises Misconfigured: Jinja2 is not installed."""
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError as error:
        raise Misconfigured(
            "varve look needs Jinja2: pip install 'varve-memory[look]'"
        ) from error
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(_FILTERS)
    return environment
