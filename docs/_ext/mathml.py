"""Formulas as MathML, which browsers show without scripts or fonts from elsewhere."""

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util.logging import getLogger

log = getLogger(__name__)


def mathml(source: str, display: str) -> str:
    r"""Convert TeX; an unknown command stays in the formula, with its backslash."""
    if display == "block" and r"\\" in source and r"\begin" not in source:
        source = rf"\begin{{aligned}}{source}\end{{aligned}}"
    source = re.sub(r"\\arg\b", r"\\operatorname{arg}", source)
    return convert(re.sub(r"\\[bB]ig[lr]?\\\|", r"\\|", source), display=display)


def _visit(display: str) -> Any:
    def visit(translator: Any, node: nodes.Element) -> None:
        formula = mathml(node.astext(), display)
        if unknown := re.search(r">(\\[^<]+)<", formula):
            log.warning("%s is unknown in the formula %s", unknown[1], node.astext(), location=node)
        translator.body.append(f'<div class="formula">{formula}</div>' if display == "block" else formula)
        raise nodes.SkipNode

    return visit


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer of formulas, and choose it."""
    app.add_html_math_renderer("mathml", (_visit("inline"), None), (_visit("block"), None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
