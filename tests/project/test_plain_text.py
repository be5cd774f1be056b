"""Docstrings, messages, comments and documents are in plain English: the worst words stay out."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = ("asr", "discriminants", "recipes", "benchmarks", "examples", "tests")
DOCUMENTS = ("*.md", "docs/**/*.md", "recipes/**/*.md", "examples/*.md", "data/*.md")
RULES = {
    "a program reports, logs or raises": r"\b(tells?|told|telling|foretells?|foretold)\b",
    "an old word": r"\b(beside|anew|lest|seldom|spoilt|learnt|likelier|likeliest|thereof|whoever|at hand)\b",
    "a clause with 'that' or 'whose', or two sentences": r"\bof (which|whom)\b",
    "the positive form": r"\b(is|are|was|were) (?-i:none|nothing|nobody)\b",
    "American spelling": r"\b(centre[ds]?|colour(s|ed)?|behaviours?|licences?|neighbours?|synthesisers?)\b"
    r"|\b(normal|recogn|general|optim|initial|minim|regular)is(e|es|ed|ing|ation)\b",
}
COMPILED = {rule: re.compile(pattern, re.IGNORECASE) for rule, pattern in RULES.items()}
MIN_WORDS = 4
"""Strings with fewer words are names, keys and labels."""


def texts_of_code(path: Path, *, comments_only: bool) -> Iterator[tuple[int, str]]:
    """Line and text of docstrings, messages and comments; code in backticks and values in messages are left out."""
    source = path.read_text(encoding="utf-8")
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    if comments_only:
        return
    tree = ast.parse(source)
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            values = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
            yield node.lineno, "".join(map(str, values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node.lineno, node.value


def texts_of_document(path: Path) -> Iterator[tuple[int, str]]:
    """Lines of a Markdown file outside fenced blocks."""
    fenced = False
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line


def faults(path: Path) -> Iterator[str]:
    name = str(path.relative_to(ROOT))
    if not any(pattern.search(path.read_text(encoding="utf-8")) for pattern in COMPILED.values()):
        return  # most files; parsing takes longer
    if path.suffix == ".py":
        texts = texts_of_code(path, comments_only=name.startswith("tests/"))
    else:
        texts = texts_of_document(path)
    for first, text in texts:
        if path.suffix == ".py" and len(text.split()) < MIN_WORDS:
            continue
        prose = re.sub(r"`[^`\n]*`|^ *>>>.*$", lambda code: " " * len(code[0]), text, flags=re.MULTILINE)
        for rule, pattern in COMPILED.items():
            for found in pattern.finditer(prose):
                line = first + prose.count("\n", 0, found.start())
                yield f"{name}:{line}: {found[0]!r}. Expected {rule}"


def checked_files() -> Iterator[Path]:
    for package in CODE:
        yield from sorted((ROOT / package).rglob("*.py"))
    for pattern in DOCUMENTS:
        yield from sorted(ROOT.glob(pattern))


def test_text_of_the_repository_is_plain_english() -> None:
    own = Path(__file__).relative_to(ROOT)
    found = [fault for path in checked_files() if path.relative_to(ROOT) != own for fault in faults(path)]
    assert not found, "\n" + "\n".join(found)
