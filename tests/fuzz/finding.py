"""A finding: the input, what it did, and how it is written down."""

import base64
import json
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path

from tests.fuzz.inputs import Input

NAME_MARK = "@"


@dataclass(frozen=True)
class Finding:
    """The smallest input known of one cause.

    `content` replaces the valid input `seed`; mutation `number` is the same bytes in every run with the same seed, and
    `count` the number of inputs with this signature.
    """

    reader: str
    seed: str
    number: int
    kind: str
    signature: str
    description: str
    content: bytes
    count: int = 1

    def to_json(self) -> bytes:
        """As one JSON value."""
        return json.dumps(asdict(self) | {"content": base64.b64encode(self.content).decode()}).encode()

    @classmethod
    def from_json(cls, text: bytes) -> "Finding":
        """What `to_json` wrote."""
        fields = json.loads(text)
        return cls(**(fields | {"content": base64.b64decode(fields["content"])}))

    def joined(self, other: "Finding") -> "Finding":
        """The one with the smaller input, counted together."""
        smaller = min(self, other, key=lambda finding: len(finding.content))
        return replace(smaller, count=self.count + other.count)

    def save(self, folder: Path) -> Path:
        """Write `folder/READER/SEED@KIND-DIGEST`, as `--replay` takes it, and its description beside it."""
        digest = blake2b(self.content + self.signature.encode(), digest_size=4).hexdigest()
        path = folder / self.reader / f"{seed_part(self.seed)}{NAME_MARK}{self.kind.replace(' ', '-')}-{digest}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.content)
        path.with_name(f"{path.name}.txt").write_text(self.texts(), encoding="utf-8")
        return path

    def texts(self) -> str:
        """Several lines for people."""
        return (
            f"{self.reader}: {self.kind}, {self.count} inputs; the smallest has {len(self.content)} bytes in place of "
            f"{self.seed} (mutation {self.number})\n{self.description}\n{_excerpt(self.content)}\n"
        )


def seed_part(seed: str) -> str:
    """The name of a valid input as part of a file's name."""
    return seed.replace("/", "+")


def input_of_file(path: Path) -> Input:
    """The input in a file named SEED@WHAT."""
    return Input(path.name.partition(NAME_MARK)[0].replace("+", "/"), path.read_bytes())


def _excerpt(content: bytes) -> str:
    shown = repr(content[:300])
    return shown if len(content) <= 300 else f"{shown} ... {len(content)} bytes"
