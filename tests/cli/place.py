"""A corpus and a model of the test's own, which it spoils, and what has to be said of it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from discriminants.serialization.model_file import load_arrays, save_arrays

Asr = Callable[..., tuple[int, str, str]]


@dataclass(frozen=True)
class Bin:
    """A folder to spoil: a copy of the toy corpus and of a model of it."""

    folder: Path

    @property
    def model(self) -> Path:
        return self.folder / "model.safetensors"

    @property
    def data(self) -> Path:
        return self.folder / "test"

    @property
    def names(self) -> list[str]:
        return [line.split()[0] for line in (self.data / "wav.scp").read_text().splitlines()]

    def wav(self, number: int) -> Path:
        return self.folder / "audio" / "test" / f"{self.names[number]}.wav"

    def command(self, name: str, out: Path, *more: object) -> list[object]:
        """A command that reads the data directory, the lexicon and the settings, or the model, and writes to `out`."""
        data, model, settings = ["--data", self.data, "-j", 1], ["--model", self.model], self.folder / "settings.toml"
        arguments = {
            "features": [*data, "--out", out, "--config", settings],
            "train": [*data, "--lexicon", self.folder / "lexicon.txt", "--work-dir", out, "--config", settings],
            "align": [*model, *data, "--out", out],
            "decode": [*model, *data, "--out", out],
            "tune": [*model, *data, "--out", out],
            "info": [self.model],
        }
        return [name, *arguments[name], *more]

    def decode(self, out: Path, *more: object) -> list[object]:
        """A command that recognizes the first file."""
        return ["decode", "--model", self.model, "--out", out, self.wav(0), *more]

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self.folder / name).read_text()
        assert old in text
        (self.folder / name).write_text(text.replace(old, new, 1))

    def retell(self, **changed: object) -> None:
        """Change top-level values of the model's metadata."""
        arrays, metadata = load_arrays(self.model)
        save_arrays(self.model, arrays, metadata | changed)

    def replace_array(self, name: str, array: np.ndarray) -> None:
        arrays, metadata = load_arrays(self.model)
        assert name in arrays
        save_arrays(self.model, arrays | {name: array}, metadata)

    def retell_classifier(self, change: Callable[[list], None]) -> None:
        """Change the description of the classifier: ["estimator", class, parameters, attributes]."""
        arrays, metadata = load_arrays(self.model)
        change(metadata["classifier"]["estimator"])
        save_arrays(self.model, arrays, metadata)


def check_one_sentence(finished: tuple[int, str, str], *parts: str) -> None:
    status, out, err = finished
    assert (status, out) == (1, ""), err
    assert err.startswith("asr: error: ")
    assert err.count("\n") == 1, err
    for part in parts:
        assert part in err, err
    assert "Traceback" not in err
