"""Speech outside the grammar, as programs and the command report it: `[unk]` with its times, and no words."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from asr import Recognizer
from asr.util.errors import GrammarError, LexiconError


def _others(said: dict[str, str], wavs: list[Path]) -> tuple[Path, Path]:
    """A recording, and one with other words."""
    first = wavs[0]
    return first, next(path for path in wavs if said[path.stem] != said[first.stem])


def test_filler_in_list_takes_other_speech_and_leaves_commands(toy_model: Path, wavs: Any, said: Any) -> None:
    first, other = _others(said, wavs)
    recognizer = Recognizer.load(toy_model, grammar=[said[first.stem], "[unk]"])
    found = recognizer.recognize(first)
    assert found.text == said[first.stem]
    assert not any(word.is_filler for word in found.words)
    result = recognizer.recognize(other)
    assert result.text == ""
    assert [word.word for word in result.words] == ["[unk]"]
    assert result.words[0].is_filler
    assert 0 <= result.words[0].start < result.words[0].end <= result.seconds
    assert result.to_dict()["words"][0]["word"] == "[unk]"


def test_filler_penalty_decides_between_command_and_filler(toy_model: Path, wavs: Any, said: Any) -> None:
    first, other = _others(said, wavs)
    grammar = [said[first.stem], "[unk]"]
    assert Recognizer.load(toy_model, grammar=grammar, filler_penalty=-1e6).recognize(other).text != ""
    assert Recognizer.load(toy_model, grammar=grammar, filler_penalty=1e3).recognize(first).text == ""


@pytest.mark.parametrize("form", ["list", "hparse"])
def test_decode_writes_filler_to_ctm_alone(form, toy_model, wavs, said, tmp_path, asr) -> None:
    first, other = _others(said, wavs)
    command = said[first.stem]
    grammar = tmp_path / "commands.txt"
    grammar.write_text(f"{command}\n[unk]\n" if form == "list" else f"$command = {command};\n( $command | $other )\n")
    out = tmp_path / "out"
    given = ["--model", toy_model, "--out", out, "--grammar", grammar, "--jobs", 1, "--format", "mlf", "--confidence"]
    status, _, err = asr("decode", *given, first, other)
    assert status == 0, err
    hypotheses = (out / "hyp.txt").read_text().splitlines()
    assert sorted(hypotheses) == sorted([f"{first.stem} {command}", other.stem])
    rows = [line.split() for line in (out / "hyp.ctm").read_text().splitlines()]
    assert [row[4] for row in rows if row[0] == other.stem] == ["[unk]"]
    assert "[unk]" not in (out / "hyp.mlf").read_text()
    refused = asr("decode", *given, "--filler-penalty", "-1e6", first, other)
    assert refused[0] == 0, refused[2]
    assert all(len(line.split()) > 1 for line in (out / "hyp.txt").read_text().splitlines())


def test_filler_cannot_be_added_as_word(toy_model: Path) -> None:
    with pytest.raises(LexiconError, match="outside the grammar"):
        Recognizer.load(toy_model).add_word("[unk]", "x")


@pytest.mark.parametrize("written", ["[UNK]", "<unk>", "$other", "$garbage"])
def test_filler_in_other_spelling_is_named(written: str, toy_model: Path, tmp_path: Path, caplog: Any) -> None:
    with pytest.raises(GrammarError, match=r"\[unk\].*\$other"):
        Recognizer.load(toy_model, grammar=["ONE", written])
    (tmp_path / "list.txt").write_text(f"ONE\n{written}\n")
    assert Recognizer.load(toy_model, grammar=tmp_path / "list.txt").recognize(np.full(8000, 0.1), 8000) is not None
    assert any("[unk]" in message for message in caplog.messages)


@pytest.mark.parametrize("written", ["$Other", "$garbage", "$UNK"])
def test_filler_of_hparse_in_other_spelling_is_named(written: str, toy_model: Path, tmp_path: Path) -> None:
    (tmp_path / "grammar").write_text(f"( ONE | {written} )\n")
    with pytest.raises(GrammarError, match=r"line 1.*\$other"):
        Recognizer.load(toy_model, grammar=tmp_path / "grammar")


def test_brackets_of_hparse_are_no_filler(toy_model: Path, tmp_path: Path, caplog: Any) -> None:
    (tmp_path / "grammar").write_text("( ONE | [unk] TWO )\n")
    Recognizer.load(toy_model, grammar=tmp_path / "grammar")
    assert any("$other" in message for message in caplog.messages)


def test_list_with_nothing_but_the_filler_is_refused(toy_model: Path, tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("one\n[unk]\n")
    with pytest.raises(GrammarError, match="one as ONE"):
        Recognizer.load(toy_model, grammar=tmp_path / "list.txt")
