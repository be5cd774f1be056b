"""What became of one input: accepted, refused as documented, or a finding."""

import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from asr.util.errors import AsrError, printable
from discriminants.util.errors import DiscriminantError
from tests.fuzz.guard import Trespass, trespasses
from tests.fuzz.reader import Reader

ACCEPTED, REFUSED = "accepted", "refused"
MAX_MESSAGE_LENGTH = 1200  # characters: the limit of AsrError, and room for the path
OURS = ("asr/", "discriminants/", "recipes/")
_ROOT = Path(__file__).resolve().parents[2]


class Unsound(Exception):
    """A reader let through what it promises to refuse, or what it made of it cannot be used."""


@dataclass(frozen=True)
class Outcome:
    """`kind` is "accepted", "refused", or the kind of a finding; findings with one `signature` have one cause."""

    kind: str
    signature: str = ""
    description: str = ""

    @property
    def is_finding(self) -> bool:
        """Whether somebody has to mend something."""
        return self.kind not in (ACCEPTED, REFUSED)


def fault_in_message(message: str) -> str | None:
    """Why a terminal cannot show `message` as one line of a reasonable length; None if it can."""
    if len(message) > MAX_MESSAGE_LENGTH:
        return f"has {len(message)} characters, more than {MAX_MESSAGE_LENGTH}"
    if "\n" in message or "\r" in message:
        return "has a line break"
    if not message.isprintable():
        return "holds a character that cannot be printed"
    return None


Result = TypeVar("Result")
_MARK = b"\xef\xbb\xbf"


def check_mark(paths: Iterable[Path], read: Callable[[], Result]) -> Result:
    """What `read()` gives, which must be the same when those of the files that begin with a byte-order mark do not."""
    found = read()
    marked = [path for path in paths if path.read_bytes().startswith(_MARK)]
    for path in marked:
        path.write_bytes(path.read_bytes().removeprefix(_MARK))
    if marked and read() != found:
        raise Unsound(f"a byte-order mark changes what is read: {marked[0].name}")
    return found


def used(reader: Reader, path: Path) -> Outcome:
    """Call a reader on what lies at `path`, and judge what happens."""
    try:
        reader.use(path)
    except (AsrError, DiscriminantError) as error:
        found = _refusal(error)
    except OSError as error:
        found = _refusal(error) if reader.os_errors and error.filename else _fault("untyped error", error)
    except Unsound as error:
        found = _fault("unsound", error)
    except MemoryError as error:
        found = _fault("memory", error)
    except Trespass as error:
        found = _fault("trespass", error)
    except BaseException as error:  # a reader that ends the interpreter is a fault too
        found = _fault("untyped error", error)
    else:
        found = Outcome(ACCEPTED)
    if trespasses:  # also if other code caught the error
        deed = trespasses[0]
        trespasses.clear()
        if found.kind != "trespass":
            return Outcome("trespass", f"trespass: {deed}"[:200], f"it did what no reader may: {deed}")
    return found


def _refusal(error: Exception) -> Outcome:
    fault = fault_in_message(str(error))
    return Outcome(REFUSED, "", str(error)) if fault is None else _fault("message", error, f"the message {fault}")


def _fault(kind: str, error: BaseException, remark: str = "") -> Outcome:
    frames = traceback.extract_tb(error.__traceback__, limit=-40)
    ours = [frame for frame in frames if _short(frame.filename).startswith(OURS)]
    last = ours[-1] if ours else frames[-1]
    lines = [f"{_short(frame.filename)}:{frame.lineno} in {frame.name}: {frame.line}" for frame in frames[-3:]]
    if ours and last not in frames[-3:]:
        lines.insert(0, f"{_short(last.filename)}:{last.lineno} in {last.name}: {last.line}")
    texts = f"{type(error).__name__}: {printable(str(error), 400)}"
    signature = f"{kind}: {type(error).__name__} at {_short(last.filename)}:{last.lineno} in {last.name}"
    if kind == "unsound":
        signature = f"unsound: {printable(str(error).partition(':')[0], 100)}"
        lines = []  # the fuzzer's own
    return Outcome(kind, signature, "\n".join([*([remark] if remark else []), *lines, texts]))


def _short(filename: str) -> str:
    path = Path(filename)
    if path.is_relative_to(_ROOT) and "site-packages" not in path.parts:
        return str(path.relative_to(_ROOT))
    return "/".join(path.parts[-3:])
