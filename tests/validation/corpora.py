"""A clean toy corpus to put one fault at a time into, and its validation."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile

from asr.training.given_settings import GivenSettings
from asr.training.input_checks import check_inputs
from asr.validation import Report
from tests.toy_corpus import RATE


@dataclass(frozen=True)
class Corpus:
    """A folder with train/, test/, lexicon.txt and settings.toml."""

    folder: Path

    @property
    def names(self) -> list[str]:
        """Ids of the training utterances, as text lists them."""
        return [line.split()[0] for line in self.lines("train/text")]

    def lines(self, name: str) -> list[str]:
        return (self.folder / name).read_text().splitlines()

    def write(self, name: str, lines: list[str]) -> None:
        (self.folder / name).write_text("".join(f"{line}\n" for line in lines))

    def change(self, name: str, line: int, old: str, new: str) -> None:
        """Replace a part of one line, counted from 1."""
        lines = self.lines(name)
        assert old in lines[line - 1], lines[line - 1]
        lines[line - 1] = lines[line - 1].replace(old, new, 1)
        self.write(name, lines)

    def set_line(self, name: str, line: int, text: str | None) -> None:
        """Replace a whole line, counted from 1; None removes it."""
        lines = self.lines(name)
        lines[line - 1 : line] = [] if text is None else [text]
        self.write(name, lines)

    def append(self, name: str, text: str) -> None:
        self.write(name, [*self.lines(name), text])

    def append_word(self, line: int, word: str) -> None:
        """Let a transcript end with another word."""
        self.set_line("train/text", line, f"{self.lines('train/text')[line - 1]} {word}")

    def audio(self, line: int) -> Path:
        """The file of a line of wav.scp."""
        return self.folder / self.lines("train/wav.scp")[line - 1].split()[1]

    def samples(self, line: int) -> np.ndarray:
        return soundfile.read(self.audio(line), dtype="float64")[0]

    def record(self, line: int, samples: np.ndarray, rate: int = RATE, subtype: str = "PCM_16") -> None:
        soundfile.write(self.audio(line), samples, rate, subtype=subtype)

    def settings(self, *lines: str) -> None:
        """Settings beside the sampling rate; tables come last."""
        self.write("settings.toml", ["features = {sample_rate = 8000}", *lines])

    def join(self) -> None:
        """Make one recording of all files, and segments of the utterances."""
        pieces, segments, start = [], [], 0
        names = self.names
        for number, name in enumerate(names, 1):
            pieces.append(self.samples(number))
            end = start + len(pieces[-1])
            segments.append(f"{name} tape {start / RATE} {end / RATE}")
            start = end
        soundfile.write(self.folder / "audio" / "tape.wav", np.concatenate(pieces), RATE, subtype="PCM_16")
        self.write("train/segments", segments)
        self.write("train/wav.scp", ["tape audio/tape.wav"])

    def validate(self, *, strip_stress: bool | None = None, **options: object) -> Report:
        settings = GivenSettings(self.folder / "settings.toml", strip_stress=strip_stress)
        report, _ = check_inputs(self.folder / "train", self.folder / "lexicon.txt", settings, **options)  # type: ignore[arg-type]
        return report

    def check_only_finding(self, expected: str) -> None:
        """Check that this is the only finding: `severity code file:line: a part of the message`."""
        place, _, part = expected.partition(": ")
        report = self.validate()
        found = [
            f"{each.severity} {each.code} {each.path.relative_to(self.folder)}" + (f":{each.line}" if each.line else "")
            for each in report.findings
        ]
        assert found == [place], "\n".join(report.lines())
        assert part in report.findings[0].message, report.findings[0].message


Spoil = Callable[[Corpus], object]


def copied(corpus: Path, folder: Path) -> Corpus:
    return Corpus(Path(shutil.copytree(corpus, folder)))
