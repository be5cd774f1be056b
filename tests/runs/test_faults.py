"""What may cost an utterance, and what ends the command: memory, an interrupt and a fault of the program do."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from asr.acoustic import hybrid
from asr.commands import align
from asr.features import extraction
from asr.recognition import decoder
from asr.runs.outcome import account
from asr.util.errors import AsrError, CorpusError, Issue, RunError, attempt, printable

Asr = Callable[..., tuple[int, str, str]]


def raising(error: BaseException) -> Callable[..., None]:
    def function(*_: object, **__: object) -> None:
        raise error

    return function


@pytest.mark.parametrize("error", [MemoryError(), KeyboardInterrupt(), SystemError(), OSError(28, ""), RunError("x")])
def test_only_a_fault_of_the_data_becomes_a_fault_of_the_utterance(error):
    assert attempt(raising(CorpusError("a.wav: is empty", code="empty-file"))) == Issue("empty-file", "a.wav: is empty")
    with pytest.raises(type(error)):
        attempt(raising(error))


@pytest.mark.slow
@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt, SystemError, ZeroDivisionError])
@pytest.mark.parametrize(
    ("command", "where", "name"),
    [
        ("decode", decoder, "search_path"),
        ("decode", extraction, "_features"),
        ("decode", hybrid.HybridAcousticModel, "log_likelihood"),
        ("align", align, "align_utterance"),
        ("align", extraction, "_features"),
    ],
)
def test_machine_fault_ends_the_command_without_output(
    asr: Asr, monkeypatch: pytest.MonkeyPatch, toy_corpus: Path, toy_model: Path, tmp_path: Path,
    error: type[BaseException], command: str, where: object, name: str,
) -> None:  # fmt: skip
    whole, calls = getattr(where, name), 0

    def sometimes(*arguments: object, **options: object) -> object:
        nonlocal calls
        calls += 1
        if calls == 4:  # loading a model scores a frame
            raise error("at one utterance")
        return whole(*arguments, **options)

    monkeypatch.setattr(where, name, sometimes)
    arguments = [command, "--model", toy_model, "--data", toy_corpus / "test", "--out", tmp_path / "out", "--jobs", "1"]
    if error in (MemoryError, KeyboardInterrupt):
        status, _, err = asr(*arguments)
        assert status == (130 if error is KeyboardInterrupt else 1)
        assert "Traceback" not in err
    else:
        with pytest.raises(error, match="at one utterance"):
            asr(*arguments)
    assert not list((tmp_path / "out").glob("*"))


def test_every_utterance_is_accounted_for_or_the_program_is_at_fault(tmp_path):
    problem = Issue("empty-file", "b.wav is\tempty\n", utterances=("b",))
    account(["c", "b", "a"], ["a", "c"], [problem], tmp_path)
    assert (tmp_path / "failed.tsv").read_text() == "utterance\tcode\treason\nb\tempty-file\tb.wav is\\tempty \n"
    for done in (["a"], ["a", "b", "c"], ["a", "c", "d"]):
        with pytest.raises(RuntimeError, match="not accounted for"):
            account(["a", "b", "c"], done, [problem], tmp_path)


def test_messages_are_fit_for_a_terminal_and_not_endless():
    message = str(AsrError("lexicon.txt:3: '\x1b[2J\x07" + "x" * 600_000 + "' is no\nword"))
    assert message.isprintable() and len(message) < 1200
    assert message.startswith("lexicon.txt:3: '\\x1b[2J\\x07xxx") and message.endswith("xxx' is no word")
    assert printable("naïve 日本語") == "naïve 日本語"


def test_any_allowed_name_is_a_member_of_the_states(tmp_path):
    states = {name: np.arange(n, dtype=np.int32) for n, name in enumerate(("file", "allow_pickle", "a.b", "日本"))}
    align.write_states(tmp_path / "states.npz", states)
    align.write_states(tmp_path / "again.npz", states)
    assert (tmp_path / "states.npz").read_bytes() == (tmp_path / "again.npz").read_bytes()
    with np.load(tmp_path / "states.npz", allow_pickle=False) as found:
        assert sorted(found.files) == sorted(states)
        for name, array in states.items():
            np.testing.assert_array_equal(found[name], array)


def test_a_file_that_is_none_costs_no_other_file(asr: Asr, toy_corpus: Path, toy_model: Path, tmp_path: Path) -> None:
    file = next((toy_corpus / "audio" / "test").glob("*.wav"))
    comment = tmp_path / ";;x.wav"
    comment.write_bytes(file.read_bytes())
    (empty := tmp_path / "empty").mkdir()
    status, out, _ = asr("decode", "--model", toy_model, "--out", tmp_path / "o", file, "none.wav", empty, comment)
    assert status == 0
    assert out.split()[0] == file.stem
    rows = [line.split("\t")[:2] for line in (tmp_path / "o" / "failed.tsv").read_text().splitlines()[1:]]
    assert rows == sorted([[";;x", "bad-name"], ["none", "missing-file"], ["empty", "missing-file"]])
