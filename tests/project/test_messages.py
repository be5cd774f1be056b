"""Messages are read on a terminal and in a program: an option of the command is named with its Python argument."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
OF_COMMANDS = ("cli", "util/error_messages.py", "util/supervisor.py")
"""Where only a command speaks."""
ARGUMENT = {
    "--format": "formats=",
    "--json": "as_json",
    "--keep-stress": "strip_stress=False",
    "--out": "output=",
    "--utt2spk": "speakers=",
}
OF_OTHERS = {"--ignore-length", "--line", "--series-"}  # of sox, and of style sheets


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of every string of a module that is no documentation; `{}` stands for what is put in."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if id(node) in documentation or id(node) in parts:
            continue
        if isinstance(node, ast.JoinedStr):
            yield (
                node.lineno,
                "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values),
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def test_messages_name_python_arguments_beside_options() -> None:
    one_sided = []
    for path in sorted((ROOT / "asr").rglob("*.py")):
        if str(path.relative_to(ROOT / "asr")).startswith(OF_COMMANDS):
            continue
        for line, text in messages(path):
            for option in re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", text):
                argument = ARGUMENT.get(option, f"{option[2:].replace('-', '_')}=")
                if option not in OF_OTHERS and argument not in text:
                    one_sided.append(f"{path.relative_to(ROOT)}:{line}: {option} without {argument}")
    assert not one_sided
