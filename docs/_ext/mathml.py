"""Formulas as MathML, which browsers show without scripts or fonts from elsewhere."""

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx


def _visit(display: str) -> Any:
    def visit(translator: Any, node: nodes.Element) -> None:
        source = node.astext()
        if display == "block" and "\\\\" in source and "\\begin" not in source:
            source = rf"\begin{{aligned}}{source}\end{{aligned}}"
        formula = convert(source, display=display)
        translator.body.append(f'<div class="formula">{formula}</div>' if display == "block" else formula)
        raise nodes.SkipNode

    return visit


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer of formulas, and choose it."""
    app.add_html_math_renderer("mathml", (_visit("inline"), None), (_visit("block"), None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
