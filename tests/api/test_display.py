"""Pictures and HTML of results."""

import io
import pickle
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
import soundfile

import asr
from asr.api.trained_model import TrainedModel
from asr.runs.outcome import Outcome
from asr.util.errors import ConfigError, CorpusError, Issue

SPOILT = "<b>&\"'"


@pytest.fixture(autouse=True)
def closed_figures():
    """Close the figures of a test."""
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


class Cells(HTMLParser):
    """Collects tags and the text of each cell."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag in ("td", "th", "p", "caption"):
            self.texts.append("")

    def handle_data(self, data):
        self.texts[-1] += data


def test_alignment_picture_has_sound_states_and_labels(recognizer, wavs, said):
    aligned = recognizer.align(wavs[0], said[wavs[0].stem])
    axes = aligned.plot(figsize=(12, 7))
    assert list(axes) == ["waveform", "spectrogram", "states", "phones", "words"]
    (wave,) = axes["waveform"].lines
    assert len(wave.get_xdata()) == soundfile.info(wavs[0]).frames
    assert [text.get_text() for text in axes["words"].texts] == said[wavs[0].stem].split()
    assert len(axes["phones"].patches) == len(aligned.phones)
    frames = aligned.frames
    assert frames.posteriors.shape == (len(frames.rows), len(frames.phones))
    assert frames.rows.max() == len(frames.phones) - 1
    assert (frames.posteriors.sum(axis=1) <= 1 + 1e-5).all()
    middle = np.searchsorted(frames.borders, [(phone.start + phone.end) / 2 for phone in aligned.phones]) - 1
    spoken = [phone.phone.replace("SP", "SIL") for phone in aligned.phones]
    assert [frames.phones[frames.rows[frame]] for frame in middle] == spoken
    assert pickle.loads(pickle.dumps(aligned)).words == aligned.words


def test_alignment_picture_reads_arrays_and_given_audio(recognizer, wavs, said):
    words, sound = said[wavs[0].stem], soundfile.read(wavs[0])
    drawn = [
        recognizer.align(sound, words).plot(),
        recognizer.align(sound[0], words, rate=sound[1]).plot(),
        recognizer.align(wavs[0], words).plot(),
    ]
    of_file = recognizer.align(io.BytesIO(wavs[0].read_bytes()), words)
    with pytest.raises(ConfigError, match="audio="):
        of_file.plot()
    with pytest.raises(CorpusError):
        of_file.plot(sound[0])
    drawn.append(of_file.plot(io.BytesIO(wavs[0].read_bytes())))
    first, *others = (axes["waveform"].lines[0].get_ydata() for axes in drawn)
    assert all(np.allclose(first, other, atol=0.5) for other in others)
    with pytest.raises(ConfigError, match="align"):
        replace(of_file, frames=None).plot()


def test_result_html_is_escaped_and_has_the_known_columns():
    word = asr.Word(SPOILT, 0.25, 0.5, confidence=0.875)
    result = asr.Result((word,), 1.0, SPOILT, Issue("x", SPOILT), (Issue("y", "warned"),))
    page = Cells(result._repr_html_())
    assert page.tags == {"table", "caption", "thead", "tbody", "tr", "th", "td", "p"}
    assert page.texts == [
        f"{SPOILT}, 1.00 s", "Word", "Start s", "End s", "Confidence", SPOILT, "0.25", "0.50", "0.88", SPOILT, "warned",
    ]  # fmt: skip
    aligned = asr.Alignment((asr.Word("ONE", 0.0, 1.0),), (), 1.0, "array")
    assert Cells(aligned._repr_html_()).texts[1:] == ["Word", "Start s", "End s", "ONE", "0.00", "1.00"]


def test_score_html_has_speakers_and_their_sum():
    truth = {"a": "ONE TWO", "b": "TWO", "c": "ONE"}
    report = asr.score(truth, {"a": "ONE", "b": "TWO"}, speakers={"a": SPOILT, "b": "bob", "c": "bob"})
    page = Cells(report._repr_html_())
    assert "b" not in page.tags
    cells = [page.texts[1:][row : row + 8] for row in range(0, 32, 8)]
    assert [row[0] for row in cells] == ["Speaker", SPOILT, "bob", "Sum"]
    assert cells[-1][1:] == ["50.00", "66.67", "4", "2", "0", "2", "0"]
    assert page.texts[-1].startswith("c: ")
    made = asr.compare(truth, {SPOILT: truth, "B": dict.fromkeys(truth, "ONE")})
    page = Cells(made._repr_html_())
    assert "b" not in page.tags
    assert page.texts[-1] == made.conclusions[0]


def test_score_and_comparison_print_short():
    truth = {f"u{number}": "ONE TWO" for number in range(40)}
    report = asr.score(truth, dict.fromkeys(truth, "ONE"))
    assert {"50.00", "40"} <= set(str(report).split()) and len(repr(report)) < 200
    made = asr.compare(truth, {"A": truth, "B": dict.fromkeys(truth, "ONE")})
    assert str(made).splitlines() == made.conclusions
    assert repr(made) == "<SystemComparison of A, B>"


def test_confusions_are_drawn_on_given_axes():
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    report = asr.score(["A B $"], ["A A $"])
    assert report.plot_confusions(ax) is ax
    assert ax.images[0].get_array().tolist() == [[100, 0, 0, 0, 0], [0, 100, 0, 0, 0], [0, 100, 0, 0, 0]]
    assert report.plot_confusions(most=1).get_yticklabels()[0].get_text() == "B"
    with pytest.raises(ConfigError):
        asr.score([""], ["A"]).plot_confusions()


def test_training_html_has_the_error_rates(toy_run, tmp_path):
    files = (toy_run / "model.safetensors", toy_run / "gmm.safetensors", toy_run / "grammar.arpa")
    trained = TrainedModel(*files, toy_run, Outcome(24, []))
    assert "hybrid" in str(trained) and len(str(trained)) < 200 + len(str(toy_run))
    texts = Cells(trained._repr_html_()).texts
    assert {"mixtures", "hybrid", "85"} <= set(texts)
    assert "mixtures" not in Cells(replace(trained, work_dir=tmp_path)._repr_html_()).texts
