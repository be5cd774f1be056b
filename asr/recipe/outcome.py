"""What a command reports of a corpus: which utterances it had to leave out, and how fast it was."""

from dataclasses import dataclass

from asr.corpus.data_directory import Problem


@dataclass(frozen=True)
class Outcome:
    """Utterances done and left out; `rtf` is in CPU seconds per second of audio."""

    n_done: int
    failures: list[Problem]
    rtf: float = 0.0
